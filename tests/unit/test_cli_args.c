/*
 * The option parser: every form that engines and people write, and every way to get
 * it wrong.
 */
#include <errno.h>

#include "cli/cli_args.h"
#include "tap.h"

struct target {
	bool all, tty, detach;
	const char *bundle;
	struct command_strings env;
	struct command_u32s gids;
	uint32_t fds;
	struct opt_u32 weight;
	struct opt_u64 period, interval;
	struct opt_i64 quota, memory;
};

#define OPT(name, short_name, kind, member, value) \
	COMMAND_OPTION(name, short_name, kind, struct target, member, value, "")

static const struct command_option options[] = {
	OPT("all", 'a', OPTION_FLAG, all, NULL),
	OPT("tty", 't', OPTION_FLAG, tty, NULL),
	OPT("detach", 'd', OPTION_FLAG, detach, NULL),
	OPT("bundle", 'b', OPTION_STRING, bundle, "DIR"),
	OPT("env", 'e', OPTION_STRINGS, env, "KEY=VALUE"),
	OPT("gid", 'g', OPTION_U32S, gids, "GID"),
	OPT("preserve-fds", 0, OPTION_U32, fds, "N"),
	OPT("weight", 0, OPTION_OPT_U32, weight, "N"),
	OPT("period", 0, OPTION_OPT_U64, period, "N"),
	OPT("quota", 0, OPTION_OPT_I64, quota, "N"),
	OPT("memory", 0, OPTION_OPT_BYTES, memory, "BYTES"),
	OPT("interval", 0, OPTION_OPT_DURATION, interval, "TIME"),
	COMMAND_OPTION_UNUSED("old", 0, NULL, ""),
	COMMAND_OPTION_UNUSED("old-value", 0, "X", ""),
	{ 0 },
};

static struct target t;
static struct cli_args_result res;
static struct error err;
static struct arena arena;

/* Parses the words (ended by NULL) into the globals above. */
static int parse(bool options_first, const char *const *words)
{
	struct cli_args_request req = { .options = options, .options_first = options_first };

	arena_done(&arena);
	t = (struct target){ 0 };
	res = (struct cli_args_result){ 0 };
	err = ERROR_NULL;
	req.argv = (char *const *)words;
	while (words[req.argc])
		req.argc++;
	return cli_args_parse(&req, &t, &arena, &res, &err);
}

#define PARSE(...)	 parse(false, (const char *const[]){ __VA_ARGS__, NULL })
#define PARSE_FIRST(...) parse(true, (const char *const[]){ __VA_ARGS__, NULL })

static void test_forms(void)
{
	is_int(PARSE("--bundle", "/b", "id"), 0, "--name VALUE");
	is_str(t.bundle, "/b", "its value");
	is_int(PARSE("--bundle=/b=c", "id"), 0, "--name=VALUE");
	is_str(t.bundle, "/b=c", "only the first = divides");
	is_int(PARSE("-bundle", "/b", "id"), 0, "-name VALUE");
	is_str(t.bundle, "/b", "its value");
	is_int(PARSE("-bundle=/b"), 0, "-name=VALUE");
	is_str(t.bundle, "/b", "its value");
	is_int(PARSE("-b", "/b"), 0, "-x VALUE");
	is_str(t.bundle, "/b", "its value");
	is_int(PARSE("-b=/b"), 0, "-x=VALUE");
	is_str(t.bundle, "/b", "its value");
	is_int(PARSE("--bundle="), 0, "an empty value is a value");
	is_str(t.bundle, "", "it is empty");
	is_int(PARSE("--bundle", "-a"), 0, "a value may begin with -");
	ok(!t.all, "and is not read as an option");
	is_int(PARSE("--bundle=a", "--bundle", "b"), 0, "repeated option");
	is_str(t.bundle, "b", "the last one wins");
}

