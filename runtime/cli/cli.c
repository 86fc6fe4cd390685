/*
 * From argv to an exit status. Order matters: descriptors are made safe first, the log
 * is opened as soon as its options are read, and whatever fails then is reported in
 * exactly one place, because engines read one error record per call.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_args.h"
#include "cli/cli_help.h"
#include "cli/cli_options.h"
#include "util/fd.h"
#include "util/log.h"

#define EXIT_UNKNOWN_COMMAND 3 /* runc's */

static int write_stdout(void *arg, const char *text, size_t len)
{
	return fd_write_all(STDOUT_FILENO, text, len);
}

static int print_buf(const struct buf *b, struct error *err)
{
	int r;

	if (!buf_ok(b))
		return error_oom(err);
	r = fd_write_all(STDOUT_FILENO, b->data, b->len);
	return r < 0 ? error_set(err, r, "write to standard output") : 0;
}

static int print_help(const struct cli_program *program, const struct command *cmd,
		      struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	if (cmd)
		cli_help_command(&b, program, cmd);
	else
		cli_help_program(&b, program, cli_options_table, command_table);
	return print_buf(&b, err);
}

static int print_version(const struct cli_program *program, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	cli_help_version(&b, program);
	return print_buf(&b, err);
}

/* Usage on standard output, the reason goes the way of every error. */
static int usage_error(const struct cli_program *program, const struct command *cmd, int code)
{
	struct error ignored = ERROR_NULL;

	(void)print_help(program, cmd, &ignored);
	return code;
}

static const struct command *find_command(const char *name)
{
	for (const struct command *const *c = command_table; *c; c++)
		if (str_eq((*c)->name, name))
			return *c;
	return NULL;
}

static int unknown_command(const char *name, struct error *err)
{
	err->exit_status = EXIT_UNKNOWN_COMMAND;
	return error_text(err, -EINVAL, "unknown command \"%s\": see \"agentrun --help\"", name);
}

/* Descriptors >= 3 are whatever the caller had open: none may reach a program that we start. */
static int close_on_exec_all(struct error *err)
{
	int r = fd_cloexec_from(STDERR_FILENO + 1);

	return r < 0 ? error_set(err, r, "mark inherited descriptors close-on-exec") : 0;
}

/* Runs the command with its words; *ret_status is its exit status when 0 is returned. */
static int run_command(const struct cli_program *program, const struct cli_options *global,
		       const struct command *cmd, const struct cli_args_request *words,
		       struct arena *arena, int *ret_status, struct error *err)
{
	struct command_ctx ctx = { .version = program->version,
				   .commit = program->commit,
				   .write = write_stdout };
	struct container_env env = { 0 };
	struct cli_args_result res;
	void *options = arena_alloc(arena, MAX(cmd->options_size, (size_t)1));
	int r;

	if (!options)
		return error_oom(err);
	r = cli_args_parse(words, options, arena, &res, err);
	if (r < 0)
		return usage_error(program, cmd, r);
	if (res.help)
		return print_help(program, cmd, err);
	r = cli_args_check_count(cmd, res.args.count, err);
	if (r < 0)
		return usage_error(program, cmd, r);
	/* The protected commands may pass descriptors on: they tell inherited ones from ours first. */
	r = cmd->protect ? cmd->protect(err) : close_on_exec_all(err);
	if (r == 0) {
		/* Looks at the host, so not twice: protect() executes this program anew. */
		r = cli_options_env(global, &env, err);
		if (r < 0)
			return r;
		ctx.env = &env;
		r = cmd->run(&ctx, options, &res.args, err);
	}
	assert(r <= 0);
	if (r < 0 && cmd->error_prefix)
		(void)error_prefix(err, "%s", cmd->error_prefix);
	if (r < 0 && err->exit_status == 0)
		err->exit_status = cmd->error_status;
	*ret_status = ctx.exit_status;
	return r;
}

/* "help [COMMAND]" does what --help does. */
static int help_command(const struct cli_program *program, const char *name, struct error *err)
{
	const struct command *cmd = name ? find_command(name) : NULL;

	if (name && !cmd)
		return unknown_command(name, err);
	return print_help(program, cmd, err);
}

static int dispatch(const struct cli_program *program, const struct cli_options *global,
		    char *const *argv, size_t argc, struct arena *arena, int *ret_status,
		    struct error *err)
{
	const struct command *cmd;
	struct cli_args_request words;

	if (argc == 0) {
		(void)error_text(err, -EINVAL, "no command given");
		return usage_error(program, NULL, -EINVAL);
	}
	if (str_eq(argv[0], "help"))
		return help_command(program, argv[1], err);
	cmd = find_command(argv[0]);
	if (!cmd)
		return unknown_command(argv[0], err);
	words = (struct cli_args_request){
		.options = cmd->options,
		.options_first = cmd->options_first,
		.argv = argv + 1,
		.argc = argc - 1,
	};
	return run_command(program, global, cmd, &words, arena, ret_status, err);
}

static int run_program(const struct cli_program *program, char *const *argv, size_t argc,
		       struct arena *arena, int *ret_status, struct error *err)
{
	struct error log_err = ERROR_NULL;
	struct cli_options global = { 0 };
	bool help = false;
	size_t used = 0;
	int parsed, r;

	parsed = cli_options_parse(&global, argv, argc, arena, &used, &help, err);
	/* Also after a bad option: the log that was named so far gets the record of it. */
	r = cli_options_open_log(&global, &log_err);
	if (parsed < 0)
		return usage_error(program, NULL, parsed);
	if (help)
		return print_help(program, NULL, err);
	if (global.version)
		return print_version(program, err);
	if (r < 0) {
		*err = log_err;
		return r;
	}
	return dispatch(program, &global, argv + used, argc - used, arena, ret_status, err);
}

/*
 * Engines hand us whatever they had open, not close-on-exec, and some start us with a
 * standard descriptor closed: the next open would then become, say, the container's stderr.
 */
static int secure_descriptors(struct error *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is this one. It stays open on purpose, over every exec. */
		if (open("/dev/null", O_RDWR) < 0) /* no O_CLOEXEC */
			return error_set(err, -errno,
					 "open /dev/null in place of closed descriptor %d", fd);
	}
	return 0;
}

int cli_main(const struct cli_program *program, int argc, char **argv)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	int status = EXIT_SUCCESS, r;

	/* A reader that went away is an error to report, not a death halfway through create. */
	(void)signal(SIGPIPE, SIG_IGN);
	r = secure_descriptors(&err);
	if (r == 0)
		r = run_program(program, argv + 1, argc > 0 ? (size_t)argc - 1 : 0, &arena, &status,
				&err);
	if (r == 0)
		return status;
	log_errorf("%s", err.text);
	return err.exit_status ? err.exit_status : EXIT_FAILURE;
}
