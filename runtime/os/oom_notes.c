/*
 * Owns the reading of /dev/kmsg. One read(2) gives one record. User space can write records, too, but
 * not such of the kernel's facility, which is 0.
 */
#include "os/oom_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/str.h"

/* PRINTK_MESSAGE_MAX of Linux 6.x, rounded up. */
#define RECORD_MAX 8192
/* A ring of 1 MiB has fewer. */
#define RECORDS_MAX 65536
#define FIRST_PID_NS 0xEFFFFFFCu /* PROC_PID_INIT_INO */

static const char *const forms[] = {
	"Memory cgroup out of memory: Killed process ",
	"Out of memory: Killed process ",
	"Out of memory (oom_kill_allocating_task): Killed process ",
};

bool oom_note_is_of(const char *record, pid_t pid)
{
	const char *text = strchr(record, ';'), *rest = NULL;
	unsigned priority;
	int found, end = 0;
	size_t i;

	if (!text || sscanf(record, "%u,", &priority) != 1 || priority > 7)
		return false;
	for (i = 0; i < ELEMENTSOF(forms) && !rest; i++)
		rest = str_after(text + 1, forms[i]);
	return rest && sscanf(rest, "%d (%n", &found, &end) == 1 && end > 0 && found == pid;
}

int oom_notes_open(void)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != FIRST_PID_NS)
		return -EOPNOTSUPP;
	fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		return -errno;
	return take_fd(&fd);
}

bool oom_notes_name(int fd, pid_t pid)
{
	char record[RECORD_MAX];
	bool found = false;
	unsigned i;

	for (i = 0; fd >= 0 && i < RECORDS_MAX && !found; i++) {
		ssize_t n = read(fd, record, sizeof(record) - 1);

		/* Older ones were overwritten meanwhile: the next read goes on with what is there. */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		record[n] = '\0';
		found = oom_note_is_of(record, pid);
	}
	return found;
}
