/*
 * What a process may be: each row is a policy, the members of a process and what they
 * become; for the first process and for an exec.
 */
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include "tests/unit/test_policy_fixture.h"

#define EIGHT                                                                             \
	(1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER | 1u << CAP_FSETID | \
	 1u << CAP_KILL | 1u << CAP_SETGID | 1u << CAP_SETUID | 1u << CAP_NET_BIND_SERVICE)
#define ALL5(list_)                                                                             \
	"\"capabilities\":{\"bounding\":" list_ ",\"permitted\":" list_ ",\"effective\":" list_ \
	",\"inheritable\":" list_ ",\"ambient\":" list_ "}"
#define THREE(list_) \
	"\"capabilities\":{\"bounding\":" list_ ",\"permitted\":" list_ ",\"effective\":" list_ "}"
#define U0 "\"user\":{\"uid\":0,\"gid\":0}"
#define U1 "\"user\":{\"uid\":1000,\"gid\":1000}"
#define DOCKER                                                                             \
	"[\"CAP_CHOWN\",\"CAP_DAC_OVERRIDE\",\"CAP_FSETID\",\"CAP_FOWNER\",\"CAP_MKNOD\"," \
	"\"CAP_NET_RAW\",\"CAP_SETGID\",\"CAP_SETUID\",\"CAP_SETFCAP\",\"CAP_SETPCAP\","   \
	"\"CAP_NET_BIND_SERVICE\",\"CAP_SYS_CHROOT\",\"CAP_KILL\",\"CAP_AUDIT_WRITE\"]"
#define DANGEROUS                                                                     \
	"[\"CAP_SYS_ADMIN\",\"CAP_SYS_MODULE\",\"CAP_SYS_RAWIO\",\"CAP_SYS_PTRACE\"," \
	"\"CAP_NET_ADMIN\",\"CAP_BPF\",\"CAP_DAC_READ_SEARCH\",\"CAP_CHECKPOINT_RESTORE\"]"

struct row {
	const char *name, *policy, *process;
	uint64_t bounding, permitted, effective; /* inheritable and ambient are always empty */
	bool no_new_privs;
	const char *decision; /* of capabilities; NULL = any */
};

static const struct row rows[] = {
	/* clang-format off */
	{ "root without capabilities", NULL, U0, 0, 0, 0, true, "kept none > none" },
	{ "user without capabilities", NULL, U1, 0, 0, 0, true, "kept none > none" },
	{ "root, Docker's fourteen", NULL, U0 "," THREE(DOCKER), EIGHT, EIGHT, EIGHT, true, NULL },
	{ "root, in all five sets", NULL, U0 "," ALL5(DOCKER), EIGHT, EIGHT, EIGHT, true, NULL },
	{ "root, dangerous", NULL, U0 "," ALL5(DANGEROUS), 0, 0, 0, true, "clamped CAP_DAC_READ_SEARCH, CAP_NET_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_BPF, CAP_CHECKPOINT_RESTORE > none" },
	{ "root, one that is allowed", NULL, U0 "," THREE("[\"CAP_CHOWN\"]"), 1, 1, 1, true, "kept CAP_CHOWN > CAP_CHOWN" },
	{ "root, one in ambient", NULL, U0 "," ALL5("[\"CAP_CHOWN\"]"), 1, 1, 1, true, "clamped CAP_CHOWN > CAP_CHOWN" },
	{ "root, bounding only", NULL, U0 ",\"capabilities\":{\"bounding\":[\"CAP_CHOWN\",\"CAP_SYS_ADMIN\"]}", 1, 0, 0, true, "clamped CAP_CHOWN, CAP_SYS_ADMIN > CAP_CHOWN" },
	{ "root, effective only", NULL, U0 ",\"capabilities\":{\"effective\":[\"CAP_CHOWN\"]}", 0, 0, 1, true, NULL },
	{ "user, Docker's fourteen", NULL, U1 "," THREE(DOCKER), 0, 0, 0, true, NULL },
	{ "user, in all five sets", NULL, U1 "," ALL5(DOCKER), 0, 0, 0, true, NULL },
	{ "user, allowed by policy", "\"capabilities\":{\"user\":[\"CAP_NET_BIND_SERVICE\"]}", U1 "," ALL5("[\"CAP_NET_BIND_SERVICE\",\"CAP_CHOWN\"]"), 1 << 10, 1 << 10, 1 << 10, true, "clamped CAP_CHOWN, CAP_NET_BIND_SERVICE > CAP_NET_BIND_SERVICE" },
	{ "root, wider policy", "\"capabilities\":{\"root\":[\"CAP_SYS_ADMIN\"]}", U0 "," THREE(DANGEROUS), 1 << 21, 1 << 21, 1 << 21, true, NULL },
	{ "root, empty policy", "\"capabilities\":{\"root\":[]}", U0 "," THREE(DOCKER), 0, 0, 0, true, NULL },
	{ "root, policy without capabilities", "\"env\":{}", U0 "," THREE(DOCKER), EIGHT, EIGHT, EIGHT, true, NULL },
	{ "setuid tools allowed", "\"noNewPrivileges\":false", U0, 0, 0, 0, false, NULL },
	{ "setuid tools allowed, not wanted", "\"noNewPrivileges\":false", U0 ",\"noNewPrivileges\":true", 0, 0, 0, true, NULL },
	{ "no_new_privs asked off", NULL, U0 ",\"noNewPrivileges\":false", 0, 0, 0, true, NULL },
	{ "strict", "\"inherits\":\"builtin:strict\"", U0 "," THREE(DOCKER), 0, 0, 0, true, NULL },
	{ "sandbox", "\"inherits\":\"builtin:sandbox\"", U0 "," THREE(DOCKER), 0, 0, 0, true, NULL },
	/* clang-format on */
};

