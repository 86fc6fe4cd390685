/*
 * A profile as a document that can be read back, as a list of where each member comes
 * from, and what of it is not in force yet. Walks the tables that read it.
 */
#include <assert.h>

#include "policy/policy_internal.h"
#include "util/json_write.h"
#include "util/str.h"

static void put_flag(struct json_writer *w, const struct json_field *f,
		     const struct policy_value *v)
{
	json_bool(w, f->name, v->n != 0);
}

static void put_bytes(struct json_writer *w, const struct json_field *f,
		      const struct policy_value *v)
{
	char buf[POLICY_TEXT_MAX];

	json_string(w, f->name, policy_bytes_text(buf, v->n));
}

static void put_count(struct json_writer *w, const struct json_field *f,
		      const struct policy_value *v)
{
	if (v->n == POLICY_UNLIMITED)
		json_string(w, f->name, "unlimited");
	else
		json_u64(w, f->name, v->n);
}

static void put_cpus(struct json_writer *w, const struct json_field *f,
		     const struct policy_value *v)
{
	json_double(w, f->name, (double)v->n / 1000);
}

static void put_time(struct json_writer *w, const struct json_field *f,
		     const struct policy_value *v)
{
	char buf[POLICY_TEXT_MAX];

	json_string(w, f->name, policy_time_text(buf, v->n));
}

static void put_text(struct json_writer *w, const struct json_field *f,
		     const struct policy_value *v)
{
	json_string(w, f->name, v->text);
}

static void put_word(struct json_writer *w, const struct json_field *f,
		     const struct policy_value *v)
{
	json_string(w, f->name, enum_to_name(f->arg, v->n));
}

static void put_set(struct json_writer *w, const struct json_field *f, const struct policy_value *v)
{
	const struct enum_table *t = f->arg;
	size_t i;

	json_array_begin(w, f->name);
	for (i = 0; i < t->count; i++) {
		uint64_t bit = f->fn == policy_get_bits ? 1ull << t->entries[i].value
							: t->entries[i].value;

		if (v->n & bit)
			json_string(w, NULL, t->entries[i].name);
	}
	json_array_end(w);
}

static void put_list(struct json_writer *w, const struct json_field *f,
		     const struct policy_value *v)
{
	size_t i;

	json_array_begin(w, f->name);
	for (i = 0; i < v->list.count; i++)
		json_string(w, NULL, v->list.items[i]);
	json_array_end(w);
}

static void put_ports(struct json_writer *w, const struct policy_ports *p)
{
	char text[POLICY_PORTS_TEXT];

	if (p->first == p->last)
		json_u64(w, NULL, p->first);
	else
		json_string(w, NULL, policy_ports_text(p, text));
}

static void put_rules(struct json_writer *w, const struct json_field *f,
		      const struct policy_value *v)
{
	size_t i, k;

	json_array_begin(w, f->name);
	for (i = 0; i < v->n_rules; i++) {
		const struct policy_rule *r = &v->rules[i];

		json_object_begin(w, NULL);
		json_string(w, r->host ? "host" : "cidr", r->host ? r->host : r->cidr);
		if (r->n_ports) {
			json_array_begin(w, "ports");
			for (k = 0; k < r->n_ports; k++)
				put_ports(w, &r->ports[k]);
			json_array_end(w);
		}
		if (r->protocol)
			json_string(w, "protocol", r->protocol == 6 ? "tcp" : "udp");
		if (r->verify)
			json_string(w, "verify", policy_verify_name(r->verify));
		if (r->metadata)
			json_bool(w, "metadata", true);
		json_object_end(w);
	}
	json_array_end(w);
}

static const struct {
	json_handler_fn fn;
	void (*put)(struct json_writer *w, const struct json_field *f,
		    const struct policy_value *v);
} writers[] = {
	{ policy_get_flag, put_flag },	  { policy_get_bytes, put_bytes },
	{ policy_get_size, put_bytes },	  { policy_get_count, put_count },
	{ policy_get_rlimit, put_count }, { policy_get_cpus, put_cpus },
	{ policy_get_time, put_time },	  { policy_get_deadline, put_time },
	{ policy_get_text, put_text },	  { policy_get_word, put_word },
	{ policy_get_mask, put_set },	  { policy_get_bits, put_set },
	{ policy_get_list, put_list },	  { policy_get_rules, put_rules },
};

static void put_leaf(struct json_writer *w, const struct json_field *f,
		     const struct policy_profile *p)
{
	const struct policy_value *v = (const struct policy_value *)((const char *)p + f->offset);
	size_t i;

	if (!v->from.path)
		return;
	for (i = 0; writers[i].fn != f->fn; i++)
		assert(i + 1 < ELEMENTSOF(writers));
	writers[i].put(w, f, v);
}

static void put_section(struct json_writer *w, const struct json_object *type,
			const struct policy_profile *p)
{
	const struct json_field *f;

	for (f = type->fields; f->name; f++) {
		if (f->fn == json_get_object) {
			json_object_begin(w, f->name);
			put_section(w, f->arg, p);
			json_object_end(w);
		} else if (!str_eq(f->name, "inherits")) {
			put_leaf(w, f, p);
		}
	}
}

int policy_show(const struct policy_profile *profile, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_u64(w, "version", 1);
	json_string(w, "profile", profile->name);
	json_object_begin(w, "profiles");
	json_object_begin(w, profile->name);
	if (profile->passthrough)
		json_string(w, "inherits", "builtin:passthrough");
	else
		put_section(w, &policy_profile_type, profile);
	json_object_end(w);
	json_object_end(w);
	json_object_end(w);
	return json_take(w, ret, err);
}

static int origins(const struct json_object *type, const struct policy_profile *p, const char *at,
		   struct buf *b, struct error *err)
{
	const struct policy_value *v;
	const struct json_field *f;
	int r;

	for (f = type->fields; f->name; f++) {
		_cleanup_json_writer_ struct json_writer *w = NULL;
		_cleanup_free_ char *text = NULL;
		char name[128];

		(void)snprintf(name, sizeof(name), "%s%s%s", at, *at ? "." : "", f->name);
		if (f->fn == json_get_object) {
			r = origins(f->arg, p, name, b, err);
			if (r < 0)
				return r;
			continue;
		}
		v = (const struct policy_value *)((const char *)p + f->offset);
		if (!v->from.path || str_eq(f->name, "inherits"))
			continue;
		w = json_writer_new(0);
		if (!w)
			return error_oom(err);
		json_object_begin(w, NULL);
		put_leaf(w, f, p);
		json_object_end(w);
		r = json_take(w, &text, err);
		if (r < 0)
			return r;
		/* Without the braces and the name of {"NAME":VALUE}. */
		buf_addf(b, "%s = %.*s (%s: %s, offset %zu)\n", name,
			 (int)(strlen(text) - strlen(f->name) - 5), text + strlen(f->name) + 4,
			 v->from.file, v->from.path, v->from.offset);
	}
	return 0;
}

int policy_show_origins(const struct policy_profile *profile, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	int r;

	if (profile->passthrough)
		buf_adds(&b, "the specification alone (built-in: profiles.passthrough)\n");
	r = origins(&policy_profile_type, profile, "", &b, err);
	if (r < 0)
		return r;
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return *ret ? 0 : error_oom(err);
}
