/*
 * What the host offers for each control of the policy in force. Asks the same sources as create, and
 * the kernel itself where it can be asked without changing anything.
 */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "audit/audit_store.h"
#include "cgroup/cgroup.h"
#include "container/create.h"
#include "container/doctor.h"
#include "container/guard.h"
#include "egress/egress_load.h"
#include "os/libexec.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

/* A full log stops containers; below this somebody should look. */
#define LOG_SPACE_LOW ((uint64_t)512 << 20)

struct host {
	struct doctor *d;
	struct guard guard;
	struct policy_facts facts;
	bool rootless, in_userns, v2;
};

/* The state of something that policy text "accept": ["none"] can give up. */
static enum doctor_state unless_accepted(const struct policy_value *accept)
{
	return accept->n & POLICY_ACCEPT_NONE ? DOCTOR_NOTE : DOCTOR_LACKING;
}

static void look_at_programs(struct doctor *d)
{
	static const struct { const char *name, *for_what; bool needed; } programs[] = {
		{ "agentrun-supervisor", "stands beside every container", true },
		{ "agentrun-monitor", "keeps the audit log and answers names", true },
		{ "agentrun-tty", "carries terminals into the audit log", true },
		{ "agentrun-bpf", "loads the programs for egress and exec audit", true },
		{ "agentrun-systemd", "talks to systemd for --systemd-cgroup", false },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(programs); i++) {
		_cleanup_close_ int fd = -EBADF;
		struct error err = ERROR_NULL;

		if (libexec_open(programs[i].name, &fd, &err) < 0)
			doctor_add(d, programs[i].needed ? DOCTOR_LACKING : DOCTOR_NOTE, "programs",
				   "install agentrun again, with all of its libexec folder", "%s, which %s: %s",
				   programs[i].name, programs[i].for_what, err.text);
	}
}

static bool look_at_policy(struct host *h)
{
	const struct str_map none = { 0 };
	struct error err = ERROR_NULL;

	if (guard_open(h->d->env, &none, &h->guard, &err) < 0) {
		doctor_add(h->d, DOCTOR_LACKING, "policy",
			   "correct the file; no container starts with a policy that cannot be read", "%s",
			   err.text);
		return false;
	}
	doctor_add(h->d, DOCTOR_OK, "policy", "", "profile %s of %s", h->guard.profile.name,
		   h->guard.policy_hash[0] ? h->d->env->policy ? h->d->env->policy : POLICY_FILE :
					     "the built-in policy");
	if (h->guard.profile.passthrough)
		doctor_add(h->d, DOCTOR_NOTE, "policy", "", "this profile enforces nothing beyond the specification");
	return true;
}

static void look_at_user(struct host *h)
{
	_cleanup_close_ int proc_fd = -EBADF;
	struct error err = ERROR_NULL;

	if (procfs_open(&proc_fd, &err) < 0 || in_user_namespace(proc_fd, &h->in_userns, &err) < 0) {
		doctor_add(h->d, DOCTOR_LACKING, "privilege", "mount proc at /proc", "%s", err.text);
		return;
	}
	h->rootless = h->d->env->rootless || geteuid() != 0;
	if (h->rootless || h->in_userns)
		doctor_add(h->d, DOCTOR_NOTE, "privilege",
			   "run agentrun as the host's root for egress control, exec audit and undelegated limits",
			   "%s", h->in_userns ? "root of a user namespace" : "an ordinary user");
	else
		doctor_add(h->d, DOCTOR_OK, "privilege", "", "root of the host");
}

static void look_at_kernel(struct doctor *d)
{
	unsigned major = 0, minor = 0;
	struct utsname uts;

	if (uname(&uts) < 0 || sscanf(uts.release, "%3u.%3u", &major, &minor) != 2) {
		doctor_add(d, DOCTOR_NOTE, "kernel", "", "its version cannot be read");
		return;
	}
	if (major < 5 || (major == 5 && minor < 12))
		doctor_add(d, DOCTOR_LACKING, "kernel", "use Linux 5.12 or newer; egress and exec audit need 6.1",
			   "Linux %s", uts.release);
	else
		doctor_add(d, DOCTOR_OK, "kernel", "", "Linux %s", uts.release);
}

