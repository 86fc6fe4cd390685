/*
 * Security labels that take effect at the next execve(2).
 */
#include "os/procattr.h"

#include <assert.h>
#include <string.h>

#include "os/procfs.h"
#include "util/str.h"

bool lsm_apparmor_enabled(int proc_fd)
{
	struct error ignored = ERROR_NULL;
	_cleanup_free_ char *text = NULL;

	/* The folder is there whenever AppArmor was compiled in; reading works only when it is
	 * active. */
	return procfs_read(proc_fd, "self/attr/apparmor/current", &text, &ignored) == 0 &&
	       text[0] != '\0';
}

bool lsm_selinux_enabled(int proc_fd)
{
	struct error ignored = ERROR_NULL;
	_cleanup_free_ char *text = NULL;

	/* Its filesystem is registered only when it was not switched off at boot. */
	return procfs_read(proc_fd, "filesystems", &text, &ignored) == 0 &&
	       strstr(text, "\tselinuxfs\n") != NULL;
}

int lsm_apparmor_exec(int proc_fd, const char *profile, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int r;

	assert(profile);

	if (!lsm_apparmor_enabled(proc_fd)) {
		if (str_eq(profile, "unconfined"))
			return 0;
		return error_text(err, -EOPNOTSUPP,
				  "apparmor profile \"%s\": AppArmor is not active on this host",
				  profile);
	}
	text = str_printf("exec %s", profile);
	if (!text)
		return error_oom(err);
	r = procfs_write_self(proc_fd, "attr/apparmor/exec", text, strlen(text), err);
	if (r == -ENOENT)
		return error_prefix(err, "apparmor profile \"%s\" (is it loaded?)", profile);
	if (r < 0)
		return error_prefix(err, "apparmor profile \"%s\"", profile);
	return 0;
}

int lsm_selinux_exec(int proc_fd, const char *label, struct error *err)
{
	int r;

	assert(label);

	if (!lsm_selinux_enabled(proc_fd))
		return error_text(err, -EOPNOTSUPP,
				  "selinux label \"%s\": SELinux is not active on this host",
				  label);
	r = procfs_write_self(proc_fd, "attr/exec", label, strlen(label), err);
	if (r < 0)
		return error_prefix(err, "selinux label \"%s\"", label);
	return 0;
}
