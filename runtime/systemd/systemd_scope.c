/*
 * Owns what is asked of systemd for a scope: the scope with its first process, and the
 * slices on the way that nobody has described. Those would stay when the last container
 * has gone; so they come as units that end when nothing needs them, which systemd judges
 * without a race against the next container.
 */
#include "systemd/systemd_private.h"

#include "util/str.h"

/* True: inactive, and known to systemd by its name only. */
static bool slice_is_new(struct systemd *s, const char *slice)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_free_ char *state = NULL, *file = NULL;
	const char *path;

	if (sd_bus_call_method(s->bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, "LoadUnit", NULL,
			       &reply, "s", slice) < 0 ||
	    sd_bus_message_read(reply, "o", &path) < 0 ||
	    sd_bus_get_property_string(s->bus, SYSTEMD_NAME, path, SYSTEMD_NAME ".Unit", "ActiveState",
				       NULL, &state) < 0 ||
	    sd_bus_get_property_string(s->bus, SYSTEMD_NAME, path, SYSTEMD_NAME ".Unit", "FragmentPath",
				       NULL, &file) < 0)
		return false;
	return str_eq(state, "inactive") && file[0] == '\0';
}

static int slice_append(sd_bus_message *m, const char *slice)
{
	const char *const yes = "true", *const what = "agentrun containers";
	int r;

	r = sd_bus_message_open_container(m, 'r', "sa(sv)");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", slice);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(sv)");
	if (r >= 0)
		r = systemd_prop_append(m, "Description", "s", &what, 1);
	if (r >= 0)
		r = systemd_prop_append(m, "StopWhenUnneeded", "b", &yes, 1);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int slices_append(struct systemd *s, sd_bus_message *m, const char *slice, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	char *slices[CGROUP_SLICES_MAX];
	size_t i, n;
	int r;

	r = cgroup_scope_slices(slice, &arena, slices, &n, err);
	if (r < 0)
		return r;
	r = sd_bus_message_open_container(m, 'a', "(sa(sv))");
	for (i = 0; r >= 0 && i < n; i++)
		if (slice_is_new(s, slices[i]))
			r = slice_append(m, slices[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? error_set(err, r, "compose the slices of %s", slice) : 0;
}

int systemd_scope_message(struct systemd *s, const char *unit, const char *slice,
			  const struct cgroup_props *props, sd_bus_message **ret, struct error *err)
{
	/* 0: the sender of this message, as the kernel names it to systemd. */
	const char *const self = "0";
	_cleanup_message_ sd_bus_message *m = NULL;
	int r;

	r = sd_bus_message_new_method_call(s->bus, &m, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER,
					   "StartTransientUnit");
	if (r >= 0)
		r = sd_bus_message_append(m, "ss", unit, "fail");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(sv)");
	if (r >= 0)
		r = systemd_prop_append(m, "Slice", "s", &slice, 1);
	if (r >= 0)
		r = systemd_prop_append(m, "PIDs", "au", &self, 1);
	if (r < 0)
		return error_set(err, r, "compose the start of %s", unit);
	r = systemd_props_append(s, m, props, err);
	if (r < 0)
		return r;
	r = sd_bus_message_close_container(m);
	if (r < 0)
		return error_set(err, r, "compose the start of %s", unit);
	r = slices_append(s, m, slice, err);
	if (r == 0)
		*ret = take_ptr(m);
	return r;
}
