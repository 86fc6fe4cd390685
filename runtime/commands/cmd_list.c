/*
 * `list`: all containers below the root folder.
 */
#include <errno.h>

#include "commands/commands.h"

struct list_options {
	const char *format;
	bool quiet;
};

static const struct command_option options[] = {
	COMMAND_OPTION("format", 'f', OPTION_STRING, struct list_options, format, "FORMAT",
		       "table (default) or json"),
	COMMAND_OPTION("quiet", 'q', OPTION_FLAG, struct list_options, quiet, NULL,
		       "print ids only"),
	{ 0 },
};

enum { COLUMNS = 6 };

/* What is printed: text in out for json, else cells whose strings live in the arena. */
struct listing {
	bool json;
	struct arena arena;
	const char **cells;
	size_t rows;
	struct buf out;
};

static void listing_done(struct listing *l)
{
	arena_done(&l->arena);
	buf_done(&l->out);
}

static int add_row(struct listing *l, const struct container_view *v, struct error *err)
{
	const struct state_record *rec = v->record;
	const char **c = l->cells + l->rows * COLUMNS;

	c[0] = arena_strdup(&l->arena, rec->id);
	c[1] = arena_printf(&l->arena, "%d", (int)v->pid);
	c[2] = container_status_name(v->status);
	c[3] = arena_strdup(&l->arena, rec->bundle ? rec->bundle : "");
	c[4] = arena_strdup(&l->arena, rec->created ? rec->created : "");
	c[5] = arena_strdup(&l->arena, rec->owner ? rec->owner : "");
	for (size_t i = 0; i < COLUMNS; i++)
		if (!c[i])
			return error_oom(err);
	l->rows++;
	return 0;
}

/* One that was deleted since the ids were read is left out. */
static int add_one(struct command_ctx *ctx, const char *id, struct listing *l, struct error *err)
{
	_cleanup_(container_view_done) struct container_view view = { 0 };
	_cleanup_free_ char *json = NULL;
	int r = container_view_open(ctx->env, id, &view, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!l->json)
		return add_row(l, &view, err);
	r = container_state_json(&view, 0, false, &json, err);
	buf_addf(&l->out, "%c%s", l->out.len ? ',' : '[', r == 0 ? json : "");
	return r;
}

static int print_all(struct command_ctx *ctx, char *const *ids, size_t count, bool json, struct error *err)
{
	static const char *const head[] = { "ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER" };
	_cleanup_(listing_done) struct listing l = { .json = json, .rows = 1 };
	_cleanup_buf_ struct buf table = BUF_NULL;
	int r = 0;

	l.cells = arena_calloc(&l.arena, (count + 1) * COLUMNS, sizeof(*l.cells));
	if (!l.cells)
		return error_oom(err);
	memcpy(l.cells, head, sizeof(head));
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_one(ctx, ids[i], &l, err);
	if (r == 0 && json)
		buf_adds(&l.out, l.out.len ? "]\n" : "null\n");
	if (r < 0 || json)
		return r < 0 ? r : command_write_buf(ctx, &l.out, err);
	command_render_table(&table, l.cells, l.rows, COLUMNS);
	return buf_ok(&table) ? command_print(ctx, table.data, err) : error_oom(err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const struct list_options *o = opts;
	char **ids = NULL;
	size_t count = 0;
	bool json;
	int r = command_parse_format(o->format, &json, err);

	if (r == 0)
		r = container_list(ctx->env, &ids, &count, err);
	if (r < 0)
		return r;
	for (size_t i = 0; o->quiet && i < count && r == 0; i++)
		r = command_write(ctx, ids[i], true, err);
	if (!o->quiet)
		r = print_all(ctx, ids, count, json, err);
	state_list_free(ids);
	return r;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "list the containers of this root folder",
	.synopsis = "[options]",
	.options = options,
	.options_size = sizeof(struct list_options),
	.run = run,
};
