/*
 * What the policy's decision depends on, read from the host: namespaces by inode, CPUs,
 * memory, swap, limits, device nodes. Changes nothing.
 */
#include "container/guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "filter/filter_agent.h"
#include "os/ns.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

static int read_namespaces(const struct spec *spec, const struct guard_host *host, struct arena *arena,
			   struct policy_facts *f, struct error *err)
{
	const struct spec_namespaces *list = &spec->linux_cfg->namespaces;
	enum policy_ns_owner *owners = arena_calloc(arena, list->count + 1, sizeof(*owners));
	size_t i;
	int r;

	if (!owners)
		return error_oom(err);
	for (i = 0; i < list->count; i++) {
		_cleanup_close_ int fd = -EBADF;
		bool own = true;

		if (!list->items[i].path)
			continue;
		r = ns_open(list->items[i].path, list->items[i].type, &fd, err);
		if (r == 0)
			r = ns_is_own(host->proc_fd, fd, list->items[i].type, &own, err);
		if (r < 0)
			return r;
		owners[i] = own ? POLICY_NS_HOST : POLICY_NS_OTHER;
	}
	f->namespaces = owners;
	return 0;
}

static int read_cpus(struct arena *arena, struct policy_facts *f, struct error *err)
{
	uint32_t *cpus = arena_calloc(arena, CPU_SETSIZE, sizeof(*cpus));
	cpu_set_t set;
	int i;

	if (!cpus)
		return error_oom(err);
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return error_set(err, -errno, "read the CPUs of this process");
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[f->n_cpus++] = (uint32_t)i;
	f->cpus = cpus;
	return 0;
}

static int read_rlimits(struct arena *arena, struct policy_facts *f, struct error *err)
{
	struct policy_rlimit *limits = arena_calloc(arena, POLICY_RLIMITS, sizeof(*limits));
	int i;

	if (!limits)
		return error_oom(err);
	for (i = 0; i < POLICY_RLIMITS; i++) {
		struct rlimit rl;

		if (getrlimit((__rlimit_resource_t)i, &rl) < 0)
			return error_set(err, -errno, "read rlimit %d", i);
		limits[i] = (struct policy_rlimit){ .soft = rl.rlim_cur, .hard = rl.rlim_max };
	}
	f->rlimits = limits;
	return 0;
}

static int read_oom_score(const struct guard_host *host, struct policy_facts *f, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int r = procfs_read(host->proc_fd, "self/oom_score_adj", &text, err);

	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	if (parse_i64(text, &f->oom_score_adj) < 0)
		return error_text(err, -EINVAL, "oom_score_adj of this process reads \"%s\"", text);
	return 0;
}

static int read_memory(struct policy_facts *f, struct error *err)
{
	struct sysinfo info;

	if (sysinfo(&info) < 0)
		return error_set(err, -errno, "read the size of this host's memory");
	f->host_memory = (uint64_t)info.totalram * info.mem_unit;
	f->host_swap = info.totalswap > 0;
	return 0;
}

/* What cannot be looked at is not taken for absent: a limit would then be left out. */
static int file_is_there(const char *path, bool *ret, struct error *err)
{
	*ret = access(path, F_OK) == 0;
	return *ret || errno == ENOENT ? 0 : error_set(err, -errno, "look for %s", path);
}

static bool kernel_is(unsigned least_major, unsigned least_minor)
{
	unsigned major = 0, minor = 0;
	struct utsname uts;

	if (uname(&uts) < 0 || sscanf(uts.release, "%3u.%3u", &major, &minor) != 2)
		return false;
	return major > least_major || (major == least_major && minor >= least_minor);
}

