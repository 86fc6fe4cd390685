/*
 * Kernel settings of a container: which ones belong to a namespace, and the
 * write. A key that the kernel keeps once for the whole host is never accepted.
 */
#include "os/procattr.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "os/ns.h"
#include "os/procfs.h"
#include "os/syscalls.h"
#include "util/str.h"

#define SYSCTL_KEY_MAX 256

static const struct sysctl_rule {
	const char *path; /* ending in '/': everything below */
	uint64_t ns;
} sysctl_rules[] = {
	{ "kernel/msgmax", CLONE_NEWIPC },     { "kernel/msgmnb", CLONE_NEWIPC },
	{ "kernel/msgmni", CLONE_NEWIPC },     { "kernel/sem", CLONE_NEWIPC },
	{ "kernel/shmall", CLONE_NEWIPC },     { "kernel/shmmax", CLONE_NEWIPC },
	{ "kernel/shmmni", CLONE_NEWIPC },     { "kernel/shm_rmid_forced", CLONE_NEWIPC },
	{ "fs/mqueue/", CLONE_NEWIPC },	       { "net/", CLONE_NEWNET },
	{ "vm/memfd_noexec", CLONE_NEWPID },   { "user/max_user_namespaces", CLONE_NEWUSER },
	{ "kernel/domainname", CLONE_NEWUTS }, { "kernel/hostname", CLONE_NEWUTS },
};

/*
 * The path below /proc/sys. As in sysctl(8) the first separator tells which of dot
 * and slash separates; the other one then stands for itself, changed over
 * (net.ipv4.conf.eth0/5.mtu is net/ipv4/conf/eth0.5/mtu).
 */
static int key_to_path(const char *key, char path[SYSCTL_KEY_MAX])
{
	size_t len = strlen(key), i;
	char separator;

	if (len == 0 || len >= SYSCTL_KEY_MAX)
		return -EINVAL;
	separator = key[strcspn(key, "./")];
	for (i = 0; i <= len; i++) {
		path[i] = key[i];
		if (separator == '.' && key[i] == '.')
			path[i] = '/';
		else if (separator == '.' && key[i] == '/')
			path[i] = '.';
	}
	return 0;
}

/* No empty part, no "." and no "..": each part is a name of its own. */
static bool path_is_plain(const char *path)
{
	const char *p = path;
	size_t n;

	for (;;) {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (p[n] == '\0')
			return true;
		p += n + 1;
	}
}

static bool rule_matches(const struct sysctl_rule *rule, const char *path)
{
	size_t n = strlen(rule->path);

	if (rule->path[n - 1] == '/')
		return strncmp(path, rule->path, n) == 0;
	return str_eq(path, rule->path);
}

int sysctl_check(const char *key, uint64_t own_ns, bool other_domainname, struct error *err)
{
	char path[SYSCTL_KEY_MAX];
	size_t i;

	assert(key);

	if (key_to_path(key, path) < 0 || !path_is_plain(path))
		return error_text(err, -EINVAL, "sysctl \"%.200s\" is not a valid name", key);
	if (str_eq(path, "kernel/hostname"))
		return error_text(err, -EINVAL,
				  "sysctl \"%s\" is not allowed: set the hostname of the "
				  "configuration instead",
				  key);
	if (other_domainname && str_eq(path, "kernel/domainname"))
		return error_text(err, -EINVAL,
				  "sysctl \"%s\" contradicts the domainname of the configuration",
				  key);
	for (i = 0; i < ELEMENTSOF(sysctl_rules); i++) {
		if (!rule_matches(&sysctl_rules[i], path))
			continue;
		if (own_ns & sysctl_rules[i].ns)
			return 0;
		return error_text(err, -EINVAL,
				  "sysctl \"%s\" is not allowed without a %s namespace of the "
				  "container's own",
				  key, ns_type_name(sysctl_rules[i].ns));
	}
	return error_text(err, -EINVAL,
			  "sysctl \"%s\" is not allowed: it does not belong to a namespace, so it "
			  "would change the host",
			  key);
}

bool sysctl_needs_host_root(const char *key)
{
	char path[SYSCTL_KEY_MAX];

	/* The kernel asks for the initial user namespace's root, whoever owns the process ids. */
	return key_to_path(key, path) == 0 && str_eq(path, "vm/memfd_noexec");
}

/* "1 0" reads back as "1\t0". */
static bool same_value(const char *asked, const char *is)
{
	const char *blanks = " \t\n";

	for (;;) {
		size_t a, b;

		asked += strspn(asked, blanks);
		is += strspn(is, blanks);
		a = strcspn(asked, blanks);
		b = strcspn(is, blanks);
		if (a != b || strncmp(asked, is, a) != 0)
			return false;
		if (a == 0)
			return true;
		asked += a;
		is += b;
	}
}

int sysctl_verify(int proc_fd, const char *key, const char *value, struct error *err)
{
	char path[SYSCTL_KEY_MAX], full[SYSCTL_KEY_MAX + 8];
	_cleanup_free_ char *is = NULL;
	int r;

	if (key_to_path(key, path) < 0)
		return error_text(err, -EINVAL, "sysctl \"%.200s\" is not a valid name", key);
	(void)snprintf(full, sizeof(full), "sys/%s", path);
	r = procfs_read(proc_fd, full, &is, err);
	if (r < 0)
		return error_prefix(err, "read back sysctl %s", key);
	return same_value(value, is) ? 0 :
				       error_text(err, -EIO, "sysctl %s was set to \"%.200s\" and reads \"%.200s\"", key, value, is);
}

int sysctl_write(int proc_fd, const char *key, const char *value, struct error *err)
{
	char path[SYSCTL_KEY_MAX], full[SYSCTL_KEY_MAX + 8];
	int r;

	assert(key && value);

	if (key_to_path(key, path) < 0 || !path_is_plain(path))
		return error_text(err, -EINVAL, "sysctl \"%.200s\" is not a valid name", key);
	(void)snprintf(full, sizeof(full), "sys/%s", path);
	/* One write of the value as it is: no second setting can hide in it (CVE-2022-0811). */
	r = procfs_write(proc_fd, full, value, strlen(value), err);
	if (r < 0)
		return error_prefix(err, "set sysctl %s to \"%.200s\"", key, value);
	return 0;
}
