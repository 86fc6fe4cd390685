/*
 * A container's notification of any bytes: what is handed on must be lines of known names
 * that pass again unchanged, with no byte that a terminal acts on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "container/notify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char out[NOTIFY_MESSAGE_MAX + 2], again[NOTIFY_MESSAGE_MAX + 2];
	unsigned state, state_again;
	size_t i, n;

	n = notify_filter((const char *)data, size, out, &state);
	if (n > size + 1 || strlen(out) != n || (n > 0 && out[n - 1] != '\n') || strstr(out, "\n\n"))
		abort();
	for (i = 0; i < n; i++)
		if ((unsigned char)out[i] < 0x20 && out[i] != '\n')
			abort();
	/* One byte longer than the largest datagram when its last line had no end. */
	if (n <= NOTIFY_MESSAGE_MAX &&
	    (notify_filter(out, n, again, &state_again) != n || strcmp(out, again) != 0 || state_again != state))
		abort();
	return 0;
}
