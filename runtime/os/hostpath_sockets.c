/*
 * Unix sockets below a folder. The kernel's table names every socket bound in this network
 * namespace at whatever depth; for those of other namespaces (rootless engines, nested
 * engines) the top of the folder is read within a budget.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/un.h>

#include "os/hostpath_tables.h"
#include "os/procfs.h"
#include "os/syscalls.h"
#include "util/fd.h"
#include "util/str.h"

#define TABLE_MAX   ((size_t)64 * 1024 * 1024)
#define FOLDERS_MAX 4096
/* The column of the path follows seven others. */
#define COLUMNS_BEFORE_PATH 7
/* What the walk may cost: about 50 microseconds on a local disk. */
#define WALK_ENTRIES 256
#define WALK_FOLDERS 16
#define CIFS_MAGIC   0xff534d42
#define SMB2_MAGIC   0xfe534d42

/* One folder with bound sockets; canonical NULL = it does not exist here. */
struct socket_folder {
	const char *text, *canonical;
	size_t text_len;
	const char **names;
	size_t count, room;
};

struct hostpath_sockets {
	struct socket_folder *folders;
	size_t count;
};

static char *path_column(char *line)
{
	int i;

	for (i = 0; i < COLUMNS_BEFORE_PATH; i++) {
		line += strspn(line, " ");
		line += strcspn(line, " ");
	}
	return *line == ' ' ? line + 1 : line;
}

static struct socket_folder *folder_for(struct hostpath_host *host, struct hostpath_sockets *s, const char *path,
					size_t len, struct error *err)
{
	struct socket_folder *f;
	size_t i;

	for (i = s->count; i > 0; i--)
		if (s->folders[i - 1].text_len == len &&
		    memcmp(s->folders[i - 1].text, path, len) == 0)
			return &s->folders[i - 1];
	f = &s->folders[s->count];
	f->text = s->count < FOLDERS_MAX ? arena_strndup(host->arena, path, len) : NULL;
	if (!f->text) {
		(void)error_text(err, -ENOMEM, "too many unix sockets to judge mounts");
		return NULL;
	}
	f->text_len = len;
	if (hostpath_canonical(host, len > 0 ? f->text : "/", &f->canonical, err) < 0)
		return NULL;
	s->count++;
	return f;
}

static bool folder_add(struct arena *arena, struct socket_folder *f, const char *name)
{
	const char **grown;
	size_t i;

	/* Each accepted connection repeats the name. */
	for (i = f->count; i > 0; i--)
		if (str_eq(f->names[i - 1], name))
			return true;
	if (f->count == f->room) {
		f->room = f->room ? f->room * 2 : 8;
		grown = arena_calloc(arena, f->room, sizeof(*grown));
		if (!grown)
			return false;
		if (f->count > 0)
			memcpy(grown, f->names, f->count * sizeof(*grown));
		f->names = grown;
	}
	f->names[f->count] = arena_strdup(arena, name);
	return f->names[f->count++] != NULL;
}

int hostpath_sockets_read(struct hostpath_host *host, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	struct hostpath_sockets *s;
	struct socket_folder *f;
	char *line, *end, *path, *leaf;
	size_t len;
	int r;

	r = procfs_openat(host->proc_fd, "self/net/unix", O_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, TABLE_MAX, &text, &len);
	if (r < 0)
		return error_set(err, r, "read /proc/self/net/unix");
	s = arena_alloc(host->arena, sizeof(*s));
	if (s)
		s->folders = arena_calloc(host->arena, FOLDERS_MAX, sizeof(*s->folders));
	if (!s || !s->folders)
		return error_oom(err);
	for (line = text; (end = strchr(line, '\n')) != NULL; line = end) {
		*end++ = '\0';
		path = path_column(line);
		leaf = *path == '/' ? strrchr(path, '/') : NULL;
		if (!leaf)
			continue;
		f = folder_for(host, s, path, (size_t)(leaf - path), err);
		if (!f)
			return err->code;
		if (!folder_add(host->arena, f, leaf + 1))
			return error_oom(err);
	}
	host->sockets = s;
	return 0;
}

void hostpath_sockets_apply(const struct hostpath_host *host, const char *path,
			    struct hostpath_parts *parts)
{
	const struct hostpath_sockets *s = host->sockets;
	const struct socket_folder *f;
	const char *at, *leaf;
	struct stat st;
	size_t i, j;

