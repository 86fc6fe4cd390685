/*
 * Global options and what they mean: where the log goes, which root folder, which
 * cgroup manager. Engines repeat some of them and pass them to some commands only.
 */
#include <errno.h>

#include "cli/cli_options.h"
#include "util/enum_table.h"
#include "util/parse.h"

#define OPT(name, short_name, kind, member, value, help) \
	COMMAND_OPTION(name, short_name, kind, struct cli_options, member, value, help)

const struct command_option cli_options_table[] = {
	OPT("root", 0, OPTION_STRING, root, "DIR",
	    "folder of the container records (default: /run/agentrun)"),
	OPT("log", 0, OPTION_STRING, log, "DEST", "log to [file:]PATH, syslog:ID or journald:ID"),
	OPT("log-format", 0, OPTION_STRING, log_format, "FORMAT", "text (default) or json"),
	OPT("log-level", 0, OPTION_STRING, log_level, "LEVEL",
	    "error (default), warning, info or debug"),
	OPT("debug", 0, OPTION_FLAG, debug, NULL, "the same as --log-level debug"),
	OPT("systemd-cgroup", 0, OPTION_FLAG, systemd_cgroup, NULL,
	    "the same as --cgroup-manager systemd"),
	OPT("cgroup-manager", 0, OPTION_STRING, cgroup_manager, "NAME",
	    "cgroupfs (default), systemd, or disabled"),
	OPT("rootless", 0, OPTION_STRING, rootless, "BOOL",
	    "tolerate missing cgroup rights: true, false or auto"),
	OPT("policy", 0, OPTION_STRING, policy, "FILE",
	    "policy file (default: /etc/agentrun/policy.json, else the built-in policy)"),
	OPT("profile", 0, OPTION_STRING, profile, "NAME", "profile of the policy for this container"),
	OPT("criu", 0, OPTION_STRING, criu, "PATH", "criu(8) for checkpoint and restore (default: criu in the usual folders)"),
	OPT("version", 'v', OPTION_FLAG, version, NULL, "print the version and what is built in"),
	{ 0 },
};

static const struct enum_entry level_entries[] = {
	{ "error", LOG_LEVEL_ERROR, NULL },  { "warning", LOG_LEVEL_WARNING, NULL },
	{ "warn", LOG_LEVEL_WARNING, NULL }, { "info", LOG_LEVEL_INFO, NULL },
	{ "debug", LOG_LEVEL_DEBUG, NULL },
};
static const struct enum_table level_table = ENUM_TABLE("log level", level_entries);

static const struct enum_entry format_entries[] = {
	{ "text", LOG_FORMAT_TEXT, NULL },
	{ "json", LOG_FORMAT_JSON, NULL },
};
static const struct enum_table format_table = ENUM_TABLE("log format", format_entries);

/* name NULL: *ret_value stays. */
static int lookup(const struct enum_table *t, const char *option, const char *name,
		  uint64_t *ret_value, struct error *err)
{
	if (name && enum_from_name(t, name, ret_value) < 0)
		return error_text(err, -EINVAL, "--%s: unknown %s \"%s\"", option, t->what, name);
	return 0;
}

int cli_options_parse(struct cli_options *o, char *const *argv, size_t argc, struct arena *arena,
		      size_t *ret_used, bool *ret_help, struct error *err)
{
	struct cli_args_request req = {
		.options = cli_options_table,
		.options_first = true,
		.argv = argv,
		.argc = argc,
	};
	struct cli_args_result res;
	int r = cli_args_parse(&req, o, arena, &res, err);

	if (r < 0)
		return r;
	*ret_used = res.used;
	*ret_help = res.help;
	return 0;
}

int cli_options_open_log(const struct cli_options *o, struct error *err)
{
	uint64_t level = LOG_LEVEL_ERROR, format = LOG_FORMAT_TEXT;
	struct error e = ERROR_NULL;
	int bad, r;

	bad = lookup(&level_table, "log-level", o->log_level, &level, &e);
	if (bad == 0)
		bad = lookup(&format_table, "log-format", o->log_format, &format, &e);
	if (o->debug)
		level = LOG_LEVEL_DEBUG;
	/* Opened in any case: the record of the bad value belongs into the log, too. */
	r = log_open(o->log, (enum log_format)format, (enum log_level)level, err);
	if (r == 0 && bad < 0)
		*err = e;
	return r < 0 ? r : bad;
}

int cli_options_env(const struct cli_options *o, struct container_env *ret, struct error *err)
{
	const char *manager = o->cgroup_manager	  ? o->cgroup_manager
			      : o->systemd_cgroup ? "systemd"
						  : NULL;
	struct container_env env = { .root = o->root, .debug = o->debug, .policy = o->policy, .profile = o->profile,
				     .criu = o->criu };
	uint64_t value = 0;
	int r;

	r = lookup(&container_cgroup_manager_table, "cgroup-manager", manager, &value, err);
	if (r < 0)
		return r;
	env.cgroup_manager = (int)value;
	if (!o->rootless || str_eq(o->rootless, "auto"))
		r = container_rootless_detect(&env.rootless, err);
	else if (parse_bool(o->rootless, &env.rootless) < 0)
		r = error_text(err, -EINVAL, "--rootless: \"%s\" is not true, false or auto",
			       o->rootless);
	if (r < 0)
		return r;
	*ret = env;
	return 0;
}
