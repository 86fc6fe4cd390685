/*
 * The kernel's messages of whom its OOM killer chose. They are there before the process
 * that was chosen has ended, which no counter and no record of its end is.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * From now on; the caller closes. Negative errno where they cannot be read: without CAP_SYSLOG, or in a
 * pid namespace, where the numbers in them are not ours.
 */
int oom_notes_open(void);
/*
 * Whether the process was chosen since the last call, or the opening. False is no proof of the
 * contrary: a message comes a moment after the kill, and its form is the kernel's own matter. fd may be negative.
 */
bool oom_notes_name(int fd, pid_t pid);
/* The same of one record as read from /dev/kmsg: "PRIORITY,NUMBER,TIME,FLAGS;TEXT". */
bool oom_note_is_of(const char *record, pid_t pid);
