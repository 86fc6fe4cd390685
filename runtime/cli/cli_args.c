/*
 * The option parser. Its rules are those of Go's flag package, which every engine's
 * author has in mind (-long for --long, --flag=false), and of getopt where the two
 * do not clash (clusters of flags).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cli/cli_args.h"
#include "util/parse.h"

/* Bounds what an argument vector can make us allocate for one list option. */
#define LIST_MAX 4096

/* The state of one parse. */
struct parser {
	const struct cli_args_request *req;
	char *target;
	struct arena *arena;
	struct error *err;
	size_t next; /* index of the next word to read */
};

static bool takes_value(const struct command_option *o)
{
	return o->kind != OPTION_FLAG && o->kind != OPTION_UNUSED_FLAG;
}

static const struct command_option *find_long(const struct command_option *table, const char *name,
					      size_t len)
{
	for (const struct command_option *o = table; o && o->name; o++)
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct command_option *find_short(const struct command_option *table, char c)
{
	for (const struct command_option *o = table; o && o->name; o++)
		if (o->short_name && o->short_name == c)
			return o;
	return NULL;
}

/*
 * The list with room for one more element, or NULL. Its capacity is 4, then doubles when
 * it is full; one further element stays zero, so that the list ends in NULL.
 */
static void *list_grow(struct arena *arena, void *items, size_t count, size_t size)
{
	bool full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
	char *p;

	if (count >= LIST_MAX)
		return NULL;
	if (!full)
		return items;
	p = arena_calloc(arena, (count ? 2 * count : 4) + 1, size);
	if (p && count)
		memcpy(p, items, count * size);
	return p;
}

static int add_string(struct arena *arena, struct command_strings *list, const char *value)
{
	char **items = list_grow(arena, list->items, list->count, sizeof(*items));
	char *copy = arena_strdup(arena, value);

	if (!items || !copy)
		return -E2BIG;
	items[list->count++] = copy;
	list->items = items;
	return 0;
}

static int add_u32(struct arena *arena, struct command_u32s *list, const char *value)
{
	uint32_t *items, n;
	int r = parse_u32(value, &n);

	if (r < 0)
		return r;
	items = list_grow(arena, list->items, list->count, sizeof(*items));
	if (!items)
		return -E2BIG;
	items[list->count++] = n;
	list->items = items;
	return 0;
}

static int set_bytes(struct opt_i64 *to, const char *value)
{
	int r = parse_bytes(value, &to->value);

	if (r == 0)
		to->set = true;
	return r;
}

/* Converts value into the option's target: 0, -EINVAL, -ERANGE or -E2BIG. */
static int convert(struct parser *p, const struct command_option *o, const char *value)
{
	void *to = p->target + o->offset;
	int r;

	switch (o->kind) {
	case OPTION_FLAG:
		return parse_bool(value, to);
	case OPTION_STRING:
		*(const char **)to = value;
		return 0;
	case OPTION_STRINGS:
		return add_string(p->arena, to, value);
	case OPTION_U32:
		return parse_u32(value, to);
	case OPTION_U32S:
		return add_u32(p->arena, to, value);
	case OPTION_OPT_U32:
		r = parse_u32(value, &((struct opt_u32 *)to)->value);
		((struct opt_u32 *)to)->set |= r == 0;
		return r;
	case OPTION_OPT_U64:
		r = parse_u64(value, &((struct opt_u64 *)to)->value);
		((struct opt_u64 *)to)->set |= r == 0;
		return r;
	case OPTION_OPT_I64:
		r = parse_i64(value, &((struct opt_i64 *)to)->value);
		((struct opt_i64 *)to)->set |= r == 0;
		return r;
	case OPTION_OPT_DURATION:
		r = parse_duration(value, &((struct opt_u64 *)to)->value);
		((struct opt_u64 *)to)->set |= r == 0;
		return r;
	case OPTION_OPT_BYTES:
		return set_bytes(to, value);
	case OPTION_UNUSED_FLAG:
	case OPTION_UNUSED:
		return 0;
	}
	return -EINVAL;
}

static int set_option(struct parser *p, const struct command_option *o, const char *value)
{
	int r = convert(p, o, value);

	if (r == -E2BIG)
		return error_text(p->err, r, "--%s: too many values", o->name);
	if (r == -ERANGE)
		return error_text(p->err, r, "--%s: value \"%s\" is out of range", o->name, value);
	if (r < 0)
		return error_text(p->err, r, "--%s: invalid value \"%s\"", o->name, value);
	return 0;
}

/* An option with its "=VALUE" (NULL = none), word being how the user wrote it. */
static int take_option(struct parser *p, const struct command_option *o, const char *word,
		       size_t name_len, const char *value)
{
	if (!takes_value(o))
		return set_option(p, o, value ? value : "true");
	if (!value) {
		/* Podman looks for exactly this text to learn whether restore knows an option. */
		if (p->next >= p->req->argc)
			return error_text(p->err, -EINVAL, "flag needs an argument: %.*s",
					  (int)name_len, word);
		value = p->req->argv[p->next++];
	}
	return set_option(p, o, value);
}

/* -abc where every letter is a flag. 0 = done, -ENOENT = it is no such cluster. */
static int take_cluster(struct parser *p, const char *letters)
{
	const struct command_option *table = p->req->options;

	if (!letters[0] || !letters[1])
		return -ENOENT;
	for (const char *c = letters; *c; c++) {
		const struct command_option *o = find_short(table, *c);

		if (!o || takes_value(o))
			return -ENOENT;
	}
	for (const char *c = letters; *c; c++) {
		int r = set_option(p, find_short(table, *c), "true");

		if (r < 0)
			return r;
	}
	return 0;
}

/* One word that begins with "-" and is longer than that. */
static int take_word(struct parser *p, const char *word, bool *ret_help)
{
	bool one_dash = word[1] != '-';
	const char *name = word + (one_dash ? 1 : 2);
	const char *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct command_option *o = find_long(p->req->options, name, len);

	if (!o && one_dash && len == 1)
		o = find_short(p->req->options, name[0]);
	if (o)
		return take_option(p, o, word, (size_t)(name - word) + len, eq ? eq + 1 : NULL);
	if ((len == 4 && memcmp(name, "help", 4) == 0) ||
	    (one_dash && len == 1 && name[0] == 'h')) {
		*ret_help = true;
		return 0;
	}
	if (one_dash && take_cluster(p, name) == 0)
		return 0;
	return error_text(p->err, -EINVAL, "unknown option: %.*s",
			  (int)((size_t)(name - word) + len), word);
}

int cli_args_parse(const struct cli_args_request *req, void *target, struct arena *arena,
		   struct cli_args_result *ret, struct error *err)
{
	struct parser p = { .req = req, .target = target, .arena = arena, .err = err };
	char **items = arena_calloc(arena, req->argc + 1, sizeof(*items));
	bool ended = false, help = false;
	size_t count = 0;
	int r = 0;

	assert(req->argv || req->argc == 0);
	if (!items)
		return error_oom(err);
	while (p.next < req->argc && !help) {
		char *word = req->argv[p.next];

		if (ended || word[0] != '-' || word[1] == '\0') {
			if (req->options_first && count == 0)
				ended = true;
			items[count++] = word;
			p.next++;
			continue;
		}
		p.next++;
		if (word[1] == '-' && word[2] == '\0') {
			ended = true;
			continue;
		}
		r = take_word(&p, word, &help);
		if (r < 0)
			return r;
	}
	*ret = (struct cli_args_result){
		.args = { .items = items, .count = count },
		.used = p.next - count,
		.help = help,
	};
	return 0;
}

int cli_args_check_count(const struct command *cmd, size_t count, struct error *err)
{
	size_t min = (size_t)cmd->min_args;
	bool bounded = cmd->max_args != COMMAND_ARGS_ANY;

	if (count >= min && (!bounded || count <= (size_t)cmd->max_args))
		return 0;
	if (bounded && cmd->min_args == cmd->max_args)
		return error_text(err, -EINVAL, "\"%s\" requires exactly %d argument(s)", cmd->name,
				  cmd->min_args);
	if (count < min)
		return error_text(err, -EINVAL, "\"%s\" requires a minimum of %d argument(s)",
				  cmd->name, cmd->min_args);
	return error_text(err, -EINVAL, "\"%s\" requires a maximum of %d argument(s)", cmd->name,
			  cmd->max_args);
}
