/*
 * What is printed: profiles that can be read back, origins, the
 * forms of a verdict; and that the published schema names exactly the members of the
 * tables.
 */
#include <fcntl.h>

#include "policy/policy_internal.h"
#include "tests/unit/test_policy_fixture.h"

static char *shown(const struct policy_profile *p)
{
	struct error err = ERROR_NULL;
	char *text = NULL;

	if (policy_show(p, &text, &err) < 0)
		ok(false, "show %s: %s", p->name, err.text);
	return text;
}

/* The fixed profiles cannot be read back under their names; the text is the same otherwise. */
static char *renamed(char *text, const char **name)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	char quoted[64], *at, *from = text;

	if (!text || (!str_eq(*name, "sandbox") && !str_eq(*name, "passthrough")))
		return text;
	(void)snprintf(quoted, sizeof(quoted), "\"%s\"", *name);
	*name = "other";
	while ((at = strstr(from, quoted))) {
		buf_add(&b, from, (size_t)(at - from));
		buf_adds(&b, "\"other\"");
		from = at + strlen(quoted);
	}
	buf_adds(&b, from);
	free(text);
	return buf_take(&b);
}

static void round_trip(void)
{
	_cleanup_policy_ struct policy *builtin = NULL;
	struct error err = ERROR_NULL;
	const char *name;
	size_t i;

	if (policy_builtin(&builtin, &err) < 0) {
		ok(false, "built-in policy: %s", err.text);
		return;
	}
	for (i = 0; (name = policy_profile_name(builtin, i)); i++) {
		_cleanup_free_ char *one = NULL, *two = NULL;
		_cleanup_policy_ struct policy *again = NULL;
		struct policy_profile p, q;

		if (policy_profile_get(builtin, name, &p, &err) < 0)
			continue;
		one = renamed(shown(&p), &name);
		if (!ok(one && policy_parse("shown", one, strlen(one), &again, &err) == 0,
			"%s: what is shown can be read: %s", name, err.text))
			continue;
		is_int(policy_profile_get(again, name, &q, &err), 0, name);
		two = shown(&q);
		is_str(two, one, name);
		is_int(q.passthrough, p.passthrough, name);
	}
}

static void full_values(void)
{
	static const char body[] =
		"\"egress\":{\"allow\":[{\"host\":\"a.org\",\"ports\":[1,2],\"protocol\":\"udp\"},"
		"{\"host\":\"b.org\",\"verify\":\"sni\"},{\"host\":\"c.org\",\"verify\":\"address\"},"
		"{\"cidr\":\"169.254.169.254/32\",\"metadata\":true}]},"
		"\"rlimits\":{\"nofile\":\"unlimited\"},\"time\":{\"grace\":\"1h2m3s4ms\"},"
		"\"resources\":{\"memory\":{\"max\":\"1025KiB\"},\"cpu\":{\"max\":1.25}}";
	static const char *const parts[] = {
		"\"host\": \"a.org\"",
		"\"protocol\": \"udp\"",
		"\"metadata\": true",
		"\"verify\": \"sni\"",
		"\"verify\": \"address\"",
		"\"nofile\": \"unlimited\"",
		"\"grace\": \"1h2m3s4ms\"",
		"\"max\": \"1025KiB\"",
		"\"max\": 1.25",
		"\"core\": 0",
	};
	_cleanup_policy_ struct policy *p = NULL, *q = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL, *origins = NULL;
	struct error err = ERROR_NULL;
	struct policy_profile profile;
	size_t i;

	p = fixture_policy(body, &err);
	if (!p || policy_profile_get(p, "default", &profile, &err) < 0) {
		ok(false, "policy: %s", err.text);
		return;
	}
	text = shown(&profile);
	for (i = 0; text && i < sizeof(parts) / sizeof(parts[0]); i++)
		ok(strstr(text, parts[i]) != NULL, "shown: %s", parts[i]);
	if (text && policy_parse("shown", text, strlen(text), &q, &err) == 0 &&
	    policy_profile_get(q, "default", &profile, &err) == 0)
		again = shown(&profile);
	is_str(again, text, "every kind of value survives");
	(void)policy_profile_get(p, "default", &profile, &err);
	is_int(policy_show_origins(&profile, &origins, &err), 0, "origins");
	ok(origins && strstr(origins, "resources.memory.max = \"1025KiB\" (policy.json: "
				      "profiles.default.resources.memory.max, offset "),
	   "origin of what the file says");
	ok(origins && strstr(origins, "resources.pids.max = 512 (built-in: "
				      "profiles.default.resources.pids.max, offset "),
	   "origin of what is built in");
	ok(origins && strstr(origins, "egress.allow = [{\"host\":\"a.org\",\"ports\":[1,2],"
				      "\"protocol\":\"udp\"}"),
	   "origin of a list");
}

