/*
 * The probes under each shipped profile, loaded directly, as root with the capabilities that an
 * agent's root may have and as a user with none: once with the profile's errnos, once with all
 * denials turned into one errno that no kernel gives, so that the filter's answer and the kernel's
 * cannot be confused. From the second the score table is made; its text is compared with
 * tests/golden/seccomp-score.md, which `test_probes --table` writes.
 */
#include "probe.h"
#include "score.h"
#include "score_row.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "filter/filter.h"
#include "filter/filter_agent.h"
#include "spec/spec.h"
#include "../../unit/tap.h"
#include "util/fd.h"
#include "util/str.h"

/* CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE */
#define CAPS_AGENT 0x4fbull
/* What Docker gives: the agent's, and SETPCAP NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP. */
#define CAPS_DOCKER 0xa80425fbull
#define USER 65534

/* How a process is set up, and what its probes gave: shared with the child that runs them. */
struct context {
	const char *title;
	struct filter *filter; /* NULL = none */
	uint64_t caps;
	bool user;
	bool no_new_privs;
};

static int caps_apply(uint64_t caps)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = {
		{ .effective = (uint32_t)caps, .permitted = (uint32_t)caps },
		{ .effective = (uint32_t)(caps >> 32), .permitted = (uint32_t)(caps >> 32) },
	};

	return (int)syscall(SYS_capset, &h, d);
}