static int read_controllers(const struct guard_host *host, struct policy_facts *f, struct error *err)
{
	static const struct { const char *name; unsigned bit; } names[] = {
		{ "memory", POLICY_CG_MEMORY }, { "cpu", POLICY_CG_CPU },	{ "pids", POLICY_CG_PIDS },
		{ "hugetlb", POLICY_CG_HUGETLB }, { "devices", POLICY_CG_DEVICES },
	};
	_cleanup_free_ char *list = NULL;
	enum cgroup_layout layout;
	bool v2;
	size_t i;
	int r;

	r = cgroup_layout_detect(&layout, err);
	if (r == 0 && host->place)
		r = cgroup_usable(host->place, &list, err);
	else if (r == 0 && host->cgroup)
		r = cgroup_usable_now(host->cgroup, &list, err);
	if (r < 0)
		return r;
	v2 = layout == CGROUP_LAYOUT_UNIFIED;
	for (i = 0; list && i < ELEMENTSOF(names); i++)
		if (cgroup_list_has(list, names[i].name))
			f->controllers |= names[i].bit;
	/* v2 device rules are BPF programs: that needs privilege, not a controller. */
	if (v2 && !host->rootless)
		f->controllers |= POLICY_CG_DEVICES;
	/* What egress/ and the trace of programs say they need. */
	f->cgroup_bpf = host->host_root && (v2 || layout == CGROUP_LAYOUT_HYBRID) && kernel_is(6, 1);
	return file_is_there(v2 ? "/proc/swaps" : "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", &f->swap_limit, err);
}