static void verdict_forms(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	_cleanup_free_ char *text = NULL, *json = NULL;
	struct error err = ERROR_NULL;
	struct json *root, *j;
	size_t i = 0;

	if (!decided_make(&d, &facts, NULL, NULL, NULL, NULL,
			  "\"sysctl\":{\"vm.x\":\"1\"},\"resources\":{\"memory\":{\"limit\":-1}}"))
		return;
	is_int(policy_verdict_text(&d.v, &text, &err), 0, "text");
	ok(text && str_after(text, "profile default\n"), "text: the profile first");
	ok(text && strstr(text, "\nmemory clamped: asked unlimited, given 2GiB (built-in: "
				"profiles.default.resources.memory.default, offset "),
	   "text: a change with its rule");
	ok(text &&
		   strstr(text, "\nsysctls refused: asked vm.x, given nothing (built-in: "
				"profiles.default.sysctls.allow, offset ") &&
		   strstr(text, "); to allow it, add \"vm.x\" to profiles.default.sysctls.allow in "
				"/etc/agentrun/policy.json\n"),
	   "text: a refusal with its remedy");
	is_int(policy_verdict_json(&d.v, &json, &err), 0, "json");
	if (!json || json_parse("v", json, strlen(json), 0, &a, &root, &err) < 0) {
		ok(false, "json: %s", err.text);
		return;
	}
	is_str(json_member(root, "result")->text, "refused", "json: the result");
	is_str(json_member(root, "profile")->text, "default", "json: the profile");
	for (j = json_member(root, "decisions")->kids.first; j; j = j->next, i++) {
		if (!ok(json_member(j, "control") && json_member(j, "action") &&
				json_member(j, "asked") && json_member(j, "given"),
			"json: decision %zu is whole", i))
			break;
		if (str_eq(json_member(j, "action")->text, "refused"))
			ok(json_member(j, "remedy") != NULL, "json: a refusal has a remedy");
	}
	is_int(i, d.v.count, "json: all decisions");
	ok(policy_verdict_changed(&d.v), "something changed");
}

/* All refusals are found at once; the error is the first. */
static void several_refusals(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };

	if (!decided_make(
		    &d, &facts, NULL, NULL, NULL, NULL,
		    "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"},{\"type\":\"ipc\"}],"
		    "\"sysctl\":{\"vm.x\":\"1\"}"))
		return;
	is_int(d.r, -EPERM, "refused");
	is_int(d.v.refused, 3, "all refusals are recorded");
	ok(str_after(d.err.text, "policy: namespaces: the host's network namespace is refused by "
				 "profiles.default.namespaces.host (built-in, offset ") &&
		   strstr(d.err.text,
			  "; to allow it, add \"network\" to profiles.default.namespaces.host "
			  "in /etc/agentrun/policy.json"),
	   "the first one is the error: %s", d.err.text);
	ok(strlen(d.err.text) < 300, "and short");
}

/* A remedy names the profile in use and the file that is read, also for inherited rules. */
static void remedy_of_a_child(void)
{
	static const char text[] = "{\"version\":1,\"profile\":\"mine\",\"profiles\":{\"base\":{"
				   "\"devices\":{\"network\":"
				   "[\"eth9\"]}},\"mine\":{\"inherits\":\"base\"}}}";
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };

	if (policy_parse("/etc/p.json", text, strlen(text), &d.policy, &d.err) < 0 ||
	    policy_select(d.policy, NULL, NULL, &d.profile, &d.err) < 0) {
		ok(false, "%s", d.err.text);
		return;
	}
	d.spec = fixture_spec(NULL, NULL, NAMESPACES ",\"netDevices\":{\"eth0\":{}}");
	if (!d.spec)
		return;
	is_int(policy_apply(d.spec, &d.profile, NULL, &facts, &d.v, &d.err), -EPERM, "refused");
	ok(str_after(d.err.text, "policy: network devices: eth0 is refused by "
				 "profiles.base.devices.network (/etc/p.json, offset "),
	   "the rule is where it stands: %s", d.err.text);
	ok(strstr(d.err.text, "to allow it, add \"eth0\" to profiles.mine.devices.network in "
			      "/etc/p.json") != NULL,
	   "the remedy goes into the profile in use: %s", d.err.text);
}

