/*
 * The lists of the policy file against mount sources, and sources that hide what they are
 * behind other names or hold something that must not be mounted.
 */
#include "policy/policy_fs.h"
#include "policy_fs_verdict.h"
#include "tap.h"
#include "util/cleanup.h"

static struct strv list_of(char **items, size_t n)
{
	return (struct strv){ .items = items, .count = n, .set = true };
}
#define RULE_LIST(...) list_of((char *[]){ __VA_ARGS__ }, ELEMENTSOF(((char *[]){ __VA_ARGS__ })))

static void test_lists(void)
{
	struct policy_fs_rules rules = {
		.allow = RULE_LIST("/var/run/docker.sock", "/srv/tree/**", "/home/*/.npmrc",
				   "/run/x.sock"),
		.deny = RULE_LIST("/srv/secrets", "/srv/tree/not", "/link"),
		.readonly = RULE_LIST("/srv/ref"),
	};
	static const struct {
		const char *path;
		enum policy_fs_type type;
		const char *want;
	} cases[] = {
		{ "/run/docker.sock", POLICY_FS_SOCKET, "allow" },
		{ "/run/podman/podman.sock", POLICY_FS_SOCKET, "refuse engine-socket" },
		{ "/run", POLICY_FS_DIR, "refuse engine-socket" },
		{ "/srv/tree", POLICY_FS_DIR, "refuse mounts.deny" },
		{ "/srv/tree/ok", POLICY_FS_DIR, "allow" },
		{ "/srv/tree/s.sock", POLICY_FS_SOCKET, "allow" },
		{ "/srv/tree/not", POLICY_FS_DIR, "refuse mounts.deny" },
		{ "/srv/tree/not/this", POLICY_FS_DIR, "refuse mounts.deny" },
		{ "/home/u/.npmrc", POLICY_FS_FILE, "allow" },
		{ "/home/u/.pypirc", POLICY_FS_FILE, "refuse user-secrets" },
		{ "/srv/secrets", POLICY_FS_DIR, "refuse mounts.deny" },
		{ "/srv/secrets/a/b", POLICY_FS_FILE, "refuse mounts.deny" },
		{ "/srv", POLICY_FS_DIR, "refuse mounts.deny" },
		{ "/srv/secretsauce", POLICY_FS_DIR, "allow" },
		{ "/srv/ref", POLICY_FS_DIR, "readonly mounts.readonly" },
		{ "/srv/ref/a", POLICY_FS_DIR, "readonly mounts.readonly" },
		{ "/run/x.sock", POLICY_FS_SOCKET, "allow" },
	};
	struct policy_fs_fact f;
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		f = fact_of(cases[i].path, "/data", cases[i].type);
		is_str(verdict_of(&rules, &f), cases[i].want, cases[i].path);
	}
	f = fact_of("/elsewhere", "/data", POLICY_FS_DIR);
	f.source = "/link/../link";
	is_str(verdict_of(&rules, &f), "refuse mounts.deny", "a denied link by its own name");
	f = fact_of("/srv/tree/a", "/data", POLICY_FS_DIR);
	f.aliases = (const char *const[]){ "/srv/secrets/a" };
	f.n_aliases = 1;
	is_str(verdict_of(&rules, &f), "refuse mounts.deny",
	       "allowed path, denied by its other name");
	ok(policy_fs_needs_tree(&rules, &f),
	   "other names of an allowed path count when there are denials");
	f = fact_of("/run/x.sock", "/data", POLICY_FS_SOCKET);
	f.same_file = "/run/docker.sock";
	is_str(verdict_of(&rules, &f), "allow", "an allowed socket that is another allowed one");
	f.same_file = "/run/containerd/containerd.sock";
	is_str(verdict_of(&rules, &f), "refuse engine-socket",
	       "an allowed socket that is a disguised one");
	rules.allow.count = 0;
	f = fact_of("/home/u/x", "/data", POLICY_FS_DIR);
	is_str(verdict_of(&rules, &f), "allow", "no list opens nothing and closes nothing");
}

