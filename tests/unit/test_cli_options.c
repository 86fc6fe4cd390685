/*
 * Global options: what they set, and what the tables of all commands must keep to.
 */
#include <errno.h>
#include <unistd.h>

#include "cli/cli_help.h"
#include "cli/cli_options.h"
#include "tap.h"

static struct cli_options o;
static struct error err;
static struct arena arena;
static size_t used;
static bool help;

static int parse(const char *const *words)
{
	size_t n = 0;

	o = (struct cli_options){ 0 };
	err = ERROR_NULL;
	while (words[n])
		n++;
	return cli_options_parse(&o, (char *const *)words, n, &arena, &used, &help, &err);
}

#define PARSE(...) parse((const char *const[]){ __VA_ARGS__, NULL })

static int manager_of(const char *option, const char *value, int *ret)
{
	struct container_env env = { 0 };
	int r = PARSE("--rootless=false", option, value);

	if (r == 0)
		r = cli_options_env(&o, &env, &err);
	*ret = env.cgroup_manager;
	return r;
}

static void test_parse(void)
{
	is_int(PARSE("--root", "/a", "--root=/b", "--log", "l", "--log-format", "json", "list",
		     "--quiet"),
	       0, "options before the command");
	is_str(o.root, "/b", "the last --root wins");
	is_str(o.log, "l", "log");
	is_str(o.log_format, "json", "log format");
	is_int((long long)used, 7, "the command's words are left alone");
	is_int(PARSE("-v"), 0, "-v");
	ok(o.version, "is version");
	is_int(PARSE("--criu", "/x", "--debug", "--systemd-cgroup"), 0, "accepted options");
	ok(o.debug && o.systemd_cgroup, "flags are set");
	is_int(PARSE("--log", "l", "--nope", "--root", "/x"), -EINVAL, "unknown option");
	is_str(o.log, "l", "the log named before it is known");
	ok(o.root == NULL, "what follows was not read");
	is_int(PARSE("-h"), 0, "-h");
	ok(help, "is help");
}

static void test_env(void)
{
	struct container_env env = { 0 };
	int fs, systemd, disabled, plain;

	is_int(manager_of("--cgroup-manager", "cgroupfs", &fs), 0, "cgroupfs");
	is_int(manager_of("--cgroup-manager", "systemd", &systemd), 0, "systemd");
	is_int(manager_of("--cgroup-manager", "disabled", &disabled), 0, "disabled");
	ok(fs != systemd && systemd != disabled && fs != disabled, "are three managers");
	is_int(manager_of("--root", "/x", &plain), 0, "no manager named");
	is_int(plain, fs, "is cgroupfs");
	is_int(manager_of("--cgroup-manager", "openrc", &plain), -EINVAL, "unknown manager");
	is_str(err.text, "--cgroup-manager: unknown cgroup manager \"openrc\"", "its message");

	is_int(PARSE("--systemd-cgroup", "--rootless", "true", "--debug", "--root=/r"), 0,
	       "settings");
	is_int(cli_options_env(&o, &env, &err), 0, "become an environment");
	is_int(env.cgroup_manager, systemd, "--systemd-cgroup is the systemd manager");
	ok(env.rootless && env.debug, "rootless and debug");
	is_str(env.root, "/r", "root");
	is_int(PARSE("--rootless=perhaps"), 0, "a bad --rootless");
	is_int(cli_options_env(&o, &env, &err), -EINVAL, "is an error");
	is_int(PARSE("--rootless=auto"), 0, "--rootless=auto");
	is_int(cli_options_env(&o, &env, &err), 0, "is decided from the process");
	if (geteuid() != 0)
		ok(env.rootless, "an unprivileged user is rootless");
}

static void test_log(void)
{
	is_int(PARSE("--log-level=loud"), 0, "a bad log level");
	is_int(cli_options_open_log(&o, &err), -EINVAL, "is an error");
	is_str(err.text, "--log-level: unknown log level \"loud\"", "its message");
	is_int(PARSE("--log-format=xml"), 0, "a bad log format");
	is_int(cli_options_open_log(&o, &err), -EINVAL, "is an error");
	is_str(err.text, "--log-format: unknown log format \"xml\"", "its message");
	is_int(PARSE("--log-level=info", "--debug"), 0, "--debug and --log-level");
	is_int(cli_options_open_log(&o, &err), 0, "open the log");
	is_int(log_level_get(), LOG_LEVEL_DEBUG, "--debug wins");
	is_int(PARSE("--root=/x"), 0, "no log options");
	is_int(cli_options_open_log(&o, &err), 0, "open the log");
	is_int(log_level_get(), LOG_LEVEL_ERROR, "errors only by default");
}

/* Two options of one command with the same name would hide one of them for ever. */
static bool table_sound(const struct command_option *table)
{
	for (const struct command_option *a = table; a && a->name; a++) {
		bool takes_value = a->kind != OPTION_FLAG && a->kind != OPTION_UNUSED_FLAG;

		if (takes_value != (a->value != NULL) || !a->help || a->short_name == 'h' ||
		    str_eq(a->name, "help"))
			return false;
		for (const struct command_option *b = a + 1; b->name; b++)
			if (str_eq(a->name, b->name) ||
			    (a->short_name && a->short_name == b->short_name))
				return false;
	}
	return true;
}

static void test_tables(void)
{
	ok(table_sound(cli_options_table), "global options are sound");
	for (const struct command *const *c = command_table; *c; c++) {
		ok(table_sound((*c)->options), "%s: options are sound", (*c)->name);
		ok((*c)->run && (*c)->summary && (*c)->synopsis, "%s: complete", (*c)->name);
		ok(!c[1] || strcmp((*c)->name, c[1]->name) < 0, "%s: in order", (*c)->name);
		for (const struct command_option *p = (*c)->options; p && p->name; p++)
			if (p->kind != OPTION_UNUSED && p->kind != OPTION_UNUSED_FLAG &&
			    p->offset >= (*c)->options_size)
				ok(false, "%s: --%s has its target inside the struct", (*c)->name,
				   p->name);
	}
}

static void test_version(void)
{
	static const struct cli_program program = { "agentrun", "1.2.3", "abc", "+SECCOMP" };
	_cleanup_buf_ struct buf b = BUF_NULL;

	cli_help_version(&b, &program);
	is_str(b.data, "agentrun version 1.2.3\ncommit: abc\nspec: 1.3.0\n+SECCOMP\n", "--version");
}

int main(void)
{
	TAP_BEGIN();
	test_parse();
	test_env();
	test_log();
	test_tables();
	test_version();
	arena_done(&arena);
	return TAP_END();
}