static void look_at_seccomp(struct doctor *d)
{
	static const struct { uint32_t action; const char *name; } actions[] = {
		{ SECCOMP_RET_KILL_PROCESS, "kill" },
		{ SECCOMP_RET_ERRNO, "errno" },
		{ SECCOMP_RET_USER_NOTIF, "notify" },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(actions); i++)
		if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &actions[i].action) < 0) {
			doctor_add(d, DOCTOR_LACKING, "seccomp", "use a kernel with CONFIG_SECCOMP_FILTER",
				   "filters cannot answer \"%s\": %s", actions[i].name, strerror(errno));
			return;
		}
	doctor_add(d, DOCTOR_OK, "seccomp", "", "filters with all actions that the profiles use");
}

static void look_at_limits(struct host *h)
{
	static const struct { const char *name; unsigned bit; } limits[] = {
		{ "memory", POLICY_CG_MEMORY }, { "cpu", POLICY_CG_CPU }, { "pids", POLICY_CG_PIDS },
	};
	const struct policy_profile *p = &h->guard.profile;
	size_t i;

	for (i = 0; i < ELEMENTSOF(limits); i++)
		if (h->facts.controllers & limits[i].bit)
			doctor_add(h->d, DOCTOR_OK, limits[i].name, "", "can be limited");
		else
			doctor_add(h->d, unless_accepted(&p->resources.accept), limits[i].name,
				   "delegate the controller to this user, or enable it on the kernel's command line",
				   "this process has no such cgroup controller");
	if (!(h->facts.controllers & POLICY_CG_DEVICES))
		doctor_add(h->d, unless_accepted(&p->devices.accept), "devices",
			   "run agentrun as the host's root, or add \"none\" to devices.accept",
			   "opening device nodes cannot be limited");
	if (!h->facts.swap_limit && h->facts.host_swap)
		doctor_add(h->d, unless_accepted(&p->resources.accept), "swap",
			   "boot with swapaccount=1, or switch swap off", "the host swaps and this kernel does not account it");
}

static void look_at_bpf(struct host *h)
{
	const struct policy_profile *p = &h->guard.profile;
	struct error err = ERROR_NULL;
	bool cookie;

	if (!h->facts.cgroup_bpf) {
		static const char remedy[] =
			"as the host's root on Linux 6.1 or newer, with a cgroup v2 hierarchy below /sys/fs/cgroup";

		doctor_add(h->d, unless_accepted(&p->egress.accept), "egress", remedy,
			   "this process cannot put BPF programs on cgroups");
		doctor_add(h->d, unless_accepted(&p->audit.accept), "audit", remedy,
			   "programs that containers execute cannot be recorded");
		return;
	}
	if (egress_probe_netns_cookie(&cookie, &err) < 0)
		doctor_add(h->d, DOCTOR_LACKING, "egress",
			   "allow bpf(2) to root: look at the lockdown mode, LSMs and the container agentrun runs in",
			   "%s", err.text);
	else
		doctor_add(h->d, DOCTOR_OK, "egress", "", "BPF programs for cgroups can be loaded");
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		doctor_add(h->d, DOCTOR_LACKING, "audit", "use a kernel with CONFIG_DEBUG_INFO_BTF",
			   "/sys/kernel/btf/vmlinux: %s", strerror(errno));
}

static void look_at_log(struct host *h)
{
	_cleanup_close_ int dir = -EBADF;
	struct error err = ERROR_NULL;
	const char *name = h->rootless ? "$XDG_STATE_HOME/agentrun/log" : AUDIT_DIR;
	struct statvfs fs;
	uint64_t space;
	int r = audit_store_open(NULL, h->rootless, false, &dir, &err);

	if (r == AUDIT_E_NOT_FOUND) {
		doctor_add(h->d, DOCTOR_OK, "audit log", "", "%s will be made by the first container", name);
		return;
	}
	if (r < 0 || fstatvfs(dir, &fs) < 0) {
		doctor_add(h->d, DOCTOR_LACKING, "audit log", "make the folder root's, with mode 0700", "%s",
			   r < 0 ? err.text : strerror(errno));
		return;
	}
	space = (uint64_t)fs.f_bavail * fs.f_frsize;
	doctor_add(h->d, space < LOG_SPACE_LOW ? DOCTOR_NOTE : DOCTOR_OK, "audit log",
		   space < LOG_SPACE_LOW ? "make room: with \"onFailure\": \"stop\" a full disk ends containers" : "",
		   "%s, %llu MiB free", name, (unsigned long long)(space >> 20));
}

