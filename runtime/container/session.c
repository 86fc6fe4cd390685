/*
 * What becomes of a container's session at its end.
 */
#include "container/session.h"

#include "snap/snap.h"

int session_release(const char *path, struct error *err)
{
	_cleanup_snap_ struct snap s = SNAP_NULL;
	struct error unreadable = ERROR_NULL;
	int r = snap_open(path, true, &s, &unreadable);

	/* A record that cannot be read belongs to a creation that was killed. */
	if (r == 0 && s.record->keep)
		return 0;
	return snap_remove(path, err);
}
