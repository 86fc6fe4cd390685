/*
 * The decision on mount sources: tables of paths and what must become of them, what the
 * object is, and the texts.
 */
#include <stdlib.h>

#include "policy/policy_fs.h"
#include "policy/policy_fs_match.h"
#include "policy_fs_verdict.h"
#include "tap.h"
#include "util/arena.h"
#include "util/cleanup.h"
#include "util/str.h"

#include "policy_fs_rows.h"

static void test_rows(void)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		char name[512], clean[4096];
		struct policy_fs_fact f =
			fact_of(policy_fs_clean(rows[i].path, clean, sizeof(clean)),
				rows[i].destination ? rows[i].destination : "/data", rows[i].type);

		snprintf(name, sizeof(name), "%s at %s: %s", rows[i].path, f.destination,
			 rows[i].want);
		is_str(verdict_of(&no_rules, &f), rows[i].want, name);
	}
}

/* A read-only mount of programs is fine, of a socket's folder it is not. */
static void test_readonly(void)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "/usr/share/zoneinfo", "allow" },
		{ "/etc/localtime", "allow" },
		{ "/run", "refuse host-bus" },
		{ "/etc", "refuse agentrun-files" },
		{ "/var/lib/docker", "refuse engine-socket" },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		struct policy_fs_fact f = fact_of(cases[i].path, "/data", POLICY_FS_DIR);
		const char *got;

		f.writable = false;
		got = verdict_of(&no_rules, &f);
		if (str_after(cases[i].want, "refuse"))
			ok(str_after(got, "refuse ") != NULL, "read-only %s is refused: %s",
			   cases[i].path, got);
		else
			is_str(got, cases[i].want, cases[i].path);
	}
}

static void test_relate(void)
{
	static const struct {
		const char *a, *b, *path;
		enum policy_fs_relation want;
	} cases[] = {
		{ "/", NULL, "/", POLICY_FS_SAME },
		{ "/", NULL, "/x", POLICY_FS_BELOW },
		{ "/a/b", NULL, "/", POLICY_FS_ABOVE },
		{ "/a/b", NULL, "/a", POLICY_FS_ABOVE },
		{ "/a/b", NULL, "/a/b", POLICY_FS_SAME },
		{ "/a/b", NULL, "/a/b/c/d", POLICY_FS_BELOW },
		{ "/a/b", NULL, "/a/bc", POLICY_FS_APART },
		{ "/a/bc", NULL, "/a/b", POLICY_FS_APART },
		{ "/a", "/b", "/a/b", POLICY_FS_SAME },
		{ "/a", "b", "/a/b/c", POLICY_FS_BELOW },
		{ "/a/*", "/b", "/a/x", POLICY_FS_ABOVE },
		{ "/a/*", "/b", "/a/x/b", POLICY_FS_SAME },
		{ "/a/*", "/b", "/a/x/c", POLICY_FS_APART },
		{ "/a/c*d", NULL, "/a/cd", POLICY_FS_SAME },
		{ "/a/c*d", NULL, "/a/cxxdxd", POLICY_FS_SAME },
		{ "/a/c*d", NULL, "/a/cxx", POLICY_FS_APART },
		{ "/a/*b*c*", NULL, "/a/xbyczz", POLICY_FS_SAME },
		{ "/a/*b*c*", NULL, "/a/xcybzz", POLICY_FS_APART },
		{ "/a/**", NULL, "/a", POLICY_FS_SAME },
		{ "/a/**", NULL, "/a/b/c", POLICY_FS_SAME },
		{ "/a/**", NULL, "/b", POLICY_FS_APART },
		{ "/a/@/c", NULL, "/a/" ID "/c", POLICY_FS_SAME },
		{ "/a/@/c", NULL, "/a/" OTHER "/c", POLICY_FS_APART },
		{ "/a/%/c", NULL, "/a/pod-1/c", POLICY_FS_SAME },
		{ "/a/%/c", NULL, "/a/pod-2/c", POLICY_FS_APART },
		{ "/a/?", NULL, "/a/b", POLICY_FS_APART },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		const struct policy_fs_pattern p = { .part = { cases[i].a, cases[i].b },
						     .id = ID,
						     .pod = "pod-1" };

		ok(policy_fs_relate(&p, cases[i].path) == cases[i].want, "%s%s and %s", cases[i].a,
		   cases[i].b ? cases[i].b : "", cases[i].path);
	}
}

