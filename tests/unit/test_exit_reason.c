/*
 * Why something ended, from all kinds of evidence.
 */
#include <signal.h>

#include "monitor/exit_reason.h"
#include "tap.h"
#include "util/cleanup.h"

#define EXIT(code) ((code) << 8)

static const struct {
	const char *name;
	struct exit_evidence e;
	const char *reason, *detail;
} rows[] = {
	{ "success", { .status = EXIT(0) }, "exited", "" },
	{ "failure", { .status = EXIT(3) }, "exited", "" },
	{ "nobody saw it", { .status = -1 }, "unknown", "" },
	{ "nobody saw it, limits hit", { .status = -1, .oom_kills = 1 }, "unknown",
	  "the kernel killed 1 of its processes for want of memory" },
	{ "a signal", { .status = SIGTERM }, "signal", "signal 15" },
	{ "a signal and a core", { .status = SIGSEGV | 0x80 }, "signal", "signal 11" },
	{ "the filter", { .status = SIGSYS | 0x80 }, "signal",
	  "signal 31: a system call that a filter answers so" },
	{ "file size", { .status = SIGXFSZ }, "signal", "signal 25: a file larger than its limit" },
	{ "killed by somebody", { .status = SIGKILL, .oom = EXIT_OOM_SPARED }, "signal", "signal 9" },
	{ "oom", { .status = SIGKILL, .oom = EXIT_OOM_CHOSEN, .oom_kills = 1, .memory_limit = 1 << 20 }, "oom",
	  "the kernel killed 1 of its processes for want of memory (limit 1048576 bytes)" },
	{ "oom, not counted", { .status = SIGKILL, .oom = EXIT_OOM_CHOSEN }, "oom",
	  "the kernel killed it for want of memory" },
	{ "oom, no record", { .status = SIGKILL, .oom_kills = 2 }, "oom",
	  "the kernel killed 2 of its processes for want of memory" },
	{ "killed by somebody after another's oom",
	  { .status = SIGKILL, .oom = EXIT_OOM_SPARED, .oom_kills = 1 },
	  "signal", "signal 9; the kernel killed 1 of its processes for want of memory" },
	{ "chosen, but it ended by itself", { .status = EXIT(0), .oom = EXIT_OOM_CHOSEN }, "exited", "" },
	{ "a child's oom", { .status = EXIT(137), .oom = EXIT_OOM_SPARED, .oom_kills = 1 }, "oom-child",
	  "it exited with 137; the kernel killed 1 of its processes for want of memory" },
	{ "a child's oom that it got over", { .status = EXIT(0), .oom_kills = 1 }, "exited",
	  "the kernel killed 1 of its processes for want of memory" },
	{ "pids", { .status = EXIT(1), .pids_refused = 4, .pids_limit = 64 }, "pids",
	  "it exited with 1; the limit of 64 of processes refused 4" },
	{ "pids that it got over", { .status = EXIT(0), .pids_refused = 4 }, "exited",
	  "the limit of processes refused 4" },
	{ "memory before pids", { .status = EXIT(1), .pids_refused = 1, .oom_kills = 1 }, "oom-child",
	  "it exited with 1; the kernel killed 1 of its processes for want of memory; the limit of processes refused 1" },
	{ "disk", { .status = EXIT(28), .disk_full = "/tmp" }, "disk",
	  "it exited with 28; its /tmp was full when it ended" },
	{ "disk that it got over", { .status = EXIT(0), .disk_full = "/tmp" }, "exited",
	  "its /tmp was full when it ended" },
	{ "disk, written to by memory", { .status = SIGBUS, .disk_full = "/dev/shm" }, "disk",
	  "signal 7; its /dev/shm was full when it ended" },
	{ "killed beside a full disk", { .status = SIGTERM, .disk_full = "/tmp" }, "signal",
	  "signal 15; its /tmp was full when it ended" },
	{ "deadline", { .status = SIGKILL, .ordered = EXIT_REASON_DEADLINE, .why = "1 h are over" }, "deadline",
	  "1 h are over" },
	{ "deadline, ended at the first word", { .status = EXIT(0), .ordered = EXIT_REASON_DEADLINE }, "deadline",
	  "it exited with 0" },
	{ "deadline before oom", { .status = SIGKILL, .ordered = EXIT_REASON_DEADLINE, .oom = EXIT_OOM_CHOSEN },
	  "deadline", "" },
	{ "exec deadline", { .status = SIGTERM, .ordered = EXIT_REASON_EXEC_DEADLINE }, "exec-deadline",
	  "signal 15" },
	{ "policy", { .status = SIGKILL, .ordered = EXIT_REASON_POLICY, .why = "the log cannot be written" },
	  "policy", "the log cannot be written" },
	{ "with its container", { .status = SIGKILL, .container_ending = true, .oom = EXIT_OOM_SPARED },
	  "container-ended", "" },
	{ "oom while its container ends", { .status = SIGKILL, .container_ending = true, .oom = EXIT_OOM_CHOSEN },
	  "oom", "the kernel killed it for want of memory" },
	{ "by itself while its container ends", { .status = EXIT(2), .container_ending = true }, "exited", "" },
	{ "unrecorded programs", { .status = EXIT(137), .unrecorded = 7 }, "exited",
	  "7 programs were killed because they could not be recorded" },
};

static void test_long(void)
{
	char why[2 * EXIT_DETAIL_MAX];
	struct exit_evidence e = { .status = SIGTERM, .why = why, .oom_kills = 1 };
	struct exit_verdict v;

	memset(why, 'w', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	exit_reason_judge(&e, &v);
	is_str(v.detail, "signal 15; the kernel killed 1 of its processes for want of memory",
	       "words that do not fit are left out");
	why[EXIT_DETAIL_MAX - 11] = '\0';
	exit_reason_judge(&e, &v);
	is_int((long long)strlen(v.detail), EXIT_DETAIL_MAX - 11, "and so are those after them");
}

int main(void)
{
	struct exit_verdict v;
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < ELEMENTSOF(rows); i++) {
		exit_reason_judge(&rows[i].e, &v);
		is_str(enum_to_name(&exit_reason_table, v.reason), rows[i].reason, rows[i].name);
		is_str(v.detail, rows[i].detail, "  in words");
	}
	test_long();
	return TAP_END();
}
