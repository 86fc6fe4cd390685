/*
 * Device nodes and device rules. A node is judged by its numbers: the path is what the
 * requester calls it.
 */
#include <inttypes.h>

#include "policy/policy_internal.h"

#define ANY (-1)

/* Every container has these: null zero full random urandom tty console ptmx pts. */
static const struct policy_device usual[] = {
	{ NULL, 'c', 1, 3 }, { NULL, 'c', 1, 5 }, { NULL, 'c', 1, 7 },
	{ NULL, 'c', 1, 8 }, { NULL, 'c', 1, 9 }, { NULL, 'c', 5, 0 },
	{ NULL, 'c', 5, 1 }, { NULL, 'c', 5, 2 }, { NULL, 'c', 136, ANY },
};

/* minor ANY asks for all of them. */
static bool within(const struct policy_device *d, char type, int64_t major, int64_t minor)
{
	return d->type == type && major != ANY && d->major == major &&
	       (d->minor == ANY || d->minor == minor);
}

static bool permitted(const struct policy_work *w, char type, int64_t major, int64_t minor)
{
	const struct strv *allow = &w->profile->devices.allow.list;
	struct policy_device d;
	size_t i;

	for (i = 0; i < ELEMENTSOF(usual); i++)
		if (within(&usual[i], type, major, minor))
			return true;
	for (i = 0; i < allow->count; i++)
		if (policy_device_parse(allow->items[i], &d) && within(&d, type, major, minor))
			return true;
	for (i = 0; i < w->facts->n_devices; i++)
		if (within(&w->facts->devices[i], type, major, minor))
			return true;
	return false;
}

static void note_dropped(struct policy_work *w, const char *control, const struct buf *dropped)
{
	if (!buf_ok(dropped))
		w->failed = true;
	else if (dropped->len)
		policy_note(w->v, control, POLICY_DROPPED, &w->profile->devices.allow,
			    dropped->data, "the usual devices and those listed");
}

static void decide_nodes(struct policy_work *w, struct spec_devices *devices)
{
	_cleanup_buf_ struct buf dropped = BUF_NULL;
	size_t i, n = 0;

	for (i = 0; i < devices->count; i++) {
		struct spec_device d = devices->items[i];

		if (d.type == 'p' || permitted(w, d.type, d.major, d.minor))
			devices->items[n++] = d;
		else
			policy_list_add(&dropped, "%.60s", d.path);
	}
	devices->count = n;
	note_dropped(w, "devices", &dropped);
}

static void number_text(char *buf, size_t size, const struct opt_i64 *n)
{
	if (!n->set || n->value == ANY)
		(void)snprintf(buf, size, "*");
	else
		(void)snprintf(buf, size, "%" PRId64, n->value);
}

static void drop_rule(struct buf *dropped, const struct spec_device_rule *r)
{
	char major[24], minor[24];

	number_text(major, sizeof(major), &r->major);
	number_text(minor, sizeof(minor), &r->minor);
	policy_list_add(dropped, "%c %s:%s %s", r->type ? r->type : 'a', major, minor,
			r->access ? r->access : "rwm");
}

/*
 * A rule that allows must name devices that are permitted; what forbids stays. All of it
 * follows one rule that forbids everything, wherever the configuration began.
 */
static void decide_rules(struct policy_work *w, struct spec_resources *res)
{
	_cleanup_buf_ struct buf dropped = BUF_NULL;
	size_t i, n = 0, count = res->devices.count;
	struct spec_device_rule *rules = policy_alloc(w, count + 1, sizeof(*rules));

	if (!rules)
		return;
	rules[n++] = (struct spec_device_rule){ .allow = false, .type = 'a' };
	for (i = 0; i < count; i++) {
		const struct spec_device_rule *r = &res->devices.items[i];
		int64_t major = r->major.set ? r->major.value : ANY;
		int64_t minor = r->minor.set ? r->minor.value : ANY;
		char type = r->type == 'u' ? 'c' : r->type;

		/* Before a rule like the first one nothing counts. */
		if (!r->allow && (!type || type == 'a'))
			continue;
		if (!r->allow || permitted(w, type, major, minor))
			rules[n++] = *r;
		else
			drop_rule(&dropped, r);
	}
	res->devices.items = rules;
	res->devices.count = n;
	note_dropped(w, "device rules", &dropped);
}

/* Moving a device in takes it away from the host. */
static void decide_net_devices(struct policy_work *w, struct spec_net_devices *devices)
{
	const struct policy_value *allow = &w->profile->devices.network;
	size_t i, k;

	for (i = 0; i < devices->count; i++) {
		for (k = 0; k < allow->list.count; k++)
			if (str_eq(allow->list.items[k], devices->items[i].host_name))
				break;
		if (k == allow->list.count)
			policy_refuse(w->v, "network devices", allow, devices->items[i].host_name,
				      "add \"%.16s\" to %s", devices->items[i].host_name,
				      policy_place(w->v, allow));
	}
}

void policy_do_devices(struct policy_work *w, struct spec_linux *l)
{
	const struct policy_value *accept = &w->profile->devices.accept;

	decide_nodes(w, &l->devices);
	decide_rules(w, l->resources);
	decide_net_devices(w, &l->net_devices);
	w->v->grant.devices_strict = true;
	if (w->facts->controllers & POLICY_CG_DEVICES)
		return;
	/* A user namespace cannot make nodes, but it can open those that a mount brings in. */
	if (accept->n & POLICY_ACCEPT_NONE)
		policy_note(w->v, "device rules", POLICY_DROPPED, accept, "rules",
			    "no rules: this process cannot put any in force");
	else
		policy_refuse(w->v, "device rules", accept, "a start without device rules",
			      "run as root, or add \"none\" to %s", policy_place(w->v, accept));
}