static void test_clean(void)
{
	static const char *const cases[][2] = {
		{ "/", "/" },
		{ "//", "/" },
		{ "/a//b/", "/a/b" },
		{ "/a/./b/.", "/a/b" },
		{ "/a/../b", "/b" },
		{ "/../../a", "/a" },
		{ "/a/b/../..", "/" },
		{ "/var/run", "/run" },
		{ "/var/run/x", "/run/x" },
		{ "/var/./run//x", "/run/x" },
		{ "/var/runner", "/var/runner" },
		{ "/a/..b", "/a/..b" },
		{ "/...", "/..." },
		{ "a", NULL },
		{ "", NULL },
		{ NULL, NULL },
	};
	char buf[64], small[5];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++)
		is_str(policy_fs_clean(cases[i][0], buf, sizeof(buf)), cases[i][1],
		       cases[i][0] ? cases[i][0] : "(null)");
	is_str(policy_fs_clean("/abc", small, sizeof(small)), "/abc", "a path that just fits");
	is_str(policy_fs_clean("/abcd", small, sizeof(small)), NULL, "a path one too long");
}

static void test_objects(void)
{
	static const char *const kernel[] = { "proc",	    "sysfs",   "cgroup",  "cgroup2",
					      "bpf",	    "debugfs", "tracefs", "securityfs",
					      "devtmpfs",   "devpts",  "mqueue",  "nsfs",
					      "binfmt_misc" };
	static const char *const plain[] = { "ext4",  "xfs",  "btrfs",	    "overlay",
					     "tmpfs", "nfs4", "fuse.sshfs", "zfs" };
	struct policy_fs_fact f;
	struct policy_fs_verdict v;
	size_t i;

	for (i = 0; i < ELEMENTSOF(kernel); i++) {
		f = fact_of("/srv/any/where", "/data", POLICY_FS_DIR);
		f.fstype = kernel[i];
		is_str(verdict_of(&no_rules, &f), "refuse kernel-files", kernel[i]);
	}
	for (i = 0; i < ELEMENTSOF(plain); i++) {
		f = fact_of("/srv/any/where", "/data", POLICY_FS_DIR);
		f.fstype = plain[i];
		is_str(verdict_of(&no_rules, &f), "allow", plain[i]);
	}
	f = fact_of("/dev/null", "/dev/null", POLICY_FS_CHAR);
	f.major = 1;
	f.minor = 3;
	f.fstype = "devtmpfs";
	is_str(verdict_of(&no_rules, &f), "allow", "/dev/null");
	f.minor = 1;
	is_str(verdict_of(&no_rules, &f), "refuse device", "memory under the name of /dev/null");
	f.major = 8;
	f.minor = 3;
	is_str(verdict_of(&no_rules, &f), "refuse device", "the minor number alone does not count");
	f.major = 1;
	f.type = POLICY_FS_BLOCK;
	f.minor = 3;
	is_str(verdict_of(&no_rules, &f), "refuse device",
	       "a block device with the numbers of null");
	f = fact_of("/srv/s", "/data", POLICY_FS_SOCKET);
	is_str(verdict_of(&no_rules, &f), "refuse unix-socket", "any socket");
	f = fact_of("/srv/fifo", "/data", POLICY_FS_FIFO);
	(void)policy_fs_check(&no_rules, &f, &v);
	is_str(v.warning, "fifo", "a fifo is warned of");
	f = fact_of("/srv/w", "/data", POLICY_FS_DIR);
	f.traps = 5;
	(void)policy_fs_check(&no_rules, &f, &v);
	ok(v.action == POLICY_FS_ALLOW && v.traps == 5, "traps of a writable workspace are told");
	f.writable = false;
	(void)policy_fs_check(&no_rules, &f, &v);
	ok(v.traps == 0, "in a read-only one they are none");
	f = fact_of("/srv/people/eve", "/data", POLICY_FS_DIR);
	f.homes = (const char *const[]){ "/srv/people/eve", "/", "/opt" };
	f.n_homes = 3;
	is_str(verdict_of(&no_rules, &f), "refuse user-secrets", "a home elsewhere");
	f.path = "/srv/people/eve/.ssh";
	is_str(verdict_of(&no_rules, &f), "refuse user-secrets", "secrets of a home elsewhere");
	f.path = "/srv/people/eve/work";
	is_str(verdict_of(&no_rules, &f), "allow", "a folder in a home elsewhere");
	f.path = "/opt/.ssh";
	is_str(verdict_of(&no_rules, &f), "allow", "a system folder is no home");
}