/* The nodes that devices.allow names, as they are on this host. */
static int read_devices(const struct guard *g, struct arena *arena, struct policy_facts *f, struct error *err)
{
	const struct strv *allow = &g->profile.devices.allow.list;
	struct policy_device *list = arena_calloc(arena, allow->count + 1, sizeof(*list));
	size_t i;

	if (!list)
		return error_oom(err);
	for (i = 0; i < allow->count; i++) {
		struct stat st;

		if (stat(allow->items[i], &st) < 0 || (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
			continue;
		list[f->n_devices++] = (struct policy_device){
			.path = allow->items[i],
			.type = S_ISCHR(st.st_mode) ? 'c' : 'b',
			.major = major(st.st_rdev),
			.minor = minor(st.st_rdev),
		};
	}
	f->devices = list;
	return 0;
}

/* "hugepages-2048kB" → "2MB", as resources.hugepageLimits spells sizes. */
static char *page_size_name(struct arena *arena, const char *folder)
{
	const char *text = str_after(folder, "hugepages-");
	_cleanup_free_ char *digits = text ? strndup(text, strspn(text, "0123456789")) : NULL;
	uint64_t kb;

	if (!digits || parse_u64(digits, &kb) < 0)
		return NULL;
	if (kb >= UINT64_C(1024) * 1024)
		return arena_printf(arena, "%lluGB", (unsigned long long)(kb / (UINT64_C(1024) * 1024)));
	return kb >= 1024 ? arena_printf(arena, "%lluMB", (unsigned long long)(kb / 1024)) :
			    arena_printf(arena, "%lluKB", (unsigned long long)kb);
}

#define PAGE_SIZES_MAX 16

/* Without pages in the pool, or leave to take some, there is nothing to limit. */
static bool has_pages(int dir_fd, const char *folder)
{
	static const char *const files[] = { "nr_hugepages", "nr_overcommit_hugepages" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(files); i++) {
		_cleanup_free_ char *path = str_printf("%s/%s", folder, files[i]);
		_cleanup_free_ char *text = NULL;
		struct error ignored;

		/* What cannot be read is taken for there. */
		if (!path || file_read_all(dir_fd, path, 64, &text, NULL, &ignored) < 0 || !str_eq(text, "0\n"))
			return true;
	}
	return false;
}

static int read_hugepages(struct arena *arena, struct policy_facts *f, struct error *err)
{
	_cleanup_closedir_ DIR *dir = opendir("/sys/kernel/mm/hugepages");
	const char **names = arena_calloc(arena, PAGE_SIZES_MAX, sizeof(*names));
	const char *name;
	struct dirent *e;

	if (!dir && errno != ENOENT)
		return error_set(err, -errno, "open /sys/kernel/mm/hugepages");
	if (!names)
		return error_oom(err);
	while (dir && f->n_hugepages < PAGE_SIZES_MAX) {
		errno = 0;
		e = readdir(dir);
		if (!e && errno != 0)
			return error_set(err, -errno, "read /sys/kernel/mm/hugepages");
		if (!e)
			break;
		name = page_size_name(arena, e->d_name);
		if (name && has_pages(dirfd(dir), e->d_name))
			names[f->n_hugepages++] = name;
	}
	f->hugepages = names;
	return 0;
}

static int read_limits(const struct cgroup *cg, struct policy_facts *f, struct error *err)
{
	struct cgroup_present now;
	int r = cgroup_present_read(cg, &now, err);

	if (r < 0)
		return r;
	f->memory_limit = now.memory;
	f->cpu_quota = now.cpu_quota;
	f->cpu_period = now.cpu_period;
	return 0;
}

/* Linux 6.6: before, its strictest value refuses every memfd_create(2) that does not know of it. */
#define MEMFD_NOEXEC "vm.memfd_noexec"

/* Why the setting cannot be made here, or NULL. */
static int setting_obstacle(const struct guard_host *host, const char *name, const char **ret, struct error *err)
{
	char path[POLICY_SETTING_NAME_MAX + 8];
	size_t i;

	(void)snprintf(path, sizeof(path), "sys/%s", name);
	for (i = 0; path[i]; i++)
		if (path[i] == '.')
			path[i] = '/';
	*ret = NULL;
	if (faccessat(host->proc_fd, path, F_OK, 0) < 0) {
		if (errno != ENOENT)
			return error_set(err, -errno, "look for the kernel setting %s", name);
		*ret = "no such setting in this kernel";
	} else if (str_eq(name, "net.ipv4.ping_group_range") && !host->host_root) {
		/* Group ids are those of the user namespace, which may not even have two. */
		*ret = "the kernel's own value, which is nobody";
	} else if (str_eq(name, MEMFD_NOEXEC)) {
		*ret = !kernel_is(6, 6)	 ? "not before Linux 6.6" :
		       !host->host_root ? "only the host's root can set it" :
					   NULL;
	}
	return 0;
}

static int read_settings(const struct guard *g, const struct guard_host *host, struct arena *arena, struct policy_facts *f,
			 struct error *err)
{
	const struct strv *set = &g->profile.sysctls.set.list;
	const char **why = arena_calloc(arena, set->count + 1, sizeof(*why));
	char name[POLICY_SETTING_NAME_MAX];
	size_t i;
	int r = 0;

	if (!why)
		return error_oom(err);
	for (i = 0; i < set->count && r == 0; i++)
		if (policy_setting_name(set->items[i], name))
			r = setting_obstacle(host, name, &why[i], err);
	f->settings = why;
	return r;
}

/* For a container that is made; an exec follows what was decided then. */
static const char *read_listener(const struct spec *spec)
{
	int r = spec ? filter_listener_possible() : 0;

	return r == 0	     ? NULL :
	       r == -ENOSYS ? "this kernel has no listeners" :
	       r == -EBUSY  ? "agentrun runs under a seccomp filter with a listener, and a process can have only one" :
			      "whether a filter can have a listener could not be found out";
}

int guard_facts(const struct guard *g, const struct spec *spec, const struct guard_host *host, struct arena *arena,
		struct policy_facts *ret, struct error *err)
{
	struct policy_facts f = {
		.id = host->id,
		.no_pivot = host->no_pivot,
	};
	int r;

	f.no_listener = read_listener(g->profile.passthrough ? NULL : spec);
	r = read_memory(&f, err);
	if (r == 0)
		r = read_controllers(host, &f, err);
	if (r == 0 && spec)
		r = read_namespaces(spec, host, arena, &f, err);
	if (r == 0 && spec)
		r = read_settings(g, host, arena, &f, err);
	if (r == 0)
		r = read_cpus(arena, &f, err);
	if (r == 0)
		r = read_rlimits(arena, &f, err);
	if (r == 0)
		r = read_oom_score(host, &f, err);
	if (r == 0)
		r = read_devices(g, arena, &f, err);
	if (r == 0)
		r = read_hugepages(arena, &f, err);
	if (r == 0 && host->cgroup)
		r = read_limits(host->cgroup, &f, err);
	if (r == 0)
		*ret = f;
	return r;
}
