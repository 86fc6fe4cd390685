/*
 * Command lines into structs, from the option tables of commands.h: one parser for
 * the global options and for every command. Prints nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "commands/commands.h"
#include "util/arena.h"

struct cli_args_request {
	const struct command_option *options; /* or NULL */
	bool options_first;		      /* the first positional ends the options */
	char *const *argv; /* without the program's or command's name; NULL-terminated */
	size_t argc;
};

/* What is not an option; items live in the arena. */
struct cli_args_result {
	struct command_args args;
	size_t used; /* words read, with options_first: index of the first positional */
	bool help;   /* -h or --help was there; nothing after it was read */
};

/*
 * Accepts --name VALUE, --name=VALUE, the same with one dash, -x VALUE, -x=VALUE, and
 * clusters of flags (-it). A repeated option's last value wins (lists collect). "--" ends the
 * options. Values are converted and written to target; lists live in the arena. -EINVAL:
 * "unknown option: --x", "flag needs an argument: --x", or what is wrong with a value.
 * On failure what was parsed before it is in target.
 */
int cli_args_parse(const struct cli_args_request *req, void *target, struct arena *arena,
		   struct cli_args_result *ret, struct error *err);

/* Checks the number of positionals; the message is the one engines know from runc. */
int cli_args_check_count(const struct command *cmd, size_t count, struct error *err);
