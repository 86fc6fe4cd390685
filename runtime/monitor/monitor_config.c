/*
 * Owns the form of monitor.json.
 */
#include "monitor/monitor_config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "state/state.h"
#include "util/fd.h"
#include "util/json_write.h"

/* 20,000 rules at most (policy), each with a name of 253 bytes. */
#define CONFIG_BYTES_MAX ((size_t)16 * 1024 * 1024)

#define RULE(name_, member_, fn_) { name_, fn_, offsetof(struct monitor_rule, member_), 0, NULL }
static const struct json_field rule_fields[] = {
	RULE("host", host, json_get_string),	     RULE("cidr", cidr, json_get_string),
	RULE("ports", ports, json_get_string),	     RULE("protocol", protocol, json_get_u32),
	RULE("metadata", metadata, json_get_bool),
	/* Whatever were taken in its place could open more than was granted. */
	{ "scope", json_get_u32, offsetof(struct monitor_rule, scope), JSON_REQUIRED, NULL },
	RULE("verify", verify, json_get_string),     { 0 },
};
static const struct json_object rule_type = { .size = sizeof(struct monitor_rule), .fields = rule_fields };

#define DECISION(member_) { #member_, json_get_string, offsetof(struct monitor_decision, member_), 0, NULL }
static const struct json_field decision_fields[] = {
	DECISION(control), DECISION(action), DECISION(asked), DECISION(given), DECISION(rule), { 0 },
};
static const struct json_object decision_type = { .size = sizeof(struct monitor_decision), .fields = decision_fields };

#define FIELD(name_, member_, fn_, flags_, arg_) { name_, fn_, offsetof(struct monitor_config, member_), flags_, arg_ }
static const struct json_field fields[] = {
	FIELD("id", id, json_get_string, JSON_REQUIRED, NULL),
	FIELD("root", root, json_get_string, JSON_REQUIRED, NULL),
	FIELD("bundle", bundle, json_get_string, JSON_REQUIRED, NULL),
	FIELD("profile", profile, json_get_string, JSON_REQUIRED, NULL),
	FIELD("policyFile", policy_file, json_get_string, JSON_REQUIRED, NULL),
	FIELD("policyHash", policy_hash, json_get_string, 0, NULL),
	FIELD("rootfs", rootfs, json_get_string, 0, NULL),
	FIELD("owner", owner, json_get_string, 0, NULL),
	FIELD("version", version, json_get_string, 0, NULL),
	FIELD("argv", argv, json_get_string, 0, NULL),
	FIELD("uid", uid, json_get_u32, 0, NULL),
	FIELD("gid", gid, json_get_u32, 0, NULL),
	FIELD("decisions", decisions, json_get_list, 0, &decision_type),
	FIELD("rootless", rootless, json_get_bool, 0, NULL),
	FIELD("callsProfile", calls_profile, json_get_string, 0, NULL),
	FIELD("auditOutputMax", audit.output_max, json_get_u64, 0, NULL),
	FIELD("auditLogMax", audit.log_max, json_get_u64, 0, NULL),
	FIELD("auditInputMax", audit.input_max, json_get_u64, 0, NULL),
	FIELD("auditStop", audit.stop, json_get_bool, 0, NULL),
	FIELD("auditExec", audit.exec, json_get_bool, 0, NULL),
	FIELD("auditRedact", audit.redact, json_get_strv, 0, NULL),
	FIELD("egressEnabled", egress.enabled, json_get_bool, 0, NULL),
	FIELD("egressHostNetwork", egress.host_network, json_get_bool, 0, NULL),
	FIELD("egressRules", egress.rules, json_get_list, 0, &rule_type),
	FIELD("resolvConf", egress.resolv_conf, json_get_string, 0, NULL),
	{ 0 },
};
static const struct json_object type = { .size = sizeof(struct monitor_config), .fields = fields };

static void optional(struct json_writer *w, const char *key, const char *value)
{
	if (value)
		json_string(w, key, value);
}