static void check_caps(const struct row *row, const struct spec_process *p, const char *how)
{
	const struct spec_capabilities *c = p->capabilities;

	if (!ok(c != NULL, "%s, %s: the sets are there", row->name, how))
		return;
	is_int(c->bounding, row->bounding, row->name);
	is_int(c->permitted, row->permitted, row->name);
	is_int(c->effective, row->effective, row->name);
	is_int(c->inheritable | c->ambient, 0, row->name);
	is_int(p->no_new_privileges, row->no_new_privs, row->name);
}

static void first_process(const struct row *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char got[1024];

	if (!decided_make(&d, &facts, row->policy, NULL, NULL, row->process, NULL))
		return;
	is_int(d.r, 0, row->name);
	check_caps(row, d.spec->process, "create");
	decided_text(&d.v, "capabilities", got, sizeof(got));
	if (row->decision)
		is_str(got, row->decision, row->name);
}

/* The same members as an exec with its own capabilities: nobody asks the container's. */
static void further_process(const struct row *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	struct spec_process *proc = NULL;
	char text[2048];
	int r;

	if (!decided_prepare(&d, row->policy, NULL, NULL, NULL, NULL))
		return;
	(void)snprintf(text, sizeof(text), "{\"args\":[\"sh\"],\"cwd\":\"/\",%s}", row->process);
	if (spec_parse_process("p", text, strlen(text), &d.arena, &proc, &d.err) < 0) {
		ok(false, "%s: %s", row->name, d.err.text);
		return;
	}
	r = policy_apply_process(proc, d.spec->process, &d.arena, &d.profile, &facts, &d.v, &d.err);
	is_int(r, d.profile.exec.allowed.n ? 0 : -EPERM, row->name);
	check_caps(row, proc, "exec");
}

static void exec_inherits(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	struct spec_process root = { .cwd = NULL }, user = { .user = { .uid = 5 } };

	if (!decided_make(&d, &facts, NULL, NULL, NULL, U0 "," ALL5(DOCKER), NULL))
		return;
	is_int(policy_apply_process(&root, d.spec->process, &d.arena, &d.profile, &facts, &d.v,
				    &d.err),
	       0, "exec as root without capabilities");
	is_int(root.capabilities->effective, EIGHT, "has the container's");
	is_int(root.rlimits.count, 0, "exec leaves limits to the container's");
	is_int(policy_apply_process(&user, d.spec->process, &d.arena, &d.profile, &facts, &d.v,
				    &d.err),
	       0, "exec as a user without capabilities");
	is_int(user.capabilities->effective | user.capabilities->bounding, 0,
	       "does not have those of root");
}

