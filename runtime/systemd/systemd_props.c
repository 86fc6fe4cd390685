/*
 * Owns the step from properties as text to D-Bus values.
 */
#include "systemd/systemd_private.h"

#include "util/parse.h"
#include "util/str.h"

static int integer_append(sd_bus_message *m, char type, const char *value)
{
	uint64_t u = 0;
	int64_t i = 0;
	bool b;
	int r;

	if (type == 'b') {
		r = parse_bool(value, &b);
		return r < 0 ? r : sd_bus_message_append(m, "b", (int)b);
	}
	r = strchr("nix", type) ? parse_i64(value, &i) : parse_u64(value, &u);
	if (r < 0)
		return r;
	switch (type) {
	case 'y':
		return u > UINT8_MAX ? -ERANGE : sd_bus_message_append(m, "y", (int)u);
	case 'q':
		return u > UINT16_MAX ? -ERANGE : sd_bus_message_append(m, "q", (int)u);
	case 'u':
		return u > UINT32_MAX ? -ERANGE : sd_bus_message_append(m, "u", (uint32_t)u);
	case 't':
		return sd_bus_message_append(m, "t", u);
	case 'n':
		return i < INT16_MIN || i > INT16_MAX ? -ERANGE : sd_bus_message_append(m, "n", (int)i);
	case 'i':
		return i < INT32_MIN || i > INT32_MAX ? -ERANGE : sd_bus_message_append(m, "i", (int)i);
	default:
		return sd_bus_message_append(m, "x", i);
	}
}

static int value_append(sd_bus_message *m, char type, const char *value)
{
	return type == 's' || type == 'o' ? sd_bus_message_append_basic(m, type, value) :
					    integer_append(m, type, value);
}

static int variant_append(sd_bus_message *m, const char *signature, const char *const *values,
			  size_t n)
{
	size_t i;
	int r;

	if (*signature != 'a')
		return n == 1 ? value_append(m, *signature, values[0]) : -EINVAL;
	r = sd_bus_message_open_container(m, 'a', signature + 1);
	for (i = 0; r >= 0 && i < n; i++) {
		if (signature[1] != '(')
			r = value_append(m, signature[1], values[i]);
		else if (i % 2 == 0)
			r = sd_bus_message_append(m, "(ss)", values[i], values[i + 1]);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int systemd_prop_append(sd_bus_message *m, const char *name, const char *signature,
			const char *const *values, size_t n)
{
	int r;

	r = sd_bus_message_open_container(m, 'r', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", name);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', signature);
	if (r >= 0)
		r = variant_append(m, signature, values, n);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int systemd_props_append(struct systemd *s, sd_bus_message *m, const struct cgroup_props *props,
			 struct error *err)
{
	unsigned version;
	size_t i;
	int r;

	for (i = 0; i < props->n; i++) {
		const struct cgroup_prop *x = &props->items[i];

		if (x->since) {
			r = systemd_version(s, &version, err);
			if (r < 0)
				return r;
			if (version < x->since)
				continue;
		}
		r = systemd_prop_append(m, x->name, x->signature, (const char *const *)x->values, x->n);
		if (r < 0)
			return error_set(err, r, "set unit property %s", x->name);
	}
	return 0;
}
