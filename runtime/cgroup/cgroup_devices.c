/*
 * Owns the meaning of device rules: order, resets, defaults and exceptions. Pure.
 */
#include "cgroup/cgroup_devices.h"

#include <inttypes.h>
#include <string.h>

#include "util/parse.h"

#define ANY CGROUP_DEVICE_ANY
#define RWM CGROUP_DEVICE_ALL

/*
 * What the specification calls default devices, /dev/pts/N, ptmx and console, making (not
 * opening) any node, as runc does for programs like tar and debootstrap, and /dev/net/tun,
 * which runc has always allowed and VPN containers rely on.
 */
static const struct cgroup_device_rule implied_rules[] = {
	{ true, 'c', ANY, ANY, CGROUP_DEVICE_MKNOD, true },
	{ true, 'b', ANY, ANY, CGROUP_DEVICE_MKNOD, true },
	{ true, 'c', 1, 3, RWM, true },	    /* null */
	{ true, 'c', 1, 5, RWM, true },	    /* zero */
	{ true, 'c', 1, 7, RWM, true },	    /* full */
	{ true, 'c', 1, 8, RWM, true },	    /* random */
	{ true, 'c', 1, 9, RWM, true },	    /* urandom */
	{ true, 'c', 5, 0, RWM, true },	    /* tty */
	{ true, 'c', 5, 2, RWM, true },	    /* ptmx */
	{ true, 'c', 136, ANY, RWM, true }, /* pts */
	{ true, 'c', 10, 200, RWM, true },  /* net/tun */
};

bool cgroup_device_add(struct cgroup_device_list *list, struct arena *arena,
		       const struct cgroup_device_rule *rule)
{
	struct cgroup_device_rule *items;
	size_t cap = list->cap ? list->cap * 2 : 32;

	if (list->n == list->cap) {
		items = arena_calloc(arena, cap, sizeof(*items));
		if (!items)
			return false;
		if (list->n)
			memcpy(items, list->items, list->n * sizeof(*items));
		list->items = items;
		list->cap = cap;
	}
	list->items[list->n++] = *rule;
	return true;
}

static int access_parse(const char *text, unsigned *ret)
{
	unsigned access = 0;

	if (!text || !*text) {
		*ret = RWM;
		return 0;
	}
	for (; *text; text++) {
		if (*text == 'r')
			access |= CGROUP_DEVICE_READ;
		else if (*text == 'w')
			access |= CGROUP_DEVICE_WRITE;
		else if (*text == 'm')
			access |= CGROUP_DEVICE_MKNOD;
		else
			return -EINVAL;
	}
	*ret = access;
	return 0;
}

static bool number_ok(int64_t n)
{
	return n >= ANY && n <= UINT32_MAX;
}

static int rule_convert(const struct spec_device_rule *in, size_t index,
			struct cgroup_device_rule *ret, struct error *err)
{
	char type = in->type ? in->type : 'a';

	*ret = (struct cgroup_device_rule){
		.allow = in->allow,
		.type = type == 'u' ? 'c' : type,
		.major = in->major.set ? in->major.value : ANY,
		.minor = in->minor.set ? in->minor.value : ANY,
	};
	if (ret->type != 'a' && ret->type != 'b' && ret->type != 'c')
		return error_text(err, -EINVAL, "linux.resources.devices[%zu]: invalid type \"%c\"",
				  index, type);
	if (!number_ok(ret->major) || !number_ok(ret->minor))
		return error_text(err, -EINVAL,
				  "linux.resources.devices[%zu]: invalid device number", index);
	if (access_parse(in->access, &ret->access) < 0)
		return error_text(err, -EINVAL,
				  "linux.resources.devices[%zu]: invalid access \"%s\"", index,
				  in->access);
	return 0;
}

static int list_append(struct cgroup_device_list *list, struct arena *arena,
		       struct cgroup_device_rule rule, struct error *err)
{
	/* Everything for all devices: what came before has no say any more. */
	if (rule.type == 'a' && rule.major == ANY && rule.minor == ANY && rule.access == RWM) {
		list->default_allow = rule.allow;
		list->n = 0;
		return 0;
	}
	if (rule.type != 'a')
		return cgroup_device_add(list, arena, &rule) ? 0 : error_oom(err);
	/* The kernel takes 'a' for the whole world, whatever numbers follow; meant are both types.
	 */
	rule.type = 'b';
	if (!cgroup_device_add(list, arena, &rule))
		return error_oom(err);
	rule.type = 'c';
	return cgroup_device_add(list, arena, &rule) ? 0 : error_oom(err);
}

/* Access that only runc's habit gives: to other nodes than the usual ones. */
static bool is_courtesy(const struct cgroup_device_rule *r)
{
	return r->access == CGROUP_DEVICE_MKNOD || (r->major == 10 && r->minor == 200);
}

int cgroup_devices_rules(const struct spec_resources *resources, bool strict, struct arena *arena,
			 struct cgroup_device_list *ret, struct error *err)
{
	struct cgroup_device_list list = { 0 };
	struct cgroup_device_rule rule;
	size_t i;
	int r;

