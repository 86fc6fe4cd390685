/*
 * Owns inheritance and the choice of a profile: what a profile is with all it inherits,
 * and which one a container gets. Knows annotations only by name.
 */
#include <assert.h>

#include "policy/policy_internal.h"
#include "util/str.h"

#define BUILTIN "builtin:"

/* A profile as written and the document it stands in. */
struct found {
	const struct policy *doc;
	const struct policy_profile *raw; /* NULL: there is none */
};

static const struct policy_profile *find_raw(const struct policy *doc, const char *name)
{
	size_t i;

	for (i = 0; i < doc->n_profiles; i++)
		if (str_eq(doc->profiles[i].name, name))
			return &doc->profiles[i];
	return NULL;
}

static struct found find(const struct policy *p, const char *name)
{
	struct found f = { p, find_raw(p, name) };

	if (!f.raw && p->builtin) {
		f.doc = p->builtin;
		f.raw = find_raw(p->builtin, name);
	}
	return f;
}

const char *policy_profile_name(const struct policy *p, size_t i)
{
	size_t k;

	if (i < p->n_profiles)
		return p->profiles[i].name;
	if (!p->builtin)
		return NULL;
	i -= p->n_profiles;
	for (k = 0; k < p->builtin->n_profiles; k++)
		if (!find_raw(p, p->builtin->profiles[k].name) && i-- == 0)
			return p->builtin->profiles[k].name;
	return NULL;
}

static int unknown_profile(const struct policy *p, const struct policy_origin *at, const char *name,
			   struct error *err)
{
	_cleanup_buf_ struct buf known = BUF_NULL;
	const char *k;
	size_t i;

	for (i = 0; (k = policy_profile_name(p, i)); i++)
		policy_list_add(&known, "%s", k);
	if (at)
		return policy_error_at(err, at, "there is no profile \"%.100s\" (there are: %s)",
				       name, known.data ? known.data : "none");
	return error_text(err, -EINVAL, "policy %s: there is no profile \"%.100s\" (there are: %s)",
			  p->name, name, known.data ? known.data : "none");
}

/*
 * What raw inherits. A profile that names nothing has the shipped one of its own name
 * below it, or else the default one: "strict": {} must not be weaker than strict.
 */
static int parent_of(const struct found *f, struct found *ret, struct error *err)
{
	const struct policy *shipped = f->doc->builtin ? f->doc->builtin : f->doc;
	const char *name = f->raw->inherits.text, *plain;

	*ret = (struct found){ shipped, NULL };
	if (name) {
		plain = str_after(name, BUILTIN);
		ret->doc = plain ? shipped : f->doc;
		ret->raw = find_raw(ret->doc, plain ? plain : name);
		if (ret->raw)
			return 0;
		if (!plain && find_raw(shipped, name))
			return policy_error_at(err, &f->raw->inherits.from,
					       "the shipped profile is written \"" BUILTIN "%s\"",
					       name);
		return unknown_profile(f->doc, &f->raw->inherits.from, plain ? plain : name, err);
	}
	if (f->doc != shipped)
		ret->raw = find_raw(shipped, f->raw->name);
	if (!ret->raw && !(f->doc == shipped && (str_eq(f->raw->name, "default") ||
						 str_eq(f->raw->name, "passthrough"))))
		ret->raw = find_raw(shipped, "default");
	return 0;
}

static void overlay_leaves(const struct json_object *type, struct policy_profile *to,
			   const struct policy_profile *from)
{
	const struct json_field *f;
	const struct policy_value *v;

	for (f = type->fields; f->name; f++) {
		if (f->fn == json_get_object) {
			overlay_leaves(f->arg, to, from);
			continue;
		}
		v = (const struct policy_value *)((const char *)from + f->offset);
		if (v->from.path)
			*policy_leaf(to, f) = *v;
	}
}

/*
 * A default above an inherited maximum raises it, a maximum below an inherited default
 * lowers it: one line in a file is enough to move a limit.
 */
