/*
 * Which file something is, whatever its name: the handle that the kernel gives it, and the one that overlay
 * noted when it copied it up.
 */
#include <fcntl.h>
#include <string.h>

#include "snap/snap_change.h"

size_t snap_handle_origin(int fd, unsigned char ret[SNAP_HANDLE_MAX + 1])
{
	/* struct ovl_fb of the kernel: version, magic, length, flags, type, uuid, handle. */
	unsigned char fb[SNAP_HANDLE_MAX + 21];
	int n = snap_attr_get(fd, "trusted.overlay.origin", fb, sizeof(fb));

	if (n <= 21 || fb[1] != 0xfb || fb[2] != n)
		return 0;
	ret[0] = fb[4];
	memcpy(ret + 1, fb + 21, (size_t)n - 21);
	return (size_t)n - 20;
}

size_t snap_handle_of(int fd, unsigned char ret[SNAP_HANDLE_MAX + 1])
{
	struct { struct file_handle head; unsigned char bytes[SNAP_HANDLE_MAX]; } h = { .head.handle_bytes = SNAP_HANDLE_MAX };
	int mount_id;

	if (name_to_handle_at(fd, "", &h.head, &mount_id, AT_EMPTY_PATH) < 0)
		return 0;
	ret[0] = (unsigned char)h.head.handle_type;
	memcpy(ret + 1, h.head.f_handle, h.head.handle_bytes);
	return h.head.handle_bytes + 1;
}