	for (i = 0; resources && i < resources->devices.count; i++) {
		r = rule_convert(&resources->devices.items[i], i, &rule, err);
		if (r == 0)
			r = list_append(&list, arena, rule, err);
		if (r < 0)
			return r;
	}
	for (i = 0; i < ELEMENTSOF(implied_rules); i++) {
		if (strict && is_courtesy(&implied_rules[i]))
			continue;
		r = list_append(&list, arena, implied_rules[i], err);
		if (r < 0)
			return r;
	}
	*ret = list;
	return 0;
}

static bool same_device(const struct cgroup_device_rule *a, const struct cgroup_device_rule *b)
{
	return a->type == b->type && a->major == b->major && a->minor == b->minor;
}

static bool number_overlap(int64_t a, int64_t b)
{
	return a == ANY || b == ANY || a == b;
}

static bool overlap(const struct cgroup_device_rule *a, const struct cgroup_device_rule *b)
{
	return a->type == b->type && number_overlap(a->major, b->major) &&
	       number_overlap(a->minor, b->minor) && (a->access & b->access);
}

static bool number_covers(int64_t wide, int64_t narrow)
{
	return wide == ANY || wide == narrow;
}

static bool covers(const struct cgroup_device_rule *wide, const struct cgroup_device_rule *narrow)
{
	return wide->type == narrow->type && number_covers(wide->major, narrow->major) &&
	       number_covers(wide->minor, narrow->minor);
}

static int partial(const struct cgroup_device_rule *r, const struct cgroup_device_rule *old,
		   struct error *err)
{
	return error_text(err, -EINVAL,
			  "device rule %s %c %" PRId64 ":%" PRId64 " takes a part out of the rule "
			  "%c %" PRId64 ":%" PRId64 " (-1 = any), which cgroup v1 cannot express",
			  r->allow ? "allow" : "deny", r->type, r->major, r->minor, old->type,
			  old->major, old->minor);
}

/* A rule in the sense of the default takes exceptions back. */
static int exceptions_remove(struct cgroup_device_list *list, const struct cgroup_device_rule *rule,
			     struct error *err)
{
	size_t i, out = 0;

	for (i = 0; i < list->n; i++) {
		if (overlap(&list->items[i], rule)) {
			if (covers(rule, &list->items[i]))
				list->items[i].access &= ~rule->access;
			else if (!rule->implied) /* of those nobody asked to have less denied */
				return partial(rule, &list->items[i], err);
		}
		if (list->items[i].access)
			list->items[out++] = list->items[i];
	}
	list->n = out;
	return 0;
}

static int exceptions_add(struct cgroup_device_list *list, struct arena *arena,
			  const struct cgroup_device_rule *rule, struct error *err)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!same_device(&list->items[i], rule))
			continue;
		list->items[i].access |= rule->access;
		list->items[i].implied = list->items[i].implied && rule->implied;
		return 0;
	}
	return cgroup_device_add(list, arena, rule) ? 0 : error_oom(err);
}

int cgroup_devices_exceptions(const struct cgroup_device_list *rules, struct arena *arena,
			      struct cgroup_device_list *ret, struct error *err)
{
	struct cgroup_device_list list = { .default_allow = rules->default_allow };
	size_t i;
	int r;

	for (i = 0; i < rules->n; i++) {
		if (rules->items[i].allow == list.default_allow)
			r = exceptions_remove(&list, &rules->items[i], err);
		else
			r = exceptions_add(&list, arena, &rules->items[i], err);
		if (r < 0)
			return r;
	}
	*ret = list;
	return 0;
}

static int number_parse(const char *s, int64_t *ret)
{
	uint32_t n;
	int r;

	if (strcmp(s, "*") == 0) {
		*ret = ANY;
		return 0;
	}
	r = parse_u32(s, &n);
	if (r == 0)
		*ret = n;
	return r;
}

int cgroup_devices_list_parse(const char *text, struct arena *arena, struct cgroup_device_list *ret,
			      struct error *err)
{
	struct cgroup_device_list list = { 0 };
	char *copy = arena_strdup(arena, text), *save = NULL, *line;

	if (!copy)
		return error_oom(err);
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct cgroup_device_rule rule = { .allow = true, .type = line[0] };
		char *major = line + 2, *minor, *access;

		if (line[0] == 'a') {
			list.default_allow = true;
			list.n = 0;
			continue;
		}
		minor = line[0] && line[1] == ' ' ? strchr(major, ':') : NULL;
		access = minor ? strchr(minor, ' ') : NULL;
		if (!access || (rule.type != 'b' && rule.type != 'c'))
			return error_text(err, -EBADMSG, "unexpected line in devices.list: %s",
					  line);
		*minor++ = '\0';
		*access++ = '\0';
		if (number_parse(major, &rule.major) < 0 || number_parse(minor, &rule.minor) < 0 ||
		    access_parse(access, &rule.access) < 0)
			return error_text(err, -EBADMSG, "unexpected entry in devices.list");
		if (!cgroup_device_add(&list, arena, &rule))
			return error_oom(err);
	}
	*ret = list;
	return 0;
}
