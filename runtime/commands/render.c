/*
 * Turns results into the text that commands print. Knows no containers; writing
 * itself is done by cli through the context.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "commands/commands.h"
#include "util/text.h"

/* runc's list has cells of at least 12 columns with 3 blanks between; scripts cut at them. */
#define CELL_MIN    12
#define CELL_GAP    3
#define COLUMNS_MAX 16

static int write_all(struct command_ctx *ctx, const char *text, size_t len, struct error *err)
{
	int r = ctx->write(ctx->write_arg, text, len);

	return r < 0 ? error_set(err, r, "write to standard output") : 0;
}

int command_write(struct command_ctx *ctx, const char *text, bool nl, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	buf_adds(&b, text);
	if (nl)
		buf_adds(&b, "\n");
	return command_write_buf(ctx, &b, err);
}

int command_print(struct command_ctx *ctx, const char *text, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	text_print(&b, text, strlen(text), true);
	return command_write_buf(ctx, &b, err);
}

int command_write_buf(struct command_ctx *ctx, const struct buf *b, struct error *err)
{
	if (!buf_ok(b))
		return error_oom(err);
	return b->len ? write_all(ctx, b->data, b->len, err) : 0;
}

void command_render_table(struct buf *b, const char *const *cells, size_t rows, size_t columns)
{
	size_t width[COLUMNS_MAX] = { 0 };

	assert(columns > 0 && columns <= COLUMNS_MAX);
	for (size_t i = 0; i < rows * columns; i++)
		width[i % columns] =
			MAX(width[i % columns], MAX(strlen(cells[i]) + CELL_GAP, (size_t)CELL_MIN));
	for (size_t i = 0; i < rows * columns; i++) {
		bool last = i % columns == columns - 1;

		/* No blanks after the last cell: lines are compared whole by scripts. */
		if (last)
			buf_addf(b, "%s\n", cells[i]);
		else
			buf_addf(b, "%-*s", (int)width[i % columns], cells[i]);
	}
}

int command_parse_format(const char *format, bool *ret_json, struct error *err)
{
	if (!format || str_eq(format, "table")) {
		*ret_json = false;
		return 0;
	}
	if (str_eq(format, "json")) {
		*ret_json = true;
		return 0;
	}
	return error_text(err, -EINVAL, "unknown format \"%s\": it must be \"table\" or \"json\"",
			  format);
}