static void write_decisions(struct json_writer *w, const struct monitor_config *c)
{
	const struct monitor_decision *d = c->decisions.items;
	size_t i;

	json_array_begin(w, "decisions");
	for (i = 0; i < c->decisions.count; i++) {
		json_object_begin(w, NULL);
		optional(w, "control", d[i].control);
		optional(w, "action", d[i].action);
		optional(w, "asked", d[i].asked);
		optional(w, "given", d[i].given);
		optional(w, "rule", d[i].rule);
		json_object_end(w);
	}
	json_array_end(w);
}

static void write_rules(struct json_writer *w, const struct monitor_config *c)
{
	const struct monitor_rule *rules = c->egress.rules.items;
	size_t i;

	json_array_begin(w, "egressRules");
	for (i = 0; i < c->egress.rules.count; i++) {
		json_object_begin(w, NULL);
		if (rules[i].host)
			json_string(w, "host", rules[i].host);
		if (rules[i].cidr)
			json_string(w, "cidr", rules[i].cidr);
		if (rules[i].ports)
			json_string(w, "ports", rules[i].ports);
		json_u64(w, "protocol", rules[i].protocol);
		json_bool(w, "metadata", rules[i].metadata);
		json_u64(w, "scope", rules[i].scope);
		if (rules[i].verify)
			json_string(w, "verify", rules[i].verify);
		json_object_end(w);
	}
	json_array_end(w);
}

int monitor_config_write(int dir_fd, const struct monitor_config *c, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	_cleanup_free_ char *text = NULL;
	size_t i;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "id", c->id);
	json_string(w, "root", c->root);
	json_string(w, "bundle", c->bundle);
	json_string(w, "profile", c->profile);
	json_string(w, "policyFile", c->policy_file);
	optional(w, "policyHash", c->policy_hash);
	optional(w, "rootfs", c->rootfs);
	optional(w, "owner", c->owner);
	optional(w, "version", c->version);
	optional(w, "argv", c->argv);
	json_u64(w, "uid", c->uid);
	json_u64(w, "gid", c->gid);
	write_decisions(w, c);
	json_bool(w, "rootless", c->rootless);
	optional(w, "callsProfile", c->calls_profile);
	json_u64(w, "auditOutputMax", c->audit.output_max);
	json_u64(w, "auditLogMax", c->audit.log_max);
	json_u64(w, "auditInputMax", c->audit.input_max);
	json_bool(w, "auditStop", c->audit.stop);
	json_bool(w, "auditExec", c->audit.exec);
	json_array_begin(w, "auditRedact");
	for (i = 0; i < c->audit.redact.count; i++)
		json_string(w, NULL, c->audit.redact.items[i]);
	json_array_end(w);
	json_bool(w, "egressEnabled", c->egress.enabled);
	json_bool(w, "egressHostNetwork", c->egress.host_network);
	write_rules(w, c);
	if (c->egress.resolv_conf)
		json_string(w, "resolvConf", c->egress.resolv_conf);
	json_object_end(w);
	r = json_take(w, &text, err);
	return r < 0 ? r : file_replace(dir_fd, STATE_MONITOR_FILE, text, strlen(text), 0600, 0, err);
}

static int parse(const char *data, size_t len, struct monitor_config **ret, struct error *err)
{
	_cleanup_(arena_done) struct arena scratch = ARENA_NULL;
	struct json_ctx ctx = { .name = STATE_MONITOR_FILE };
	struct monitor_config *c;
	struct json *root;
	int r;

	r = json_parse(STATE_MONITOR_FILE, data, len, 0, &scratch, &root, err);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return error_oom(err);
	ctx.arena = &c->arena;
	r = json_dispatch(&ctx, &type, root, c, err);
	if (r < 0) {
		(void)monitor_config_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int monitor_config_read(int dir_fd, struct monitor_config **ret, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r;

	r = file_read_all(dir_fd, STATE_MONITOR_FILE, CONFIG_BYTES_MAX, &data, &len, err);
	return r < 0 ? r : parse(data, len, ret, err);
}

int monitor_config_read_fd(int fd, struct monitor_config **ret, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r;

	r = fd_read_all(fd, CONFIG_BYTES_MAX, &data, &len);
	return r < 0 ? error_set(err, r, "read %s", STATE_MONITOR_FILE) : parse(data, len, ret, err);
}

struct monitor_config *monitor_config_free(struct monitor_config *c)
{
	if (c)
		arena_done(&c->arena);
	free(c);
	return NULL;
}