static void test_disguises(void)
{
	static const struct policy_fs_part inner[] = { { POLICY_FS_PART_NAME, "/data/docker",
							 "/var/lib/docker" } };
	static const struct policy_fs_part volume[] = { { POLICY_FS_PART_NAME, "/srv/d",
							  "/var/lib/docker/volumes/v/_data" } };
	static const struct policy_fs_part proc[] = { { POLICY_FS_PART_MOUNT, "/srv/j/proc",
							"proc" } };
	static const struct policy_fs_part ext4[] = { { POLICY_FS_PART_MOUNT, "/srv/j/d",
							"ext4" } };
	static const struct policy_fs_part live[] = { { POLICY_FS_PART_SOCKET_LIVE, "/srv/j/a.s",
							NULL } };
	static const struct policy_fs_part dead[] = { { POLICY_FS_PART_SOCKET, "/srv/j/a.s",
							NULL } };
	static const struct policy_fs_part named[] = { { POLICY_FS_PART_SOCKET,
							 "/srv/j/x/docker.sock", NULL } };
	const struct {
		const struct policy_fs_part *part;
		const char *want, *name;
	} cases[] = {
		{ inner, "refuse engine-state",
		  "a folder inside that is engine state by its other name" },
		{ volume, "allow", "a folder inside that is a volume, too" },
		{ proc, "refuse kernel-files", "a proc filesystem inside" },
		{ ext4, "allow", "a disk inside" },
		{ live, "refuse unix-socket", "a live socket inside" },
		{ dead, "allow", "a socket inside of unknown origin" },
		{ named, "refuse engine-socket", "a socket inside named like an engine's" },
	};
	static const char *const aliases[][2] = {
		{ "/run", "refuse engine-socket" },
		{ "/run/docker.sock", "refuse engine-socket" },
		{ "/", "refuse engine-socket" },
		{ "/var/lib/docker/overlay2/a/diff", "refuse engine-state" },
		{ "/root/.ssh/id_rsa", "refuse user-secrets" },
		{ "/proc/1", "refuse kernel-files" },
		{ "/etc/shadow", "refuse host-secrets" },
		{ "/etc/agentrun/policy.json", "refuse agentrun-files" },
		{ "/var/run/dbus", "refuse host-bus" },
		{ "/usr", "refuse host-tree" },
		{ "/srv/b", "allow" },
		{ "/var/lib/docker/volumes/x/_data", "allow" },
	};
	struct policy_fs_verdict v;
	struct policy_fs_fact f;
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		f = fact_of("/srv/j", "/data", POLICY_FS_DIR);
		f.parts = cases[i].part;
		f.n_parts = 1;
		is_str(verdict_of(&no_rules, &f), cases[i].want, cases[i].name);
	}
	for (i = 0; i < ELEMENTSOF(aliases); i++) {
		f = fact_of("/srv/j", "/data", POLICY_FS_DIR);
		f.aliases = &aliases[i][0];
		f.n_aliases = 1;
		is_str(verdict_of(&no_rules, &f), aliases[i][1], aliases[i][0]);
		/* The way a user of the docker API makes one: a volume that binds a host folder. */
		f.path = "/var/lib/docker/volumes/evil/_data";
		is_str(verdict_of(&no_rules, &f), aliases[i][1], "the same as a volume");
		ok(policy_fs_needs_tree(&no_rules, &f), "a volume's other names are looked at");
	}
	f = fact_of("/srv/j", "/data", POLICY_FS_DIR);
	f.parts = dead;
	f.n_parts = 1;
	(void)policy_fs_check(&no_rules, &f, &v);
	is_str(v.warning, "unix-socket", "a socket of unknown origin is warned of");
	f = fact_of("/srv/k", "/data", POLICY_FS_FILE);
	f.same_file = "/etc/shadow";
	is_str(verdict_of(&no_rules, &f), "refuse host-secrets", "a hard link of a secret");
	f = fact_of("/srv/k", "/data", POLICY_FS_SOCKET);
	f.same_file = "/run/docker.sock";
	is_str(verdict_of(&no_rules, &f), "refuse engine-socket",
	       "a hard link of a control socket");
	f = fact_of("/srv/k", "/data", POLICY_FS_FILE);
	f.reachable = false;
	is_str(verdict_of(&no_rules, &f), "refuse foreign-path", "of another mount namespace");
	f = fact_of("pipe:[123]", "/data", POLICY_FS_FIFO);
	is_str(verdict_of(&no_rules, &f), "refuse foreign-path", "a pipe through /proc");
}

int main(void)
{
	TAP_BEGIN();
	test_lists();
	test_disguises();
	return TAP_END();
}
