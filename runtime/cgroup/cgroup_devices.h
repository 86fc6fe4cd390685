/*
 * Device access rules: from the configuration's ordered list to what v1 files and v2
 * programs can express. All but the two apply functions are pure.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "cgroup/cgroup.h"
#include "util/arena.h"

enum cgroup_device_access {
	CGROUP_DEVICE_READ = 1u << 0,
	CGROUP_DEVICE_WRITE = 1u << 1,
	CGROUP_DEVICE_MKNOD = 1u << 2,
	CGROUP_DEVICE_ALL = 7u,
};

#define CGROUP_DEVICE_ANY (-1)

struct cgroup_device_rule {
	bool allow;
	char type;	      /* 'b' or 'c' */
	int64_t major, minor; /* CGROUP_DEVICE_ANY */
	unsigned access;      /* enum cgroup_device_access */
	bool implied; /* one of the devices that every container gets, not the configuration's */
};

/* Rules in order, later ones win, over a default. Lives in an arena. */
struct cgroup_device_list {
	bool default_allow;
	struct cgroup_device_rule *items;
	size_t n, cap;
};

/*
 * The configuration's rules (resources may be NULL) followed by the devices that every
 * container may use. What a rule for all devices overrides is dropped. The base is deny: a
 * container that names no device gets the usual ones only.
 * strict: without making of other nodes and without net/tun.
 */
int cgroup_devices_rules(const struct spec_resources *resources, bool strict, struct arena *arena,
			 struct cgroup_device_list *ret, struct error *err);

/*
 * The form of the v1 files: a default and exceptions to it (all items have allow != default_allow).
 * -EINVAL when a rule takes a part out of a wider one: the files would silently ignore it.
 */
int cgroup_devices_exceptions(const struct cgroup_device_list *rules, struct arena *arena,
			      struct cgroup_device_list *ret, struct error *err);
/* Reads devices.list. */
int cgroup_devices_list_parse(const char *text, struct arena *arena, struct cgroup_device_list *ret,
			      struct error *err);

/* One write to devices.allow (allow) or devices.deny. */
struct cgroup_device_write {
	bool allow;
	bool implied;
	char text[64];
};
struct cgroup_device_writes {
	struct cgroup_device_write *items;
	size_t n;
};
/* The fewest writes from one v1 state to another; a device that stays allowed is never denied. */
int cgroup_devices_transition(const struct cgroup_device_list *from,
			      const struct cgroup_device_list *to, struct arena *arena,
			      struct cgroup_device_writes *ret, struct error *err);

/* Instructions of a BPF_PROG_TYPE_CGROUP_DEVICE program: 1 = allowed, 0 = EPERM. */
int cgroup_devices_program(const struct cgroup_device_list *rules, struct arena *arena,
			   struct bpf_insn **ret, size_t *ret_count, struct error *err);

int cgroup_devices_apply_v1(int dir, const char *path, const struct cgroup_device_list *rules,
			    struct error *err);
/*
 * For an empty cgroup. Attached beside programs of others: a device must pass all of them; one that an earlier container has
 * left on a cgroup that it had not made goes. *ret_id: the program's.
 */
int cgroup_devices_apply_v2(int dir, const char *path, const struct cgroup_device_list *rules, uint32_t *ret_id,
			    struct error *err);
/* Takes ours off. 0 or -errno. */
int cgroup_devices_remove_v2(int dir);
/* Whether the program of that id is attached to the folder itself. */
int cgroup_devices_attached(int dir, uint32_t id, bool *ret);
/* As devices.list shows them; malloc'ed. */
int cgroup_devices_text(const struct cgroup_device_list *rules, char **ret, struct error *err);

/* Grows the list in the arena; false when out of memory. */
bool cgroup_device_add(struct cgroup_device_list *list, struct arena *arena,
		       const struct cgroup_device_rule *rule);
