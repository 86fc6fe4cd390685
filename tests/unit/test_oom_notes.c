/*
 * The kernel's messages about its OOM killer, as /dev/kmsg gives them.
 */
#include "os/oom_notes.h"

#include "tap.h"
#include "util/cleanup.h"

static const struct {
	const char *name, *record;
	bool is;
} rows[] = {
	{ "of a memory cgroup",
	  "3,5091,29004462842,-;Memory cgroup out of memory: Killed process 2776 (tail) total-vm:67336kB, UID:0\n", true },
	{ "of the host", "3,1,1,-;Out of memory: Killed process 2776 (a b) c) total-vm:1kB\n", true },
	{ "by the sysctl", "3,1,1,-;Out of memory (oom_kill_allocating_task): Killed process 2776 (x)\n", true },
	{ "another process", "3,1,1,-;Memory cgroup out of memory: Killed process 27760 (tail)\n", false },
	{ "a part of the number", "3,1,1,-;Memory cgroup out of memory: Killed process 277 (6 (tail)\n", false },
	{ "no name", "3,1,1,-;Memory cgroup out of memory: Killed process 2776", false },
	{ "written by a program", "11,1,1,-;Memory cgroup out of memory: Killed process 2776 (tail)\n", false },
	{ "in the middle, as a name could have it",
	  "3,1,1,-;x: Memory cgroup out of memory: Killed process 2776 (tail)\n", false },
	{ "in the further lines", "3,1,1,-;x\n DEVICE=;Out of memory: Killed process 2776 (tail)\n", false },
	{ "no message", "", false },
	{ "no text", "3,1,1,-", false },
	{ "no priority", ",1,1,-;Out of memory: Killed process 2776 (tail)\n", false },
};

int main(void)
{
	int fd = oom_notes_open();
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < ELEMENTSOF(rows); i++)
		is_int(oom_note_is_of(rows[i].record, 2776), rows[i].is, rows[i].name);
	ok(!oom_notes_name(-EBADF, 1), "without a descriptor nothing is known");
	if (fd >= 0) {
		ok(!oom_notes_name(fd, 1), "process 1 was not chosen");
		(void)close(fd);
	} else {
		printf("# the messages of the kernel cannot be read here\n");
	}
	return TAP_END();
}
