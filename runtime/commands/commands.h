/*
 * The commands as data: name, options, argument counts and the function that does
 * the work. cli/ parses, prints help and reports errors from this table; a command
 * itself is parse result -> one container_* call -> rendered text, and never touches
 * stdout, stderr or the exit status directly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "container/container.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/json_write.h"
#include "util/str.h"

/* What an option takes and the type of its target. Values are checked while parsing. */
enum command_option_kind {
	OPTION_FLAG,	     /* [bool]; also --name=true|false */
	OPTION_STRING,	     /* [const char *] */
	OPTION_STRINGS,	     /* [struct command_strings]; each occurrence adds one */
	OPTION_U32,	     /* [uint32_t] */
	OPTION_U32S,	     /* [struct command_u32s]; each occurrence adds one */
	OPTION_OPT_U32,	     /* [struct opt_u32] */
	OPTION_OPT_U64,	     /* [struct opt_u64] */
	OPTION_OPT_I64,	     /* [struct opt_i64] */
	OPTION_OPT_BYTES,    /* [struct opt_i64]; 512m, 2g, -1 */
	OPTION_OPT_DURATION, /* [struct opt_u64], nanoseconds; 5s, 1m30s */
	OPTION_UNUSED_FLAG,  /* accepted, without effect in this build */
	OPTION_UNUSED,	     /* the same with a value */
};

struct command_strings {
	char **items;
	size_t count;
};

struct command_u32s {
	uint32_t *items;
	size_t count;
};

struct command_option {
	const char *name; /* long name without dashes; NULL ends the table */
	char short_name;  /* 0 = none */
	enum command_option_kind kind;
	size_t offset;	   /* of the target in the command's option struct */
	const char *value; /* name of the value in the help; NULL for flags */
	const char *help;
};

/* What a command gets from cli. */
struct command_ctx {
	const struct container_env *env;
	const char *version, *commit; /* of this build */
	/* Writes to standard output at once; 0 or negative errno. */
	int (*write)(void *arg, const char *text, size_t len);
	void *write_arg;
	int exit_status; /* set by run and exec: the status of their process */
};

struct command_args {
	char *const *items; /* NULL-terminated */
	size_t count;
};

#define COMMAND_ARGS_ANY (-1)

struct command {
	const char *name;
	const char *summary;  /* one line for the program's help */
	const char *synopsis; /* what follows the name: "[options] ID" */
	const char *details;  /* further paragraphs for the command's help, or NULL */
	const struct command_option *options; /* or NULL */
	size_t options_size;		      /* of the option struct; it starts zeroed */
	/* The first positional ends the options: what follows belongs to the container. */
	bool options_first;
	int min_args, max_args;	  /* max_args may be COMMAND_ARGS_ANY */
	const char *error_prefix; /* put before the errors of run(), or NULL */
	int error_status;	  /* exit status of such errors; 0 = 1 */
	/*
	 * Before run(): executes again from a protected copy of the program, with inherited
	 * descriptors still in place (container_self_protect()).
	 */
	int (*protect)(struct error *err);
	int (*run)(struct command_ctx *ctx, void *options, const struct command_args *args,
		   struct error *err);
};

/* All commands in the order of the help, NULL-terminated. */
extern const struct command *const command_table[];

extern const struct command cmd_audit, cmd_checkpoint, cmd_commit, cmd_create, cmd_delete, cmd_diff, cmd_doctor, cmd_events, cmd_exec, cmd_explain,
	cmd_features, cmd_kill, cmd_list, cmd_pause, cmd_policy, cmd_ps, cmd_restore, cmd_resume, cmd_rollback, cmd_run,
	cmd_snapshot, cmd_spec, cmd_start, cmd_state, cmd_update;

/* Table entries: an option with its target, and one that is only accepted. */
#define COMMAND_OPTION(name_, short_, kind_, type_, member_, value_, help_)            \
	{                                                                              \
		.name = (name_), .short_name = (short_), .kind = (kind_),              \
		.offset = offsetof(type_, member_), .value = (value_), .help = (help_) \
	}
#define COMMAND_OPTION_UNUSED(name_, short_, value_, help_)                               \
	{                                                                                 \
		.name = (name_), .short_name = (short_),                                  \
		.kind = (value_) ? OPTION_UNUSED : OPTION_UNUSED_FLAG, .value = (value_), \
		.help = (help_)                                                           \
	}

/* render.c: text from results. */

/* Writes text, and a newline when nl. */
int command_write(struct command_ctx *ctx, const char *text, bool nl, struct error *err);
/* Writes text that people read: what it quotes of images and requests is no more than text. */
int command_print(struct command_ctx *ctx, const char *text, struct error *err);
/* Writes what b holds; "out of memory" when it could not be filled. */
int command_write_buf(struct command_ctx *ctx, const struct buf *b, struct error *err);
/* Rows of cells, aligned in columns at least 12 wide; cells[row * columns + column]. */
void command_render_table(struct buf *b, const char *const *cells, size_t rows, size_t columns);
/* "table" or "json", NULL = table. */
int command_parse_format(const char *format, bool *ret_json, struct error *err);

/* limits.c */

/* The limits that options can name. */
struct command_limits {
	struct spec_memory memory;
	struct spec_cpu cpu;
	struct spec_block_io block_io;
	struct opt_i64 pids_limit;
};
/* Lays the limits that are set over res; missing parts are made in the arena. 0, -ENOMEM. */
int command_limits_merge(const struct command_limits *limits, struct arena *arena,
			 struct spec_resources *res);

/* select.c */

/*
 * Calls fn for the container id or, with regex, for every known container whose id matches the
 * extended regular expression id. With regex all are tried and the first failure is returned.
 */
typedef int (*command_each_fn)(struct command_ctx *ctx, const char *id, const void *arg,
			       struct error *err);
int command_for_each(struct command_ctx *ctx, const char *id, bool regex, command_each_fn fn,
		     const void *arg, struct error *err);
