/*
 * Help texts. The golden files under tests/golden/help pin them, and tests/lint/docs
 * compares them with the man page and the completions.
 */
#include <string.h>

#include "cli/cli_help.h"

/* Columns before the explanation of an option; a longer left side gets a line of its own. */
#define LEFT_WIDTH 36

static void add_option(struct buf *b, char short_name, const char *name, const char *value,
		       const char *help)
{
	_cleanup_buf_ struct buf left = BUF_NULL;

	if (short_name)
		buf_addf(&left, "  -%c, --%s", short_name, name);
	else
		buf_addf(&left, "      --%s", name);
	if (value)
		buf_addf(&left, " %s", value);
	if (!buf_ok(&left)) {
		b->failed = true;
		return;
	}
	if (left.len >= LEFT_WIDTH)
		buf_addf(b, "%s\n%-*s%s\n", left.data, LEFT_WIDTH, "", help);
	else
		buf_addf(b, "%-*s%s\n", LEFT_WIDTH, left.data, help);
}

static void add_options(struct buf *b, const char *title, const struct command_option *table)
{
	buf_addf(b, "\n%s:\n", title);
	for (const struct command_option *o = table; o && o->name; o++)
		add_option(b, o->short_name, o->name, o->value, o->help);
	add_option(b, 'h', "help", NULL, "print this help");
}

void cli_help_program(struct buf *b, const struct cli_program *program,
		      const struct command_option *global, const struct command *const *commands)
{
	buf_addf(b, "%s - runs containers from OCI bundles\n\n", program->name);
	buf_addf(b, "Usage: %s [global options] COMMAND [options] [ARG...]\n\nCommands:\n",
		 program->name);
	for (const struct command *const *c = commands; *c; c++)
		buf_addf(b, "  %-12s%s\n", (*c)->name, (*c)->summary);
	add_options(b, "Global options", global);
	buf_addf(b, "\n\"%s COMMAND --help\" explains a command; agentrun(8) is the manual.\n",
		 program->name);
}

void cli_help_command(struct buf *b, const struct cli_program *program, const struct command *cmd)
{
	buf_addf(b, "%s %s - %s\n\n", program->name, cmd->name, cmd->summary);
	buf_addf(b, "Usage: %s [global options] %s%s%s\n", program->name, cmd->name,
		 *cmd->synopsis ? " " : "", cmd->synopsis);
	if (cmd->details)
		buf_addf(b, "\n%s\n", cmd->details);
	add_options(b, "Options", cmd->options);
}

void cli_help_version(struct buf *b, const struct cli_program *program)
{
	/* dockerd takes the last line with the word "version" in it: only the first may have it. */
	buf_addf(b, "%s version %s\n", program->name, program->version);
	buf_addf(b, "commit: %s\nspec: %s\n%s\n", program->commit, SPEC_VERSION_MAX,
		 program->features);
}
