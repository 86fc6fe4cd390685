/*
 * Help and version texts, printed from the tables that the parser uses.
 */
#pragma once

#include "cli/cli.h"
#include "commands/commands.h"
#include "util/str.h"

void cli_help_program(struct buf *b, const struct cli_program *program,
		      const struct command_option *global, const struct command *const *commands);
void cli_help_command(struct buf *b, const struct cli_program *program, const struct command *cmd);
void cli_help_version(struct buf *b, const struct cli_program *program);
