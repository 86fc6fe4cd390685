/*
 * The state record on any bytes: what is accepted must be written and read again
 * without loss.
 */
#include <stdint.h>
#include <string.h>

#include "state/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_state_record_ struct state_record *rec = NULL, *again = NULL;
	_cleanup_free_ char *one = NULL, *two = NULL;
	struct error err = ERROR_NULL;

	if (state_parse((const char *)data, size, &rec, &err) < 0)
		return 0;
	if (state_format(rec, &one, &err) < 0 || state_parse(one, strlen(one), &again, &err) < 0 ||
	    state_format(again, &two, &err) < 0 || strcmp(one, two) != 0)
		abort();
	return 0;
}
