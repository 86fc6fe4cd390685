/*
 * Owns the set of pins: made whole under a name of its own and renamed when it is in force,
 * removed when another build has made its own and no container uses it.
 *
 * Runs in the program that prepares a host, under a lock on the bpffs.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "audit/audit_kernel.skel.h"
#include "audit/audit_trace_set.h"
#include "os/ebpf.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

/* No dot: a bpffs keeps such names to itself. */
#define SUFFIX_NEW "-new"
#define SET_OLD_SECONDS 86400
/* The kernel's own limit is 8192. */
#define CPUS_MAX 65536

static struct audit_kernel *kernel_free(struct audit_kernel *k)
{
	if (k) {
		skel_closenz(k->links.audit_exec_fd);
		skel_closenz(k->links.audit_exit_fd);
		audit_kernel__destroy(k);
	}
	return NULL;
}

static void kernel_freep(struct audit_kernel **k)
{
	(void)kernel_free(*k);
}

/* "0-7" or "0-3,8-11": the last number is the highest that a CPU can have. */
static int cpus_possible(uint32_t *ret, struct error *err)
{
	static const char file[] = "/sys/devices/system/cpu/possible";
	_cleanup_free_ char *text = NULL;
	char *last;
	int r;

	r = file_read_all(AT_FDCWD, file, 4096, &text, NULL, err);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	last = text + strlen(text);
	while (last > text && last[-1] != '-' && last[-1] != ',')
		last--;
	if (parse_u32(last, ret) < 0 || *ret >= CPUS_MAX)
		return error_text(err, -EBADMSG, "%s says \"%s\"", file, text);
	(*ret)++;
	return 0;
}

static int pin(const char *set, const char *name, int fd, struct error *err)
{
	_cleanup_free_ char *path = str_printf("%s/%s", set, name);
	int r;

	if (!path)
		return error_oom(err);
	r = ebpf_obj_pin(fd, path);
	return r < 0 ? error_set(err, r, "pin %s", path) : 0;
}

static int pin_all(const char *set, const struct audit_kernel *k, struct error *err)
{
	const struct {
		const char *name;
		int fd;
	} pins[] = {
		{ PIN_BINDINGS, k->maps.bindings.map_fd }, { PIN_RINGS, k->maps.rings.map_fd },
		{ PIN_COUNTERS, k->maps.counters.map_fd }, { PIN_BOOK, k->maps.book.map_fd },
		{ PIN_LINK_EXEC, k->links.audit_exec_fd }, { PIN_LINK_EXIT, k->links.audit_exit_fd },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ELEMENTSOF(pins) && r == 0; i++)
		r = pin(set, pins[i].name, pins[i].fd, err);
	return r;
}

/* Rings are put there before anything is attached: a set that can be seen is ready for use. */
static int fill(const struct audit_kernel *k, uint32_t ready, struct error *err)
{
	struct audit_trace_set set = AUDIT_TRACE_SET_NULL;
	int r;

	set.rings = k->maps.rings.map_fd;
	set.counters = k->maps.counters.map_fd;
	set.book = audit_book_map(k->maps.book.map_fd);
	if (!set.book)
		return error_set(err, -errno, "map the exec audit's book");
	r = audit_trace_refill(&set, AUDIT_RING_NORMAL, ready, NULL, err);
	(void)munmap(set.book, sizeof(*set.book));
	return r;
}

static int load(const char *path, uint32_t ready, struct error *err)
{
	_cleanup_(kernel_freep) struct audit_kernel *k = audit_kernel__open();
	int r;

	if (!k)
		return error_oom(err);
	r = cpus_possible(&k->maps.scratches.max_entries, err);
	if (r < 0)
		return r;
	r = EBPF_LOAD(audit_kernel, k, err);
	if (r < 0)
		return error_prefix(err, "exec audit (needs Linux 5.17)");
	r = fill(k, ready, err);
	if (r < 0)
		return r;
	r = audit_kernel__attach(k);
	if (r < 0)
		return error_set(err, -errno, "attach the exec audit");
	return pin_all(path, k, err);
}

