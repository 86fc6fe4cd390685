/*
 * Owns how a set of programs is put on a cgroup and found there again. Attached directly and
 * not by links: such programs live as long as the cgroup, and no descriptor or pin.
 */
#include "egress/egress_sets.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "egress/egress.h"
#include "egress/egress_deny.skel.h"
#include "os/ebpf.h"
#include "util/cleanup.h"
#include "util/str.h"

/* Of one attach type on one cgroup: ours, and those of systemd or an engine. */
#define ATTACHED_MAX 64
#define MAPS_MAX 32

const struct egress_program egress_programs[EGRESS_PROGRAMS] = {
	{ "egress", BPF_CGROUP_INET_EGRESS },
	{ "ingress", BPF_CGROUP_INET_INGRESS },
	{ "socket", BPF_CGROUP_INET_SOCK_CREATE },
	{ "sockops", BPF_CGROUP_SOCK_OPS },
	{ "connect4", BPF_CGROUP_INET4_CONNECT },
	{ "connect6", BPF_CGROUP_INET6_CONNECT },
	{ "sendmsg4", BPF_CGROUP_UDP4_SENDMSG },
	{ "sendmsg6", BPF_CGROUP_UDP6_SENDMSG },
	{ "recvmsg4", BPF_CGROUP_UDP4_RECVMSG },
	{ "recvmsg6", BPF_CGROUP_UDP6_RECVMSG },
	{ "peer4", BPF_CGROUP_INET4_GETPEERNAME },
	{ "peer6", BPF_CGROUP_INET6_GETPEERNAME },
};

const char egress_pin_dir[] = EGRESS_BPF_DIR "/egress-" EGRESS_DENY_BUILD;

int egress_pin_open(const char *name)
{
	char path[sizeof(egress_pin_dir) + 32];
	int n = snprintf(path, sizeof(path), "%s/%s", egress_pin_dir, name);

	assert(n > 0 && (size_t)n < sizeof(path));
	return ebpf_obj_get(path);
}

int egress_cgroup_id(int cgroup_fd, uint64_t *ret, struct error *err)
{
	struct stat st;

	assert(cgroup_fd >= 0);

	/* kernfs: the inode's number on 64-bit machines */
	if (fstat(cgroup_fd, &st) < 0)
		return error_set(err, -errno, "examine the cgroup");
	*ret = st.st_ino;
	return 0;
}

int egress_set_attach(int cgroup_fd, const int progs[EGRESS_PROGRAMS], struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < EGRESS_PROGRAMS; i++) {
		r = ebpf_prog_attach(cgroup_fd, progs[i], egress_programs[i].type, BPF_F_ALLOW_MULTI);
		if (r < 0) {
			(void)error_set(err, r, "attach the egress program \"%s\" to the cgroup",
					egress_programs[i].name);
			goto undo;
		}
	}
	return 0;
undo:
	while (i-- > 0)
		(void)ebpf_prog_detach(cgroup_fd, progs[i], egress_programs[i].type);
	return r;
}

/* -ENOENT when no program of that prefix is attached. */
static int find_one(int cgroup_fd, unsigned type, const char *prefix, int *ret_prog)
{
	uint32_t ids[ATTACHED_MAX];
	char name[BPF_OBJ_NAME_LEN];
	size_t n = 0, i;
	int r;

	r = ebpf_prog_query(cgroup_fd, type, ids, ATTACHED_MAX, &n);
	if (r < 0)
		return r;
	for (i = 0; i < n; i++) {
		_cleanup_close_ int prog = ebpf_prog_by_id(ids[i]);

		/* another one's program may have gone meanwhile */
		if (prog == -ENOENT)
			continue;
		if (prog < 0)
			return prog;
		r = ebpf_prog_info(prog, name, NULL, NULL);
		if (r < 0)
			return r;
		if (str_after(name, prefix)) {
			*ret_prog = take_fd(&prog);
			return 0;
		}
	}
	return -ENOENT;
}

int egress_set_detach(int cgroup_fd, const char *prefix, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < EGRESS_PROGRAMS; i++) {
		_cleanup_close_ int prog = -EBADF;

		r = find_one(cgroup_fd, egress_programs[i].type, prefix, &prog);
		if (r == -ENOENT)
			continue;
		if (r == 0)
			r = ebpf_prog_detach(cgroup_fd, prog, egress_programs[i].type);
		if (r < 0)
			return error_set(err, r, "detach the egress program \"%s%s\" from the cgroup", prefix,
					 egress_programs[i].name);
	}
	return 0;
}

int egress_set_find(int cgroup_fd, const char *prefix, size_t *ret_count, int *ret_prog, struct error *err)
{
	_cleanup_close_ int found = -EBADF;
	size_t n = 0, i;
	int r;

	for (i = 0; i < EGRESS_PROGRAMS; i++) {
		_cleanup_close_ int prog = -EBADF;

		r = find_one(cgroup_fd, egress_programs[i].type, prefix, &prog);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return error_set(err, r, "look for the egress programs on the cgroup");
		n++;
		if (found < 0)
			found = take_fd(&prog);
	}
	*ret_count = n;
	if (ret_prog)
		*ret_prog = take_fd(&found);
	return 0;
}

int egress_private_find(int cgroup_fd, int *ret_prog, struct error *err)
{
	size_t n;
	int r = egress_set_find(cgroup_fd, EGRESS_PRIVATE_PREFIX, &n, ret_prog, err);

	if (r == 0 && *ret_prog < 0)
		return error_text(err, -ENOENT, "the cgroup has no egress rules of its own");
	return r;
}

int egress_map_of(int prog, const char *name, int *ret, struct error *err)
{
	char have[BPF_OBJ_NAME_LEN];
	uint32_t ids[MAPS_MAX];
	size_t n = MAPS_MAX, i, len, suffix = strlen(name);
	int r;

	r = ebpf_prog_info(prog, have, ids, &n);
	if (r < 0)
		return error_set(err, r, "examine an egress program");
	for (i = 0; i < n; i++) {
		_cleanup_close_ int map = ebpf_map_by_id(ids[i], 0);

		if (map < 0)
			return error_set(err, map, "open a map of the egress programs");
		r = ebpf_map_name(map, have);
		if (r < 0)
			return error_set(err, r, "examine a map of the egress programs");
		/* sections with variables have the object's name before the dot */
		len = strlen(have);
		if (str_eq(have, name) || (name[0] == '.' && len > suffix && str_eq(have + len - suffix, name))) {
			*ret = take_fd(&map);
			return 0;
		}
	}
	return error_text(err, -ENOENT, "the egress programs have no map \"%s\": another version of agentrun put them there",
			  name);
}
