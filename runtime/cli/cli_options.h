/*
 * The global options: those before the command.
 */
#pragma once

#include "cli/cli_args.h"
#include "util/log.h"

struct cli_options {
	const char *root;
	const char *policy, *profile, *criu;
	const char *log;
	const char *log_format;
	const char *log_level;
	bool debug;
	bool systemd_cgroup;
	const char *cgroup_manager;
	const char *rootless;
	bool version;
};

extern const struct command_option cli_options_table[];

/* Reads them; *ret_used is the number of words they took, *ret_help says that help was asked for.
 */
int cli_options_parse(struct cli_options *o, char *const *argv, size_t argc, struct arena *arena,
		      size_t *ret_used, bool *ret_help, struct error *err);
/* Opens the log that they name. Call once, before anything else can fail. */
int cli_options_open_log(const struct cli_options *o, struct error *err);
/* The settings that commands get. */
int cli_options_env(const struct cli_options *o, struct container_env *ret, struct error *err);
