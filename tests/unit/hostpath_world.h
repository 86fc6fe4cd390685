/*
 * A host to try mount sources on: mount and network namespaces of its own with an own /run,
 * in which an engine's socket is live; and the whole way from a source to its verdict.
 */
#pragma once

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "mount_helpers.h"
#include "os/hostpath.h"
#include "os/procfs.h"
#include "policy_fs_facts.h"
#include "util/str.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int proc_fd = -EBADF;

/* A bound socket; it stays live when keep. */
static inline void put_socket(const char *path, bool keep)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0)
		printf("# socket %s: %s\n", path, strerror(errno));
	if (!keep && fd >= 0)
		close(fd);
}

static inline void bind_mount(const char *from, const char *to)
{
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
		printf("# bind %s on %s: %s\n", from, to, strerror(errno));
}

/* All of it as `create` does it: "allow", "refuse RULE", "shallow …" when no tree was looked at. */
static inline const char *judge(const char *source, const char *destination, bool recursive)
{
	static const struct policy_fs_rules rules;
	static char text[1024];
	_cleanup_hostpath_host_ struct hostpath_host host = HOSTPATH_HOST_NULL;
	_cleanup_hostpath_ struct hostpath hp = HOSTPATH_NULL;
	struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	struct policy_fs_verdict v;
	struct policy_fs_fact f;
	const char *const *watched;
	size_t n = 0;
	const char *deep = "shallow ";

	if (hostpath_host_open(proc_fd, &arena, &host, &err) < 0 ||
	    hostpath_open(&host, AT_FDCWD, source, true, &hp, &err) < 0) {
		snprintf(text, sizeof(text), "error %d %s", err.code, err.text);
		arena_done(&arena);
		return text;
	}
	f = facts_shallow(&hp);
	f.id = ID;
	f.destination = destination;
	f.recursive = recursive;
	f.writable = true;
	if (hostpath_homes(&arena, &f.homes, &f.n_homes, &err) < 0)
		printf("# homes: %s\n", err.text);
	if (policy_fs_needs_tree(&rules, &f)) {
		deep = "";
		if (hostpath_look(&host, &hp, recursive, &err) < 0)
			printf("# look: %s\n", err.text);
		facts_deep(&hp, &arena, &f);
		watched = policy_fs_watched(&arena, f.homes, f.n_homes, &n);
		f.same_file = hostpath_same_file(&hp, watched, n);
	}
	if (policy_fs_check(&rules, &f, &v) == POLICY_FS_REFUSED) {
		printf("# %s\n", v.reason);
		deep = "";
	}
	snprintf(text, sizeof(text), "%s%s%s%s", deep,
		 v.action == POLICY_FS_REFUSE	  ? "refuse"
		 : v.action == POLICY_FS_READONLY ? "readonly"
						  : "allow",
		 v.rule ? " " : "", v.rule ? v.rule : "");
	arena_done(&arena);
	return text;
}

static inline void refused(const char *source, const char *name)
{
	const char *got = judge(source, "/data", true);

	ok(str_after(got, "refuse ") != NULL, "%s (%s): %s", name, source, got);
}

static inline void refused_as(const char *source, bool recursive, const char *want, const char *name)
{
	is_str(judge(source, "/data", recursive), want, name);
}

static inline bool world_begin(void)
{
	if (unshare(CLONE_NEWNET) < 0 || !scratch_begin())
		return false;
	if (mount("run", "/run", "tmpfs", 0, "mode=755") < 0)
		return false;
	(void)mkdir("/run/app", 0755);
	(void)mkdir("/run/crun", 0755);
	(void)mkdir("/run/secrets", 0700);
	(void)close(open("/run/secrets/key", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	put_socket("/run/docker.sock", true);
	put_socket("/run/app/other.sock", true);
	return procfs_open(&proc_fd, &(struct error){ 0 }) == 0;
}

static inline void world_end(void)
{
	(void)umount2("/run", MNT_DETACH);
	scratch_end();
}