static const struct json *resolve(const struct json *root, const struct json *schema)
{
	const struct json *ref = schema->type == JSON_OBJECT ? json_member(schema, "$ref") : NULL;
	const char *name = ref ? str_after(ref->text, "#/$defs/") : NULL;

	while (name) {
		schema = json_member(json_member(root, "$defs"), name);
		if (!schema)
			return NULL;
		ref = json_member(schema, "$ref");
		name = ref ? str_after(ref->text, "#/$defs/") : NULL;
	}
	return schema;
}

static bool lists(const struct json *array, const char *word)
{
	const struct json *j;

	for (j = array->kids.first; j; j = j->next)
		if (str_eq(j->text, word))
			return true;
	return false;
}

static void compare_words(const struct json *root, const struct json *schema,
			  const struct json_field *f, const char *path)
{
	const struct enum_table *t = f->arg;
	const struct json *words = schema;
	size_t i;

	if (f->fn != policy_get_word && f->fn != json_get_enum) {
		words = json_member(words, "items");
		words = words ? resolve(root, words) : NULL;
	}
	words = words ? json_member(words, "enum") : NULL;
	if (!ok(words && words->kids.count == t->count, "schema: %s has %zu words", path, t->count))
		return;
	for (i = 0; i < t->count; i++)
		ok(lists(words, t->entries[i].name), "schema: %s knows %s", path,
		   t->entries[i].name);
}

static void compare(const struct json *root, const struct json *schema,
		    const struct json_object *type, const char *path)
{
	const struct json *members, *member, *j;
	const struct json_field *f;
	char below[256];
	size_t n = 0;

	schema = resolve(root, schema);
	members = schema ? json_member(schema, "properties") : NULL;
	if (!ok(members != NULL, "schema: %s is described", path))
		return;
	j = json_member(schema, "additionalProperties");
	ok(j && j->type == JSON_BOOL && !j->boolean, "schema: %s takes nothing else", path);
	for (f = type->fields; f->name; f++, n++) {
		(void)snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", f->name);
		member = json_member(members, f->name);
		if (!ok(member != NULL, "schema: %s", below))
			continue;
		if (str_eq(below, "profiles")) {
			compare(root, json_member(member, "additionalProperties"),
				&policy_profile_type, "profiles.*");
			continue;
		}
		member = resolve(root, member);
		if (f->fn == json_get_object)
			compare(root, member, f->arg, below);
		else if (f->fn == policy_get_rules)
			compare(root, json_member(member, "items"), &policy_rule_type, below);
		else if (f->fn == policy_get_word || f->fn == policy_get_mask ||
			 f->fn == policy_get_bits || f->fn == json_get_enum)
			compare_words(root, member, f, below);
	}
	is_int(members->kids.count, n, path);
}

static void schema(void)
{
	_cleanup_free_ char *path = str_printf("%s/spec", fixture_srcdir()), *data = NULL;
	_cleanup_close_ int dir = path ? open(path, O_DIRECTORY | O_CLOEXEC | O_RDONLY) : -1;
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct error err = ERROR_NULL;
	struct json *root;
	size_t len;

	if (!ok(dir >= 0 &&
			file_read_all(dir, "policy.schema.json", 1 << 20, &data, &len, &err) == 0 &&
			json_parse("policy.schema.json", data, len, 0, &a, &root, &err) == 0,
		"the schema is JSON: %s", err.text))
		return;
	compare(root, root, &policy_file_type, "");
}

int main(void)
{
	TAP_BEGIN();
	round_trip();
	full_values();
	verdict_forms();
	several_refusals();
	remedy_of_a_child();
	schema();
	return TAP_END();
}