static void overlay_limits(struct policy_profile *to, const struct policy_profile *from)
{
	size_t i, at;

	for (i = 0; (at = policy_limit_offset(i)) != SIZE_MAX; i++) {
		struct policy_limit *l = (struct policy_limit *)((char *)to + at);
		const struct policy_limit *own =
			(const struct policy_limit *)((const char *)from + at);

		if (l->def.n <= l->max.n)
			continue;
		if (own->max.from.path)
			l->def = l->max;
		else
			l->max = l->def;
	}
}

/* The chain from raw up to its root; items[0] is raw. */
static int chain_of(const struct found *first, struct found items[POLICY_INHERITS_MAX],
		    size_t *ret_count, struct error *err)
{
	struct found f = *first, next;
	size_t n = 0, i;
	int r;

	do {
		for (i = 0; i < n; i++)
			if (items[i].raw == f.raw)
				return policy_error_at(err, &items[n - 1].raw->inherits.from,
						       "the profile %s inherits itself%s",
						       f.raw->name,
						       n == 1 ? "; the shipped one is written with "
								"\"" BUILTIN "\" before its name"
							      : "");
		if (n == POLICY_INHERITS_MAX)
			return policy_error_at(err, &items[n - 1].raw->inherits.from,
					       "more than %d profiles inherit one another",
					       POLICY_INHERITS_MAX);
		items[n++] = f;
		r = parent_of(&f, &next, err);
		if (r < 0)
			return r;
		f = next;
	} while (f.raw);
	*ret_count = n;
	return 0;
}

static bool has_members(const struct json_object *type, const struct policy_profile *raw)
{
	const struct json_field *f;
	const struct policy_value *v;

	for (f = type->fields; f->name; f++) {
		v = (const struct policy_value *)((const char *)raw + f->offset);
		if (f->fn == json_get_object ? has_members(f->arg, raw)
					     : v->from.path && !str_eq(f->name, "inherits"))
			return true;
	}
	return false;
}

static bool in_chain(const struct found *items, size_t n, const struct policy *shipped,
		     const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (items[i].doc == shipped && str_eq(items[i].raw->name, name))
			return true;
	return false;
}

static int resolve(const struct policy *p, const struct found *first, struct policy_profile *ret,
		   struct error *err)
{
	const struct policy *shipped = p->builtin ? p->builtin : p;
	struct found items[POLICY_INHERITS_MAX];
	size_t n = 0, i;
	int r;

	r = chain_of(first, items, &n, err);
	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	for (i = n; i-- > 0;) {
		overlay_leaves(&policy_profile_type, ret, items[i].raw);
		overlay_limits(ret, items[i].raw);
	}
	ret->name = first->raw->name;
	ret->policy_file = p->builtin ? p->name : POLICY_FILE;
	ret->passthrough = in_chain(items, n, shipped, "passthrough");
	ret->monitored = !in_chain(items, n, shipped, "sandbox");
	if (!ret->passthrough)
		return 0;
	/* Nothing would enforce them. */
	for (i = 0; i < n; i++)
		if (has_members(&policy_profile_type, items[i].raw))
			return error_text(err, -EINVAL,
					  "%s: profiles.%s: a profile that inherits "
					  "\"" BUILTIN "passthrough\" can have no other members",
					  p->name, items[i].raw->name);
	return 0;
}

static int check_limits(const struct policy_profile *raw, struct error *err)
{
	size_t i, at;

	for (i = 0; (at = policy_limit_offset(i)) != SIZE_MAX; i++) {
		const struct policy_limit *l =
			(const struct policy_limit *)((const char *)raw + at);

		if (l->def.from.path && l->max.from.path && l->def.n > l->max.n)
			return policy_error_at(
				err, &l->def.from,
				"the default is above the maximum of the same profile");
	}
	return 0;
}

