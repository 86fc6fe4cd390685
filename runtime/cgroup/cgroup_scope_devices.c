/*
 * Owns device rules in systemd's words. They are wider than the rules where the words are
 * poorer; our own program (v2) or our own writes (v1) have the last say. Needed all the
 * same: on v1 a reload of systemd would otherwise open all devices. Pure.
 */
#include "cgroup/cgroup_scope.h"

#include <inttypes.h>

#include "util/str.h"

/* The name that a driver took its major under, from "Character devices:\n  1 mem\n…". */
static bool major_name(const char *text, char type, int64_t major, char *buf, size_t size)
{
	bool here = false;
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		unsigned number;
		char name[64];

		len = strcspn(text, "\n");
		if (len > 0 && text[len - 1] == ':')
			here = (type == 'b') == (text[0] == 'B');
		if (!here || sscanf(text, "%u %63s", &number, name) != 2 || number != major)
			continue;
		(void)snprintf(buf, size, "%s-%s", type == 'b' ? "block" : "char", name);
		return true;
	}
	return false;
}

/* False: no driver has the major, so there is no device to allow. */
static bool rule_name(const struct cgroup_device_rule *r, const char *proc_devices, char *buf, size_t size)
{
	const char *kind = r->type == 'b' ? "block" : "char";

	if (r->major == CGROUP_DEVICE_ANY)
		(void)snprintf(buf, size, "%s-*", kind);
	else if (r->minor == CGROUP_DEVICE_ANY)
		return major_name(proc_devices, r->type, r->major, buf, size);
	else
		(void)snprintf(buf, size, "/dev/%s/%" PRId64 ":%" PRId64, kind, r->major, r->minor);
	return true;
}

static void access_text(unsigned access, char buf[4])
{
	size_t n = 0;

	if (access & CGROUP_DEVICE_READ)
		buf[n++] = 'r';
	if (access & CGROUP_DEVICE_WRITE)
		buf[n++] = 'w';
	if (access & CGROUP_DEVICE_MKNOD)
		buf[n++] = 'm';
	buf[n] = '\0';
}

int cgroup_props_devices(struct cgroup_props *p, const struct cgroup_device_list *rules,
			 const char *proc_devices, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	const char **values;
	size_t i, n = 0;

	if (rules->default_allow) {
		cgroup_props_string(p, "DevicePolicy", 0, "auto");
		cgroup_props_add(p, "DeviceAllow", "a(ss)", 0, NULL, 0);
		return 0;
	}
	values = arena_calloc(&arena, 2 * rules->n + 1, sizeof(*values));
	if (!values)
		return error_oom(err);
	if (2 * rules->n > CGROUP_VALUES_MAX)
		return error_text(err, -E2BIG, "more than %d device rules", CGROUP_VALUES_MAX / 2);
	for (i = 0; i < rules->n; i++) {
		char name[96], access[4];

		if (!rules->items[i].allow ||
		    !rule_name(&rules->items[i], proc_devices, name, sizeof(name)))
			continue;
		access_text(rules->items[i].access, access);
		values[n] = arena_strdup(&arena, name);
		values[n + 1] = arena_strdup(&arena, access);
		if (!values[n] || !values[n + 1])
			return error_oom(err);
		n += 2;
	}
	cgroup_props_string(p, "DevicePolicy", 0, "strict");
	cgroup_props_add(p, "DeviceAllow", "a(ss)", 0, values, n);
	return 0;
}