static void test_flags(void)
{
	is_int(PARSE("-td"), 0, "cluster of flags");
	ok(t.tty && t.detach && !t.all, "sets them and no other");
	is_int(PARSE("--all=false", "--tty=true"), 0, "--flag=BOOL");
	ok(!t.all && t.tty, "sets the value given");
	is_int(PARSE("--all", "--all=false"), 0, "flag, then --flag=false");
	ok(!t.all, "the last one wins");
	is_int(PARSE("--all=maybe"), -EINVAL, "--flag=nonsense");
	is_str(err.text, "--all: invalid value \"maybe\"", "its message");
	is_int(PARSE("-tb"), -EINVAL, "no cluster with an option that takes a value");
	is_str(err.text, "unknown option: -tb", "its message");
	is_int(PARSE("--td"), -EINVAL, "no cluster after two dashes");
	is_int(PARSE("--t"), -EINVAL, "no short name after two dashes");
}

static void test_values(void)
{
	is_int(PARSE("--preserve-fds", "3", "--weight=10", "--period", "100000", "--quota", "-1",
		     "--memory", "1k", "--interval=1m30s"),
	       0, "typed values");
	is_int(t.fds, 3, "u32");
	ok(t.weight.set && t.weight.value == 10, "optional u32");
	ok(t.period.set && t.period.value == 100000, "optional u64");
	ok(t.quota.set && t.quota.value == -1, "optional i64");
	ok(t.memory.set && t.memory.value == 1024, "bytes");
	ok(t.interval.set && t.interval.value == UINT64_C(90000000000), "duration");
	is_int(PARSE("x"), 0, "no options");
	ok(!t.weight.set && !t.period.set && !t.quota.set && !t.memory.set && !t.interval.set,
	   "leave all unset");
	is_int(PARSE("--preserve-fds", "-1"), -EINVAL, "negative u32");
	is_str(err.text, "--preserve-fds: invalid value \"-1\"", "its message");
	is_int(PARSE("--weight", "4294967296"), -ERANGE, "u32 too big");
	is_str(err.text, "--weight: value \"4294967296\" is out of range", "its message");
	ok(!t.weight.set, "a bad value sets nothing");
	is_int(PARSE("--memory", "lots"), -EINVAL, "bad bytes");
	is_int(PARSE("--old", "--old-value", "x", "id"), 0, "accepted options without effect");
	is_int((long long)res.args.count, 1, "take their own words only");
}

static void test_lists(void)
{
	const char *many[8200];
	size_t n = 0;

	is_int(PARSE("-e", "A=1", "--env=B=2", "-env", "C=3", "-g", "5", "-g", "6"), 0, "lists");
	is_int((long long)t.env.count, 3, "three strings");
	is_str(t.env.items[0], "A=1", "first");
	is_str(t.env.items[1], "B=2", "second");
	is_str(t.env.items[2], "C=3", "third");
	ok(t.env.items[3] == NULL, "NULL-terminated");
	ok(t.gids.count == 2 && t.gids.items[0] == 5 && t.gids.items[1] == 6, "two numbers");
	is_int(PARSE("-g", "x"), -EINVAL, "a bad number in a list");
	for (; n < 8198; n++)
		many[n] = n % 2 == 0 ? "-e" : "X";
	many[n] = NULL;
	is_int(parse(false, many), -E2BIG, "a list has a limit");
	is_str(err.text, "--env: too many values", "its message");
	many[8192] = NULL;
	is_int(parse(false, many), 0, "of 4096 values");
	is_int((long long)t.env.count, 4096, "which are all kept");
}

