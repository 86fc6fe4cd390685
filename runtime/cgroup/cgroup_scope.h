/*
 * A container's systemd unit: its name and place, its properties, and the messages to the
 * helper program that speaks D-Bus. All but the peer's functions are pure.
 *
 * Properties are for systemd's own view (systemctl show, a daemon-reload that writes limits
 * anew); what is in force is what we write into the cgroup's files afterwards.
 */
#pragma once

#include <limits.h>

#include "cgroup/cgroup_devices.h"
#include "cgroup/cgroup_writes.h"
#include "util/arena.h"

#define CGROUP_UNIT_MAX	    255 /* systemd's UNIT_NAME_MAX */
#define CGROUP_SLICES_MAX   16
#define CGROUP_PROPS_MAX    64
#define CGROUP_VALUES_MAX   4096
#define CGROUP_SCOPE_MSG_MAX ((size_t)128 * 1024)
#define CGROUP_SCOPE_HELPER "agentrun-systemd"

struct cgroup_scope_name {
	char *slice;
	char *unit;
	bool is_slice; /* the unit is a slice itself: it holds no process that systemd was told of */
	char *folder; /* "/a.slice/a-b.slice/x.scope", below the manager's own cgroup */
};

/*
 * "slice:prefix:name" (NULL or "": the defaults) to PREFIX-NAME.scope in the slice; a name that
 * ends in ".slice" is the unit itself. Empty slice: system.slice, or user.slice of a user.
 * Strings live in the arena.
 */
int cgroup_scope_name(const char *path, const char *id, bool user, struct arena *arena,
		      struct cgroup_scope_name *ret, struct error *err);
/* "a-b.slice" and its ancestors, outermost first: "a.slice", "a-b.slice"; none for "-.slice". */
int cgroup_scope_slices(const char *slice, struct arena *arena, char *ret[CGROUP_SLICES_MAX],
			size_t *ret_count, struct error *err);

/* One property: a D-Bus signature and its basic values as text, in order. */
struct cgroup_prop {
	const char *name;
	const char *signature; /* one of cgroup_props_signature_ok() */
	unsigned since; /* systemd version that knows it; older ones do not get it; 0 = all */
	const char **values;
	size_t n;
};

struct cgroup_props {
	struct arena arena;
	struct cgroup_prop items[CGROUP_PROPS_MAX];
	size_t n;
	bool failed; /* out of memory, or too many */
};

#define CGROUP_PROPS_NULL ((struct cgroup_props){ .n = 0 })

/* A property of the same name is replaced. values are copied. */
void cgroup_props_add(struct cgroup_props *p, const char *name, const char *signature,
		      unsigned since, const char *const *values, size_t n);
void cgroup_props_u64(struct cgroup_props *p, const char *name, unsigned since, uint64_t value);
void cgroup_props_string(struct cgroup_props *p, const char *name, unsigned since,
			 const char *value);
void cgroup_props_bool(struct cgroup_props *p, const char *name, bool value);
void cgroup_props_done(struct cgroup_props *p);
#define _cleanup_cgroup_props_ _cleanup_(cgroup_props_done)
/* Signatures that both ends can carry: b y n q i u x t s o, arrays of them, a(ss). */
bool cgroup_props_signature_ok(const char *signature);

/* The limits that systemd has a property for, of either version of the hierarchy. */
int cgroup_props_limits(struct cgroup_props *p, const struct cgroup_writes *w, struct error *err);
/*
 * DevicePolicy and DeviceAllow, never narrower than the rules: systemd has no deny rules.
 * proc_devices: the text of /proc/devices, which names majors.
 */
int cgroup_props_devices(struct cgroup_props *p, const struct cgroup_device_list *rules,
			 const char *proc_devices, struct error *err);
/*
 * Annotations org.systemd.property.NAME with a value in GVariant's text form. any: every name;
 * else those alone that say how the unit is ended, ordered and described, because an image
 * may bring annotations, and a property may start units or move processes.
 */
int cgroup_props_annotations(struct cgroup_props *p, const struct str_map *annotations, bool any,
			     struct error *err);
/* Pure part of the above: 'text', true, uint64 5, ['a', 'b'] … to signature and values. */
int cgroup_variant_parse(const char *text, struct arena *arena, const char **ret_signature,
			 const char ***ret_values, size_t *ret_count, struct error *err);

enum cgroup_scope_verb {
	CGROUP_SCOPE_MANAGER, /* reply: the manager's own cgroup, "" for the top */
	CGROUP_SCOPE_START,   /* unit, slice, properties; the helper becomes its first process */
	CGROUP_SCOPE_SET,     /* unit, properties */
	CGROUP_SCOPE_STOP,    /* unit; done when there is none */
	CGROUP_SCOPE_LEAVE,   /* no reply: the helper ends */
	CGROUP_SCOPE_VERBS_COUNT,
};

/* One message in each direction at a time, over SOCK_SEQPACKET. */
struct cgroup_scope_request {
	enum cgroup_scope_verb verb;
	const char *unit, *slice; /* "" where the verb has none */
	struct cgroup_props props;
};

struct cgroup_scope_reply {
	struct error err; /* code 0 = done */
	char text[PATH_MAX];
};

int cgroup_scope_encode(enum cgroup_scope_verb verb, const char *unit, const char *slice,
			const struct cgroup_props *props, char **ret, size_t *ret_len,
			struct error *err);
/* Strings of ret point into data; ret->props is for cgroup_props_done(). -EBADMSG. */
int cgroup_scope_decode(const char *data, size_t len, struct cgroup_scope_request *ret,
			struct error *err);

/* cgroup_scope_peer.c: the helper process, our child, connected to one manager. */
struct cgroup_peer;
/* user: the user's manager instead of the system's. -EOPNOTSUPP without systemd or helper. */
int cgroup_peer_start(bool user, struct cgroup_peer **ret, struct error *err);
/* ret_text may be NULL. props may be NULL. */
int cgroup_peer_call(struct cgroup_peer *p, enum cgroup_scope_verb verb, const char *unit,
		     const char *slice, const struct cgroup_props *props, char ret_text[PATH_MAX],
		     struct error *err);
/* Ends and reaps it; takes NULL; returns NULL. */
struct cgroup_peer *cgroup_peer_free(struct cgroup_peer *p);
static inline void cgroup_peer_freep(struct cgroup_peer **p)
{
	*p = cgroup_peer_free(*p);
}
#define _cleanup_cgroup_peer_ _cleanup_(cgroup_peer_freep)