static void test_texts(void)
{
	static const char *const taken[] = { "permission denied", "no such file or directory",
					     "not a directory", "operation not permitted" };
	struct policy_fs_verdict v;
	struct policy_fs_fact f;
	char source[3000];
	size_t i, k;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		f = fact_of(rows[i].path, "/data", rows[i].type);
		if (policy_fs_check(&no_rules, &f, &v) == 0)
			continue;
		for (k = 0; k < ELEMENTSOF(taken); k++)
			if (strcasestr(v.reason, taken[k]) || strcasestr(v.remedy, taken[k]))
				ok(false, "%s uses an engine's key phrase: %s", rows[i].path,
				   v.reason);
		if (!strstr(v.reason, rows[i].path) || !strstr(v.reason, v.rule))
			ok(false, "%s: path and rule are in the reason: %s", rows[i].path,
			   v.reason);
	}
	f = fact_of("/run/docker.sock", "/x", POLICY_FS_SOCKET);
	f.source = "/srv/link";
	(void)policy_fs_check(&no_rules, &f, &v);
	ok(strstr(v.remedy, "\"/run/docker.sock\" to mounts.allow") != NULL,
	   "the remedy is a line: %s", v.remedy);
	memset(source, 'x', sizeof(source) - 1);
	source[0] = '/';
	source[sizeof(source) - 1] = '\0';
	f = fact_of(source, "/x", POLICY_FS_SOCKET);
	(void)policy_fs_check(&no_rules, &f, &v);
	ok(strlen(v.reason) < sizeof(v.reason) && strstr(v.reason, "unix-socket"),
	   "a long path keeps the rule");
}

static void test_watched(void)
{
	struct arena arena = ARENA_NULL;
	const char *const homes[] = { "/srv/eve", "/" };
	size_t n = 0, i;
	bool shadow = false, docker = false, eve = false, star = false, root = false;
	const char *const *list = policy_fs_watched(&arena, homes, 2, &n);

	for (i = 0; list && i < n; i++) {
		docker |= str_eq(list[i], "/run/docker.sock");
		shadow |= str_eq(list[i], "/etc/sudoers");
		eve |= str_eq(list[i], "/srv/eve/.ssh");
		root |= str_eq(list[i], "/root/.ssh");
		star |= strchr(list[i], '*') != NULL;
	}
	ok(docker && shadow && eve && root && !star, "watched paths: %zu, all literal", n);
	for (n = 0; policy_fs_trap(n); n++)
		;
	ok(n > 5 && n <= 64, "%zu traps", n);
	arena_done(&arena);
}

int main(void)
{
	TAP_BEGIN();
	test_clean();
	test_relate();
	test_rows();
	test_readonly();
	test_objects();
	test_texts();
	test_watched();
	return TAP_END();
}