int policy_check_profiles(const struct policy *p, struct error *err)
{
	struct policy_profile effective;
	size_t i;
	int r;

	for (i = 0; i < p->n_profiles; i++) {
		const struct found f = { p, &p->profiles[i] };

		r = check_limits(f.raw, err);
		if (r < 0)
			return r;
		r = resolve(p, &f, &effective, err);
		if (r < 0)
			return r;
	}
	if (!find(p, p->profile.text).raw)
		return unknown_profile(p, &p->profile.from, p->profile.text, err);
	for (i = 0; i < p->requestable.list.count; i++)
		if (!find(p, p->requestable.list.items[i]).raw)
			return unknown_profile(p, &p->requestable.from,
					       p->requestable.list.items[i], err);
	return 0;
}

int policy_profile_get(const struct policy *p, const char *name, struct policy_profile *ret,
		       struct error *err)
{
	struct found f;

	assert(p && name && ret && err);

	f = find(p, name);
	if (!f.raw)
		return unknown_profile(p, NULL, name, err);
	return resolve(p, &f, ret, err);
}

static const char *annotation(const struct str_map *map, const char *key)
{
	size_t i;

	for (i = 0; map && i < map->count; i++)
		if (str_eq(map->items[i].key, key))
			return map->items[i].value;
	return NULL;
}

static bool is_pod_sandbox(const struct str_map *annotations)
{
	const char *containerd = annotation(annotations, "io.kubernetes.cri.container-type");
	const char *crio = annotation(annotations, "io.kubernetes.cri-o.ContainerType");

	return (containerd && str_eq(containerd, "sandbox")) || (crio && str_eq(crio, "sandbox"));
}

static bool requestable(const struct policy *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->requestable.list.count; i++)
		if (str_eq(p->requestable.list.items[i], name))
			return true;
	return false;
}

/* An annotation may come out of an image: it chooses among what the operator listed. */
static int check_request(const struct policy *p, const char *flag, const char *wanted,
			 struct error *err)
{
	if (str_eq(wanted, flag ? flag : p->profile.text))
		return 0;
	if (flag)
		return error_text(
			err, -EPERM,
			"policy: annotation org.agentrun.profile asks for \"%.64s\", but the "
			"engine's --profile fixes \"%s\"; remove one of the two",
			wanted, flag);
	if (requestable(p, wanted))
		return 0;
	return error_text(
		err, -EPERM,
		"policy: annotation org.agentrun.profile asks for \"%.64s\", which is not "
		"in %s (%s); to allow it, add it to requestable in %s",
		wanted, p->requestable.from.path, p->requestable.from.file,
		p->builtin ? p->name : POLICY_FILE);
}

int policy_select(const struct policy *p, const char *flag, const struct str_map *annotations,
		  struct policy_profile *ret, struct error *err)
{
	const char *wanted = annotation(annotations, "org.agentrun.profile");
	const char *name = flag ? flag : p->profile.text;
	struct policy_value host;
	int r;

	assert(p && ret && err);

	if (flag && policy_sealed(p) && !str_eq(flag, p->profile.text))
		return error_text(
			err, -EPERM,
			"policy: --profile %.64s is refused, %s is sealed (offset %zu); use "
			"the profile \"%s\" or set sealed to false there",
			flag, p->name, p->sealed.from.offset, p->profile.text);
	if (wanted) {
		r = check_request(p, flag, wanted, err);
		if (r < 0)
			return r;
		name = wanted;
	}
	r = policy_profile_get(p, name, ret, err);
	if (r < 0 || ret->passthrough || !is_pod_sandbox(annotations))
		return r;
	/* Fixed, whatever the file says: claiming to be a sandbox only takes away. */
	host = ret->namespaces.host;
	name = ret->name;
	r = policy_profile_get(p->builtin ? p->builtin : p, "sandbox", ret, err);
	if (r < 0)
		return r;
	ret->policy_file = p->builtin ? p->name : POLICY_FILE;
	/* A pod on the host's network has its sandbox there, too: what may be shared is no more than without the claim. */
	ret->namespaces.host = host;
	ret->pod_profile = name;
	return 0;
}