	for (i = 0; i < s->count; i++) {
		f = &s->folders[i];
		if (!f->canonical)
			continue;
		/* Mounted on a file, the path is the socket itself. */
		leaf = hostpath_rest(f->canonical, path) ? NULL : hostpath_rest(path, f->canonical);
		if (!leaf && !hostpath_rest(f->canonical, path))
			continue;
		for (j = 0; j < f->count; j++) {
			if (leaf && !str_eq(leaf + (*leaf == '/'), f->names[j]))
				continue;
			at = arena_printf(parts->arena, "%s/%s",
					  f->canonical[1] ? f->canonical : "", f->names[j]);
			/* The name may belong to another mount namespace or be gone. */
			if (!at || (lstat(at, &st) == 0 ? S_ISSOCK(st.st_mode) : !hostpath_is_absent(-errno)))
				hostpath_parts_add(parts, HOSTPATH_PART_SOCKET_LIVE, at, NULL);
		}
	}
}

struct walk {
	const struct hostpath *hp;
	struct hostpath_parts *parts;
	const char *queue[WALK_FOLDERS]; /* relative to hp */
	size_t queued, entries;
};

/* A dead server or a stubborn FUSE daemon would hold up the start. */
static bool is_remote(int fd, struct hostpath_parts *parts)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0) {
		parts->failed = true;
		return true;
	}
	switch ((unsigned long)fs.f_type) {
	case FUSE_SUPER_MAGIC:
	case NFS_SUPER_MAGIC:
	case CIFS_MAGIC:
	case SMB2_MAGIC:
	case AFS_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case V9FS_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * Whether a program is bound to the file, under whatever name it did that. Asked with the one type
 * that hardly anybody uses: the kernel then says "wrong type" where somebody listens, and the
 * program sees nothing of it. Only "refused" says that nobody does.
 */
static bool is_bound(int dir_fd, const char *name)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	_cleanup_close_ int fd = sys_openat2(dir_fd, name, &how);
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (fd < 0)
		return !hostpath_is_absent(-errno);
	if (sock < 0)
		return true;
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d", fd);
	return connect(sock, (const struct sockaddr *)&addr, sizeof(addr)) == 0 ||
	       (errno != ECONNREFUSED && !hostpath_is_absent(-errno));
}

static void walk_entry(struct walk *w, const char *folder, const char *leaf, unsigned char type)
{
	const bool is_dir = type == DT_DIR && w->queued < WALK_FOLDERS;
	const char *name;

	if ((!is_dir && type != DT_SOCK) || str_eq(leaf, ".") || str_eq(leaf, ".."))
		return;
	name = *folder ? arena_printf(w->parts->arena, "%s/%s", folder, leaf)
		       : arena_strdup(w->parts->arena, leaf);
	if (!name)
		w->parts->failed = true;
	else if (is_dir)
		w->queue[w->queued++] = name;
	else
		hostpath_parts_add(w->parts,
				   is_bound(w->hp->fd, name) ? HOSTPATH_PART_SOCKET_LIVE : HOSTPATH_PART_SOCKET,
				   arena_printf(w->parts->arena, "%s/%s", w->hp->path, name), NULL);
}

static void walk_folder(struct walk *w, const char *folder)
{
	/* Mounts are not entered: those that count are in the mount table. */
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	_cleanup_close_ int fd = sys_openat2(w->hp->fd, *folder ? folder : ".", &how);
	_Alignas(struct dirent64) char buf[8192];
	const struct dirent64 *e;
	ssize_t n, at;

	if (fd < 0) {
		/* EXDEV: something is mounted on it. */
		w->parts->failed |= errno != EXDEV && !hostpath_is_absent(-errno);
		return;
	}
	/* A buffer that is not even half full was the last one: saves the call that says so. */
	do {
		n = getdents64(fd, buf, sizeof(buf));
		for (at = 0; at < n && w->entries < WALK_ENTRIES; at += e->d_reclen) {
			e = (const struct dirent64 *)(const void *)(buf + at);
			w->entries++;
			walk_entry(w, folder, e->d_name, e->d_type);
		}
		w->parts->failed |= n < 0;
	} while (n > (ssize_t)sizeof(buf) / 2 && w->entries < WALK_ENTRIES);
}

void hostpath_sockets_walk(const struct hostpath *hp, struct hostpath_parts *parts)
{
	struct walk w = { .hp = hp, .parts = parts };
	size_t i;

	if (is_remote(hp->fd, parts))
		return;
	w.queue[w.queued++] = "";
	for (i = 0; i < w.queued && w.entries < WALK_ENTRIES; i++)
		walk_folder(&w, w.queue[i]);
}