/* Of a folder of pins; what is in force through them ends. */
static int remove_set(int bpffs, const char *name, struct error *err)
{
	static const char *const pins[] = { PIN_BINDINGS, PIN_RINGS,	 PIN_COUNTERS,
					    PIN_BOOK,	  PIN_LINK_EXEC, PIN_LINK_EXIT };
	_cleanup_close_ int dir = openat(bpffs, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	if (dir < 0)
		return errno == ENOENT ? 0 : error_set(err, -errno, "open the pins %s", name);
	for (i = 0; i < ELEMENTSOF(pins); i++)
		if (unlinkat(dir, pins[i], 0) < 0 && errno != ENOENT)
			return error_set(err, -errno, "remove the pin %s/%s", name, pins[i]);
	if (unlinkat(bpffs, name, AT_REMOVEDIR) < 0)
		return error_set(err, -errno, "remove the folder %s", name);
	return 0;
}

/*
 * Unless somebody has it open (and may bind a container right now), a container is bound, or it
 * is so young that two builds on one machine would take away each other's again and again.
 */
static int remove_unused(const char *bpffs, int dir, const char *name, struct error *err)
{
	_cleanup_free_ char *path = str_printf("%s/%s/" PIN_BINDINGS, bpffs, name);
	_cleanup_close_ int set = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int bindings = -EBADF;
	struct stat st;
	uint64_t key;

	if (!path)
		return error_oom(err);
	if (set < 0 || fstat(set, &st) < 0 || st.st_mtime + SET_OLD_SECONDS > time(NULL) ||
	    flock(set, LOCK_EX | LOCK_NB) < 0)
		return 0;
	bindings = ebpf_obj_get(path);
	if (bindings >= 0 && ebpf_map_next_key(bindings, NULL, &key) != -ENOENT)
		return 0;
	if (bindings < 0 && bindings != -ENOENT)
		return 0;
	return remove_set(dir, name, err);
}

/* Sets of other builds. What is still in use stays for the next time. */
static int remove_old(const char *bpffs, int dir, struct error *err)
{
	_cleanup_closedir_ DIR *d = opendir(bpffs);
	const char *build;
	struct dirent *e;
	int r = 0;

	if (!d)
		return error_set(err, -errno, "open %s", bpffs);
	while (r == 0 && (e = readdir(d))) {
		build = str_after(e->d_name, SET_PREFIX);
		if (build && strlen(build) == SET_BUILD_LEN && !str_eq(build, AUDIT_KERNEL_BUILD))
			r = remove_unused(bpffs, dir, e->d_name, err);
	}
	return r;
}

static int make(const char *bpffs, int dir, uint32_t ready, struct error *err)
{
	_cleanup_free_ char *path = audit_set_path(bpffs, "");
	_cleanup_free_ char *new = audit_set_path(bpffs, SUFFIX_NEW);
	struct error ignored;
	int r;

	if (!path || !new)
		return error_oom(err);
	/* Of a process that died here. */
	r = remove_set(dir, SET_PREFIX AUDIT_KERNEL_BUILD SUFFIX_NEW, err);
	if (r < 0)
		return r;
	if (mkdir(new, 0700) < 0)
		return error_set(err, -errno, "make the folder %s", new);
	r = load(new, ready, err);
	if (r == 0 && rename(new, path) < 0)
		r = error_set(err, -errno, "rename %s", new);
	if (r < 0)
		(void)remove_set(dir, SET_PREFIX AUDIT_KERNEL_BUILD SUFFIX_NEW, &ignored);
	return r;
}

int audit_trace_prepare(const char *bpffs, uint32_t ready, struct error *err)
{
	_cleanup_audit_trace_ struct audit_trace_set set = AUDIT_TRACE_SET_NULL;
	_cleanup_close_ int dir = open(bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir < 0)
		return error_set(err, -errno, "open %s", bpffs);
	if (flock(dir, LOCK_EX) < 0)
		return error_set(err, -errno, "lock %s", bpffs);
	r = audit_trace_open(bpffs, &set, err);
	if (r == 0)
		return audit_trace_refill(&set, AUDIT_RING_NORMAL, ready, NULL, err);
	if (r == AUDIT_TRACE_E_UNPREPARED)
		r = make(bpffs, dir, ready, err);
	return r < 0 ? r : remove_old(bpffs, dir, err);
}