/* Limits: the whole list as text. */
static const struct {
	const char *name, *policy, *rlimits, *control, *decision, *list;
} limits[] = {
	/* clang-format off */
	{ "limits: absent", NULL, "", "rlimit RLIMIT_NOFILE", "added nothing > 1024:65536", "core=0:0 nofile=1024:65536 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: core", NULL, "{\"type\":\"RLIMIT_CORE\",\"soft\":0,\"hard\":18446744073709551615}", "rlimit RLIMIT_CORE", "clamped 0:unlimited > 0:0", "core=0:0 nofile=1024:65536 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: core of 0", NULL, "{\"type\":\"RLIMIT_CORE\",\"soft\":0,\"hard\":0}", "rlimit RLIMIT_CORE", "", "core=0:0 nofile=1024:65536 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: fewer files", NULL, "{\"type\":\"RLIMIT_NOFILE\",\"soft\":64,\"hard\":128}", "rlimit RLIMIT_NOFILE", "", "nofile=64:128 core=0:0 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: more files", NULL, "{\"type\":\"RLIMIT_NOFILE\",\"soft\":1048576,\"hard\":1048576}", "rlimit RLIMIT_NOFILE", "clamped 1048576:1048576 > 65536:65536", "nofile=65536:65536 core=0:0 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: more files, hard only", NULL, "{\"type\":\"RLIMIT_NOFILE\",\"soft\":1024,\"hard\":1048576}", "rlimit RLIMIT_NOFILE", "clamped 1024:1048576 > 1024:65536", "nofile=1024:65536 core=0:0 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: files of the policy", "\"rlimits\":{\"nofile\":2048}", "", "rlimit RLIMIT_NOFILE", "added nothing > 1024:2048", "core=0:0 nofile=1024:2048 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: no cap", "\"rlimits\":{\"nofile\":\"unlimited\",\"core\":\"unlimited\"}", "{\"type\":\"RLIMIT_NOFILE\",\"soft\":1048576,\"hard\":1048576}", "rlimit RLIMIT_NOFILE", "", "nofile=1048576:1048576 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: refused", "\"rlimits\":{\"excess\":\"refuse\"}", "{\"type\":\"RLIMIT_NOFILE\",\"soft\":1048576,\"hard\":1048576}", "rlimit RLIMIT_NOFILE", "refused 1048576:1048576", NULL },
	{ "limits: priority", NULL, "{\"type\":\"RLIMIT_RTPRIO\",\"soft\":99,\"hard\":99},{\"type\":\"RLIMIT_NICE\",\"soft\":40,\"hard\":40}", "rlimit RLIMIT_RTPRIO", "clamped 99:99 > 0:0", "rtprio=0:0 nice=0:0 core=0:0 nofile=1024:65536 sigpending=4096:4096" },
	{ "limits: not capped by default", NULL, "{\"type\":\"RLIMIT_STACK\",\"soft\":1,\"hard\":18446744073709551615}", "rlimit RLIMIT_STACK", "", "stack=1:unlimited core=0:0 nofile=1024:65536 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: capped by policy", "\"rlimits\":{\"stack\":8388608}", "{\"type\":\"RLIMIT_STACK\",\"soft\":1,\"hard\":18446744073709551615}", "rlimit RLIMIT_STACK", "clamped 1:unlimited > 1:8388608", "stack=1:8388608 core=0:0 nofile=1024:65536 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	{ "limits: capped by policy, inherited", "\"rlimits\":{\"nproc\":10}", "", "rlimit RLIMIT_NPROC", "added nothing > 10:10", "core=0:0 nproc=10:10 nofile=1024:65536 sigpending=4096:4096 nice=0:0 rtprio=0:0" },
	/* clang-format on */
};

static void list_text(const struct spec_rlimits *list, char *buf, size_t size)
{
	size_t i, k, len = 0;

	buf[0] = '\0';
	for (i = 0; i < list->count && len < size; i++) {
		const struct spec_rlimit *r = &list->items[i];
		char name[32] = "", hard[32] = "unlimited";
		const char *full = enum_to_name(&spec_rlimit_table, r->type);

		for (k = 0; full[7 + k] && k + 1 < sizeof(name); k++)
			name[k] = (char)(full[7 + k] | 0x20);
		if (r->hard != UINT64_MAX)
			(void)snprintf(hard, sizeof(hard), "%" PRIu64, r->hard);
		len += (size_t)snprintf(buf + len, size - len, "%s%s=%" PRIu64 ":%s",
					len ? " " : "", name, r->soft, hard);
	}
}

static void limit_rows(void)
{
	struct policy_rlimit have[POLICY_RLIMITS];
	struct policy_facts facts = fixture_facts();
	char process[512], got[512];
	size_t i;

	for (i = 0; i < POLICY_RLIMITS; i++)
		have[i] = (struct policy_rlimit){ UINT64_MAX, UINT64_MAX };
	have[RLIMIT_NOFILE] = (struct policy_rlimit){ 1024, 1048576 };
	facts.rlimits = have;
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };

		(void)snprintf(process, sizeof(process), "\"rlimits\":[%s]", limits[i].rlimits);
		if (!decided_make(&d, &facts, limits[i].policy, NULL, NULL, process, NULL))
			continue;
		decided_text(&d.v, limits[i].control, got, sizeof(got));
		is_str(got, limits[i].decision, limits[i].name);
		is_int(d.r, limits[i].list ? 0 : -EPERM, limits[i].name);
		if (!limits[i].list)
			continue;
		list_text(&d.spec->process->rlimits, got, sizeof(got));
		is_str(got, limits[i].list, limits[i].name);
	}
}