static void test_positionals(void)
{
	is_int(PARSE("id", "--all", "--bundle", "/b"), 0, "options after the positional");
	ok(t.all && t.bundle, "are read");
	is_int((long long)res.args.count, 1, "one positional");
	is_str(res.args.items[0], "id", "the id");
	is_int(PARSE("--all", "--", "--tty", "-b"), 0, "-- ends the options");
	ok(t.all && !t.tty, "what follows is not read");
	is_int((long long)res.args.count, 2, "but kept");
	is_int(PARSE("-", "id"), 0, "- is a positional");
	is_str(res.args.items[0], "-", "and stays as it is");
	is_int(PARSE("a", "--", "b", "--"), 0, "only the first -- is removed");
	is_int((long long)res.args.count, 3, "a b --");
	is_str(res.args.items[2], "--", "the second one stays");

	is_int(PARSE_FIRST("-t", "id", "ls", "-a", "--", "--bundle"), 0, "options_first");
	ok(t.tty && !t.all, "the first positional ends the options");
	is_int((long long)res.args.count, 5, "all the rest is kept");
	is_str(res.args.items[3], "--", "-- included");
	is_int((long long)res.used, 1, "words used before it");
	is_int(PARSE_FIRST("--", "-t", "x"), 0, "-- before the first positional");
	is_str(res.args.items[0], "-t", "is removed and what follows is positional");
	is_int((long long)res.used, 1, "words used");
}

static void test_errors(void)
{
	is_int(PARSE("--nope", "x"), -EINVAL, "unknown option");
	is_str(err.text, "unknown option: --nope", "its message");
	is_int(PARSE("--nope=secret"), -EINVAL, "unknown option with a value");
	is_str(err.text, "unknown option: --nope", "the message leaves the value out");
	is_int(PARSE("-x"), -EINVAL, "unknown short option");
	is_str(err.text, "unknown option: -x", "its message");
	is_int(PARSE("--bundl", "x"), -EINVAL, "no abbreviations");
	is_int(PARSE("--bundle"), -EINVAL, "missing value");
	is_str(err.text, "flag needs an argument: --bundle", "the text podman looks for");
	is_int(PARSE("-b"), -EINVAL, "missing value of a short option");
	is_str(err.text, "flag needs an argument: -b", "its message");
	is_int(PARSE("--=x"), -EINVAL, "no name");
	is_int(PARSE("--all", "--nope"), -EINVAL, "an error after good options");
	ok(t.all, "leaves them in the target");
	is_int(PARSE("--all", "--help", "--nope"), 0, "help");
	ok(res.help, "is reported before later errors");
	is_int(PARSE("-h"), 0, "-h");
	ok(res.help, "is help");
	is_int(PARSE("-help"), 0, "-help");
	ok(res.help, "is help");
	is_int(PARSE_FIRST("id", "--help"), 0, "help after the first positional");
	ok(!res.help, "belongs to the container");
}

static void test_counts(void)
{
	struct command one = { .name = "create", .min_args = 1, .max_args = 1 };
	struct command any = { .name = "exec", .min_args = 1, .max_args = COMMAND_ARGS_ANY };
	struct command two = { .name = "kill", .min_args = 1, .max_args = 2 };

	is_int(cli_args_check_count(&one, 1, &err), 0, "right count");
	is_int(cli_args_check_count(&one, 0, &err), -EINVAL, "none for one");
	is_str(err.text, "\"create\" requires exactly 1 argument(s)", "its message");
	is_int(cli_args_check_count(&one, 2, &err), -EINVAL, "two for one");
	is_int(cli_args_check_count(&any, 100, &err), 0, "any number");
	is_int(cli_args_check_count(&any, 0, &err), -EINVAL, "but at least one");
	is_str(err.text, "\"exec\" requires a minimum of 1 argument(s)", "its message");
	is_int(cli_args_check_count(&two, 3, &err), -EINVAL, "too many");
	is_str(err.text, "\"kill\" requires a maximum of 2 argument(s)", "its message");
}

int main(void)
{
	TAP_BEGIN();
	test_forms();
	test_flags();
	test_values();
	test_lists();
	test_positionals();
	test_errors();
	test_counts();
	arena_done(&arena);
	return TAP_END();
}
