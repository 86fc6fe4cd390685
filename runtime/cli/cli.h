/*
 * The program's front: finds the command, parses its options, prints help, and is
 * the one place that reports an error and decides the exit status.
 */
#pragma once

/* Facts of the build, given by main. */
struct cli_program {
	const char *name; /* "agentrun" */
	const char *version;
	const char *commit;
	const char *features; /* "+SECCOMP …", without a newline */
};

/* Returns the exit status of the process. */
int cli_main(const struct cli_program *program, int argc, char **argv);
