/*
 * The list of commands. Adding one means: a cmd_*.c file, a line here, a line in
 * commands.h, and the man page and completions (tests/lint/docs compares them).
 */
#include "commands/commands.h"

const struct command *const command_table[] = {
	&cmd_audit, &cmd_checkpoint, &cmd_commit,	&cmd_create, &cmd_delete, &cmd_diff,	&cmd_doctor,	&cmd_events, &cmd_exec,    &cmd_explain, &cmd_features,
	&cmd_kill,	 &cmd_list,   &cmd_pause,  &cmd_policy, &cmd_ps,      &cmd_restore, &cmd_resume,
	&cmd_rollback,	&cmd_run,	 &cmd_snapshot,	&cmd_spec,   &cmd_start,  &cmd_state,	&cmd_update,  NULL,
};