static void look_at_sessions(struct host *h)
{
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_NULL;

	if (file_read_all(AT_FDCWD, "/proc/filesystems", 1 << 16, &text, NULL, &err) < 0 || !strstr(text, "\toverlay\n"))
		doctor_add(h->d, DOCTOR_NOTE, "sessions", "modprobe overlay",
			   "the overlay filesystem is not loaded: sessions need it");
	else
		doctor_add(h->d, DOCTOR_OK, "sessions", "", "the overlay filesystem is there");
}

/* Settings of the host that make escapes easier, whoever runs containers. */
static void look_at_settings(struct doctor *d)
{
	static const struct { const char *file; int64_t bad; const char *found, *remedy; } settings[] = {
		{ "dev/tty/legacy_tiocsti", 1, "programs may type into their terminal (TIOCSTI)",
		  "sysctl dev.tty.legacy_tiocsti=0" },
		{ "dev/tty/ldisc_autoload", 1, "line disciplines are loaded for anybody",
		  "sysctl dev.tty.ldisc_autoload=0" },
		{ "kernel/unprivileged_bpf_disabled", 0, "any user of the host may load BPF programs",
		  "sysctl kernel.unprivileged_bpf_disabled=2" },
		{ "kernel/io_uring_disabled", 0, "any user of the host may use io_uring (containers may not)",
		  "sysctl kernel.io_uring_disabled=1" },
		{ "fs/inotify/max_user_instances", 128, "a container run as root can take all inotify instances that root may have",
		  "sysctl fs.inotify.max_user_instances=8192" },
		{ "kernel/yama/ptrace_scope", 0, "any user of the host may trace her other processes",
		  "sysctl kernel.yama.ptrace_scope=1" },
		{ "kernel/yama/ptrace_scope", 3, "nobody may trace, so no output is recorded: containers whose policy wants it are refused",
		  "boot with kernel.yama.ptrace_scope below 3, or \"audit\": {\"onFailure\": \"continue\"}" },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(settings); i++) {
		_cleanup_free_ char *path = str_printf("/proc/sys/%s", settings[i].file), *text = NULL;
		struct error err = ERROR_NULL;
		int64_t value;

		if (!path || file_read_all(AT_FDCWD, path, 64, &text, NULL, &err) < 0)
			continue;
		text[strcspn(text, "\n")] = '\0';
		if (parse_i64(text, &value) == 0 && value == settings[i].bad)
			doctor_add(d, DOCTOR_NOTE, "settings", settings[i].remedy, "%s", settings[i].found);
	}
}

static int read_facts(struct host *h, struct error *err)
{
	const struct cgroup_request place = {
		.id = "doctor",
		.manager = (enum cgroup_manager)h->d->env->cgroup_manager,
		.rootless = h->rootless || h->in_userns,
	};
	_cleanup_close_ int proc_fd = -EBADF;
	struct guard_host host = {
		.bundle_fd = -EBADF,
		.id = "doctor",
		.rootless = h->rootless,
		.host_root = geteuid() == 0 && !h->in_userns,
		.place = &place,
	};
	int r = procfs_open(&proc_fd, err);

	if (r < 0)
		return r;
	host.proc_fd = proc_fd;
	return guard_facts(&h->guard, NULL, &host, &h->guard.arena, &h->facts, err);
}

void doctor_host(struct doctor *d)
{
	struct host h = { .d = d, .guard = GUARD_NULL };
	struct error err = ERROR_NULL;

	look_at_user(&h);
	look_at_kernel(d);
	look_at_programs(d);
	if (look_at_policy(&h)) {
		if (read_facts(&h, &err) < 0) {
			doctor_add(d, DOCTOR_LACKING, "host", "", "%s", err.text);
		} else if (!h.guard.profile.passthrough) {
			look_at_limits(&h);
			look_at_bpf(&h);
		}
	}
	look_at_log(&h);
	look_at_seccomp(d);
	look_at_sessions(&h);
	look_at_settings(d);
	guard_done(&h.guard);
}
