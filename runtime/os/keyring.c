/*
 * The session keyring of a container: its own, so that keys of the host's session
 * are not reachable from inside.
 */
#include "os/procattr.h"

#include <assert.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>

#include "os/procfs.h"
#include "os/syscalls.h"

/* The user may search it, so that an exec'd process of that user finds keys (KEY_USR_SEARCH). */
#define KEYRING_USER_SEARCH 0x00080000u

/* "keyring;UID;GID;PERM;NAME" with PERM in hexadecimal. */
static int permissions_parse(const char *text, uint32_t *ret)
{
	const char *p = text;
	unsigned perm;
	int i;

	for (i = 0; i < 3; i++) {
		p = strchr(p, ';');
		if (!p)
			return -EBADMSG;
		p++;
	}
	if (sscanf(p, "%8x;", &perm) != 1)
		return -EBADMSG;
	*ret = perm;
	return 0;
}

static int keyring_permit(long ring, struct error *err)
{
	char text[512];
	uint32_t perm;
	long n;
	int r;

	n = syscall(SYS_keyctl, KEYCTL_DESCRIBE, ring, text, sizeof(text));
	if (n < 0)
		return error_set(err, -errno, "read permissions of the session keyring");
	if ((size_t)n > sizeof(text))
		return error_text(err, -EMSGSIZE, "description of the session keyring is too long");
	r = permissions_parse(text, &perm);
	if (r < 0)
		return error_text(err, r, "description of the session keyring is \"%.100s\"", text);
	if (syscall(SYS_keyctl, KEYCTL_SETPERM, ring, perm | KEYRING_USER_SEARCH) < 0)
		return error_set(err, -errno, "set permissions of the session keyring");
	return 0;
}

/* SELinux gives new keys this label. Empty: back to the default. */
static int keyring_label(int proc_fd, const char *label, struct error *err)
{
	if (!lsm_selinux_enabled(proc_fd))
		return 0;
	return procfs_write_self(proc_fd, "attr/keycreate", label, MAX(strlen(label), (size_t)1),
				 err);
}

int keyring_join(int proc_fd, const char *id, const char *label, struct error *err)
{
	bool labelled = label && *label;
	struct error ignored = ERROR_NULL;
	char name[512];
	long ring;
	int n, code;

	assert(id);

	n = snprintf(name, sizeof(name), "_ses.%s", id);
	if (n < 0 || (size_t)n >= sizeof(name))
		return error_text(err, -ENAMETOOLONG, "session keyring of %s: the name is too long",
				  id);
	if (labelled) {
		code = keyring_label(proc_fd, label, err);
		if (code < 0)
			return error_prefix(err, "label of the session keyring");
	}
	ring = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name);
	code = ring < 0 ? -errno : 0;
	if (labelled)
		(void)keyring_label(proc_fd, "", &ignored);
	if (code == -ENOSYS) /* kernel without keyrings */
		return 0;
	if (code == -EDQUOT)
		return error_set(err, code,
				 "join session keyring %s (kernel.keys.maxkeys is reached)", name);
	if (code < 0)
		return error_set(err, code, "join session keyring %s", name);
	/* 0: it was the caller's already (a container of this id inside one of the same id). */
	if (ring == 0)
		ring = KEY_SPEC_SESSION_KEYRING;
	return keyring_permit(ring, err);
}