/* The bounding set and the ids first, then the filter, then the capabilities it needs to load. */
static int set_up(const struct context *c)
{
	struct error err = ERROR_NULL;
	int listener, cap;

	for (cap = 0; geteuid() == 0 && cap < 64; cap++)
		if (!(c->caps >> cap & 1))
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (c->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return errno;
	if (c->user && geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 ||
	     setresuid(USER, USER, USER) < 0))
		return errno;
	if (c->filter && filter_load(c->filter, &listener, &err) < 0)
		return -err.code;
	if (geteuid() == 0 && caps_apply(c->caps) < 0)
		return errno;
	/* Undone by the change of uid; reading one's own /proc needs it. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return 0;
}

static void run(const struct context *c, struct score_results *r)
{
	struct score_results *shared;
	const struct probe *p;
	pid_t pid;

	memset(r, 0, sizeof(*r));
	r->set_up = ECHILD;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return;
	*shared = *r;
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		shared->set_up = set_up(c);
		for (; shared->set_up == 0 && (p = probe_at(shared->count)); shared->count++)
			shared->got[shared->count] = probe_run(p);
		_exit(0);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	*r = *shared;
	(void)munmap(shared, sizeof(*shared));
}

/* Denials of a program become SCORE_MARK; kills stay. */
static void mark(struct filter *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->insns[i].code == (BPF_RET | BPF_K) &&
		    (f->insns[i].k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
			f->insns[i].k = SECCOMP_RET_ERRNO | SCORE_MARK;
}

static bool row(const struct context *c, const struct score_results *marked, struct buf *table)
{
	const struct score_process p = { .title = c->title,
					 .caps = c->user ? 0 : c->caps,
					 .no_new_privs = c->no_new_privs,
					 .marked = marked };

	return score_row(&p, table);
}

static void table_head(struct buf *table)
{
	buf_adds(table,
		 "# Published kernel exploits that a process cannot start\n\n"
		 "Written by tests/attacks/probes/test_probes. An exploit counts as closed when at least one "
		 "call\nor right that it needs as published is refused to the process, shown by a probe of "
		 "that call; this\ndoes not say that the bug cannot be reached in another way. The second "
		 "column counts only those\nwhose known ways round are refused too (32-bit entry points, "
		 "sendfile for splice). Inputs:\ntests/data/cve-primitives.tsv, tests/data/kernelctf.tsv.\n\n"
		 "| process | exploits by hand | with known ways round | kernelCTF | open |\n"
		 "|---|---|---|---|---|\n");
}

/* The errnos as an agent sees them. */
static void check_errnos(const struct context *c, int profile)
{
	struct score_results plain;
	int n, wrong = 0;

	run(c, &plain);
	if (!ok(plain.set_up == 0, "%s: loaded", c->title)) {
		printf("# %s\n", strerror(plain.set_up));
		return;
	}
	for (n = 0; n < plain.count; n++) {
		int want = probe_at(n)->want[profile];

		if (want != PROBE_REACHES ? plain.got[n] == want :
					    plain.got[n] != PROBE_KILLED && plain.got[n] != -1)
			continue;
		wrong++;
		printf("# %s: %d, want %d\n", probe_at(n)->name, plain.got[n], want);
	}
	ok(wrong == 0 && plain.count > 150, "%s: %d probes get the profile's answer", c->title,
	   plain.count);
}

static void check_refusals(const struct context *c, int profile, struct score_results *marked)
{
	int n, wrong = 0;

	run(c, marked);
	for (n = 0; n < marked->count; n++) {
		int want = probe_at(n)->want[profile];
		int mark_want = want == PROBE_REACHES || want == PROBE_KILLED ? want : SCORE_MARK;

		if (mark_want != PROBE_REACHES ? marked->got[n] == mark_want :
						 marked->got[n] != SCORE_MARK && marked->got[n] != PROBE_KILLED)
			continue;
		wrong++;
		printf("# %s: %d\n", probe_at(n)->name, marked->got[n]);
	}
	ok(marked->set_up == 0 && wrong == 0, "%s: the filter refuses what it should and nothing more",
	   c->title);
}

static void profiles(struct buf *table)
{
	struct error err = ERROR_NULL;
	int profile, user;

	for (profile = 0; profile < PROBE_PROFILES; profile++) {
		const char *name = probe_profile_names[profile];
		size_t before = table->len;
		_cleanup_free_ char *first = NULL;

		for (user = 0; user < 2; user++) {
			_cleanup_free_ char *title = str_printf("%s as %s", name, user ? "a user" : "root");
			struct filter f = FILTER_NULL;
			struct context c = { .title = title, .filter = &f, .caps = user ? 0 : CAPS_AGENT,
					     .user = user, .no_new_privs = true };
			struct score_results marked;

			if (!user && geteuid() != 0)
				continue;
			if (!ok(filter_agent_builtin(name, &f, &err) == 0, "%s", name))
				continue;
			check_errnos(&c, profile);
			mark(&f);
			check_refusals(&c, profile, &marked);
			c.title = name;
			if (user && first)
				table->len = before;
			ok(row(&c, &marked, table), "%s: scored", title);
			if (first)
				is_str(table->data + before, first, "root and a user score the same");
			else
				first = str_printf("%s", table->data + before);
			filter_done(&f);
		}
	}
}

/* The filter that Docker 20.10 gave runc, taken from a captured configuration. */
static int docker_filter(struct filter *ret, struct error *err)
{
	_cleanup_free_ char *path = score_data_path("data/configs/docker20-run.json");
	_cleanup_free_ char *text = NULL;
	struct spec *spec;
	size_t len;
	int r;

	r = file_read_all(AT_FDCWD, path, 1 << 22, &text, &len, err);
	if (r == 0)
		r = spec_parse("docker20-run.json", text, len, &spec, err);
	if (r < 0)
		return r;
	r = filter_compile(spec->linux_cfg->seccomp, false, -EBADF, ret, err);
	spec_free(spec);
	return r;
}

/* For comparison: what the probes say without a filter of ours. */
static void baselines(struct buf *table)
{
	struct filter docker = FILTER_NULL;
	struct context c = { .title = "no filter, Docker's capabilities", .caps = CAPS_DOCKER };
	struct error err = ERROR_NULL;
	struct score_results marked;

	run(&c, &marked);
	ok(marked.set_up == 0 && row(&c, &marked, table), "%s", c.title);
	if (!ok(docker_filter(&docker, &err) == 0, "Docker's filter")) {
		printf("# %s\n", err.text);
		return;
	}
	mark(&docker);
	c.filter = &docker;
	c.title = "Docker 20.10's filter and capabilities";
	run(&c, &marked);
	ok(marked.set_up == 0 && row(&c, &marked, table), "%s", c.title);
	c.title = "the same, no_new_privs, no capabilities";
	c.caps = 0;
	c.no_new_privs = true;
	run(&c, &marked);
	ok(marked.set_up == 0 && row(&c, &marked, table), "%s", c.title);
	filter_done(&docker);
}

static void compare(const struct buf *table)
{
	_cleanup_free_ char *path = score_data_path("golden/seccomp-score.md");
	_cleanup_free_ char *want = NULL;
	struct error err = ERROR_NULL;

	if (file_read_all(AT_FDCWD, path, 1 << 16, &want, NULL, &err) < 0)
		printf("# %s\n", err.text);
	if (!ok(want && str_eq(want, table->data), "the score is the one in tests/golden/seccomp-score.md"))
		printf("# if it should change: test_probes --table >tests/golden/seccomp-score.md\n");
}

/* A filter that is there already would answer in ours' place. */
static bool filtered_already(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
}

int main(int argc, char **argv)
{
	_cleanup_buf_ struct buf table = BUF_NULL;
	bool only_table = argc == 2 && str_eq(argv[1], "--table");
	int out = -1, status;

	if (filtered_already())
		return TAP_SKIP_ALL("a seccomp filter is in force here");
	if (only_table) {
		out = fcntl(1, F_DUPFD_CLOEXEC, 3);
		(void)!freopen("/dev/null", "we", stdout);
	}
	TAP_BEGIN();
	table_head(&table);
	profiles(&table);
	if (geteuid() == 0) {
		baselines(&table);
		if (!only_table)
			compare(&table);
	}
	status = TAP_END();
	if (only_table && status == 0)
		(void)fd_write_all(out, table.data, table.len);
	return status;
}