/* The OOM score: what the configuration says, what the runtime has, what comes out. */
static const struct {
	const char *name, *process;
	int64_t own;
	const char *decision;
	bool set;
	int64_t value;
} scores[] = {
	/* clang-format off */
	{ "score: absent, host 0", "", 0, "", false, 0 },
	{ "score: 0, host 0", "\"oomScoreAdj\":0", 0, "", true, 0 },
	{ "score: higher", "\"oomScoreAdj\":500", 0, "", true, 500 },
	{ "score: protected", "\"oomScoreAdj\":-1000", 0, "clamped -1000 > 0", true, 0 },
	{ "score: pod sandbox", "\"oomScoreAdj\":-998", -999, "clamped -998 > 0", true, 0 },
	{ "score: absent, the engine is protected", "", -500, "added -500 > 0", true, 0 },
	{ "score: absent, user session", "", 200, "", false, 0 },
	{ "score: lower than the session's", "\"oomScoreAdj\":100", 200, "clamped 100 > 200", true, 200 },
	{ "score: 0 in a user session", "\"oomScoreAdj\":0", 200, "clamped 0 > 200", true, 200 },
	{ "score: higher than the session's", "\"oomScoreAdj\":300", 200, "", true, 300 },
	/* clang-format on */
};

static void score_rows(void)
{
	char got[512];
	size_t i;

	for (i = 0; i < sizeof(scores) / sizeof(scores[0]); i++) {
		struct policy_facts facts = fixture_facts();
		_cleanup_decided_ struct decided d = { .r = 0 };

		facts.oom_score_adj = scores[i].own;
		if (!decided_make(&d, &facts, NULL, NULL, NULL,
				  scores[i].process[0] ? scores[i].process : NULL, NULL))
			continue;
		decided_text(&d.v, "oom_score_adj", got, sizeof(got));
		is_str(got, scores[i].decision, scores[i].name);
		is_int(d.spec->process->oom_score_adj.set, scores[i].set, scores[i].name);
		if (scores[i].set)
			is_int(d.spec->process->oom_score_adj.value, scores[i].value,
			       scores[i].name);
	}
}

static const struct {
	const char *name, *policy, *process, *decision;
	bool scheduler, io;
} schedules[] = {
	/* clang-format off */
	{ "schedule: FIFO", NULL, "\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":10}", "dropped SCHED_FIFO > SCHED_OTHER", false, false },
	{ "schedule: RR", NULL, "\"scheduler\":{\"policy\":\"SCHED_RR\",\"priority\":1}", "dropped SCHED_RR > SCHED_OTHER", false, false },
	{ "schedule: deadline", NULL, "\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":1,\"deadline\":2,\"period\":2}", "dropped SCHED_DEADLINE > SCHED_OTHER", false, false },
	{ "schedule: batch", NULL, "\"scheduler\":{\"policy\":\"SCHED_BATCH\"}", "", true, false },
	{ "schedule: nice", NULL, "\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":10}", "", true, false },
	{ "schedule: not nice", NULL, "\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":-20}", "clamped nice -20 > nice 0", true, false },
	{ "schedule: allowed", "\"resources\":{\"realtime\":true}", "\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":10}", "", true, false },
	{ "schedule: I/O", NULL, "\"ioPriority\":{\"class\":\"IOPRIO_CLASS_RT\",\"priority\":0}", "dropped IOPRIO_CLASS_RT > the usual I/O priority", false, false },
	{ "schedule: I/O idle", NULL, "\"ioPriority\":{\"class\":\"IOPRIO_CLASS_IDLE\",\"priority\":0}", "", false, true },
	/* clang-format on */
};

static void schedule_rows(void)
{
	const struct policy_facts facts = fixture_facts();
	char got[512];
	size_t i;

	for (i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };

		if (!decided_make(&d, &facts, schedules[i].policy, NULL, NULL, schedules[i].process,
				  NULL))
			continue;
		decided_text(&d.v, "realtime", got, sizeof(got));
		is_str(got, schedules[i].decision, schedules[i].name);
		is_int(d.spec->process->scheduler != NULL, schedules[i].scheduler,
		       schedules[i].name);
		is_int(d.spec->process->io_priority != NULL, schedules[i].io, schedules[i].name);
	}
}

static void no_exec_in_a_sandbox(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	struct spec_process proc = { .cwd = NULL };

	if (!decided_prepare(&d, NULL, "sandbox", NULL, NULL, NULL))
		return;
	is_int(policy_apply_process(&proc, d.spec->process, &d.arena, &d.profile, &facts, &d.v,
				    &d.err),
	       -EPERM, "no exec in a pod's sandbox");
	ok(strstr(d.err.text, "policy: exec: a further process is refused by "
			      "profiles.sandbox.exec.allow (built-in") != NULL,
	   "%s", d.err.text);
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		first_process(&rows[i]);
		further_process(&rows[i]);
	}
	exec_inherits();
	limit_rows();
	score_rows();
	schedule_rows();
	no_exec_in_a_sandbox();
	return TAP_END();
}
