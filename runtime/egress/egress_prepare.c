/*
 * Owns loading and pinning the shared set, once for each boot and build. Another build's set
 * stays in force on its cgroups when its pins go: programs hold their maps, cgroups their
 * programs.
 */
#include "egress/egress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "egress/egress_deny.skel.h"
#include "egress/egress_load.h"
#include "egress/egress_pool.h"
#include "egress/egress_sets.h"
#include "os/ebpf.h"
#include "util/cleanup.h"
#include "util/str.h"

#define RUN_DIR "/run/agentrun"
/* Two builds on one machine do not take away each other's pins all the time. */
#define OLD_SECONDS 86400

static void skel_freep(struct egress_deny **skel)
{
	egress_deny__destroy(*skel);
}

struct pin {
	const char *name;
	int fd;
};

static int pin_all(const char *dir, const struct egress_deny *s, struct error *err)
{
	const struct pin pins[] = {
		{ "egress", s->progs.egdeny_egress.prog_fd },	  { "ingress", s->progs.egdeny_ingress.prog_fd },
		{ "socket", s->progs.egdeny_socket.prog_fd },	  { "sockops", s->progs.egdeny_sockops.prog_fd },
		{ "connect4", s->progs.egdeny_connect4.prog_fd }, { "connect6", s->progs.egdeny_connect6.prog_fd },
		{ "sendmsg4", s->progs.egdeny_sendmsg4.prog_fd }, { "sendmsg6", s->progs.egdeny_sendmsg6.prog_fd },
		{ "recvmsg4", s->progs.egdeny_recvmsg4.prog_fd }, { "recvmsg6", s->progs.egdeny_recvmsg6.prog_fd },
		{ "peer4", s->progs.egdeny_peer4.prog_fd },	  { "peer6", s->progs.egdeny_peer6.prog_fd },
		{ "states", s->maps.states.map_fd },		  { "rings", s->maps.rings.map_fd },
		{ "owners", s->maps.owners.map_fd },
	};
	size_t i;
	int r;

	for (i = 0; i < ELEMENTSOF(pins); i++) {
		_cleanup_free_ char *path = str_printf("%s/%s", dir, pins[i].name);

		if (!path)
			return error_oom(err);
		r = ebpf_obj_pin(pins[i].fd, path);
		if (r < 0)
			return error_set(err, r, "pin %s", path);
	}
	return 0;
}

/* Whatever is in it; nested folders are not ours. */
static int remove_dir(int bpffs, const char *name)
{
	_cleanup_close_ int fd = openat(bpffs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *e;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	(void)take_fd(&fd);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && unlinkat(dirfd(dir), e->d_name, 0) < 0)
			return -errno;
	return unlinkat(bpffs, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int load_and_pin(int bpffs, struct error *err)
{
	_cleanup_(skel_freep) struct egress_deny *skel = egress_deny__open();
	_cleanup_free_ char *fresh = str_printf("%s-new", egress_pin_dir);
	bool has_cookie;
	int r;

	if (!skel || !fresh)
		return error_oom(err);
	r = egress_probe_netns_cookie(&has_cookie, err);
	if (r < 0)
		return r;
	skel->rodata->has_netns_cookie = has_cookie;
	r = EBPF_LOAD(egress_deny, skel, err);
	if (r == 0)
		r = egress_pool_fill(skel->maps.rings.map_fd, skel->maps.owners.map_fd, err);
	if (r < 0)
		return r;
	/* Of somebody who was killed here. */
	r = remove_dir(bpffs, strrchr(fresh, '/') + 1);
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "remove %s", fresh);
	if (mkdir(fresh, 0700) < 0)
		return error_set(err, -errno, "make %s", fresh);
	r = pin_all(fresh, skel, err);
	if (r < 0)
		return r;
	/* All at once, so that who finds one pin finds the others. */
	if (rename(fresh, egress_pin_dir) < 0)
		return error_set(err, -errno, "rename %s to %s", fresh, egress_pin_dir);
	return 0;
}

static void remove_old(int bpffs)
{
	_cleanup_close_ int fd = openat(bpffs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;

	if (!dir)
		return;
	(void)take_fd(&fd);
	while ((e = readdir(dir))) {
		if (!str_after(e->d_name, "egress-") || str_eq(e->d_name, strrchr(egress_pin_dir, '/') + 1))
			continue;
		if (fstatat(bpffs, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_ctime + OLD_SECONDS < time(NULL))
			(void)remove_dir(bpffs, e->d_name);
	}
}

int egress_prepare(struct error *err)
{
	_cleanup_close_ int bpffs = -EBADF;
	struct stat st;
	int r;

	if (mkdir(RUN_DIR, 0711) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make %s", RUN_DIR);
	r = ebpf_fs_mount(EGRESS_BPF_DIR, err);
	if (r < 0)
		return r;
	bpffs = open(EGRESS_BPF_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (bpffs < 0)
		return error_set(err, -errno, "open %s", EGRESS_BPF_DIR);
	if (flock(bpffs, LOCK_EX) < 0)
		return error_set(err, -errno, "lock %s", EGRESS_BPF_DIR);
	if (stat(egress_pin_dir, &st) == 0)
		return 0;
	r = load_and_pin(bpffs, err);
	if (r == 0)
		remove_old(bpffs);
	return r;
}
