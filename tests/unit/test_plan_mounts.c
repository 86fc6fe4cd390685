/*
 * Mounts, devices, root and namespaces of a plan.
 */
#include <linux/sched.h>
#include <sys/mount.h>

#include "tests/unit/test_plan_fixture.h"

#define M(destination, type, source, options)                                                      \
	"{\"destination\":\"" destination "\",\"type\":\"" type "\",\"source\":\"" source          \
	"\",\"options\":[" options "]}"

static void test_kinds(void)
{
	_cleanup_planned_ struct planned x = planned_good(
		"\"mounts\":["
		M("/proc", "proc", "proc", "\"nosuid\"") ","
		M("data", "bind", "sub/dir", "") ","
		M("/b", "none", "/s", "\"rbind\",\"rprivate\",\"ro\"") ","
		M("/c", "cgroup2", "cgroup", "\"ro\"") ","
		M("/sys/fs/cgroup", "cgroup", "cgroup", "\"rprivate\",\"rw\"") ","
		M("/r", "bind", "/x", "\"remount\",\"ro\"") ","
		M("/e", "cgroup", "/sys/fs/cgroup", "\"rbind\"") ","
		M("/t", "tmpfs", "tmpfs", "\"mode=755\",\"size=1k\",\"noexec\"") "]",
		NULL, OWN_MOUNT ",\"mountLabel\":\"label\"");
	const struct mount_op *op;

	if (!x.plan)
		return;
	op = x.plan->mounts;
	is_int(x.plan->n_mounts, 8, "all mounts, in order");
	is_int(op[0].kind, MOUNT_FS, "filesystem");
	is_str(op[0].fstype, "proc", "its type");
	is_str(op[0].label, "label", "label");
	ok(op[0].source_fd == -EBADF && op[0].tree_fd == -EBADF, "no descriptors in a plan");
	is_int(op[1].kind, MOUNT_BIND, "type bind without the word");
	is_str(op[1].destination, "/data", "relative destination below /");
	is_str(op[1].source, "sub/dir", "relative source is the executor's");
	ok(!op[1].recursive, "not recursive");
	is_int(op[2].kind, MOUNT_BIND, "rbind");
	ok(op[2].recursive, "recursive");
	is_str(op[2].fstype, NULL, "a bind has no type");
	ok(op[2].attr_set & MOUNT_ATTR_RDONLY, "read-only");
	is_int(op[2].propagation[0], MS_PRIVATE | MS_REC, "propagation");
	is_int(op[3].kind, MOUNT_CGROUP, "cgroup2");
	is_int(op[4].kind, MOUNT_CGROUP, "cgroup");
	is_int(op[5].kind, MOUNT_REMOUNT, "remount wins over type bind");
	is_int(op[6].kind, MOUNT_BIND, "rbind wins over type cgroup");
	is_str(op[7].data, "mode=755,size=1k", "filesystem options");
	ok(!x.plan->cgroup_writable_mount, "no delegation without cgroup namespace");
	ok(x.plan->dev_setup, "devices are ours");
}

static void test_cgroup_writable(void)
{
	static const char ns[] = "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"cgroup\"}]";
	_cleanup_planned_ struct planned rw = planned_good(
		"\"mounts\":[" M("/sys/fs/cgroup/", "cgroup", "cgroup", "\"rw\"") "]", NULL, ns);
	_cleanup_planned_ struct planned ro = planned_good(
		"\"mounts\":[" M("/sys/fs/cgroup", "cgroup", "cgroup", "\"ro\"") "]", NULL, ns);
	_cleanup_planned_ struct planned joined = planned_good(
		"\"mounts\":[" M("/sys/fs/cgroup", "cgroup", "cgroup", "\"rw\"") "]", NULL,
		"\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"cgroup\",\"path\":\"/c\"}]");

	ok(rw.plan && rw.plan->cgroup_writable_mount && rw.plan->cgroupns, "own and writable");
	ok(ro.plan && !ro.plan->cgroup_writable_mount, "read-only");
	ok(joined.plan && !joined.plan->cgroup_writable_mount && joined.plan->cgroupns,
	   "somebody else's namespace");
}

#define MAP "[{\"containerID\":0,\"hostID\":100,\"size\":10}]"

static void test_idmap(void)
{
	static const char own[] = "\"mounts\":[{\"destination\":\"/d\",\"source\":\"/s\",\"options\":"
				  "[\"bind\"],\"uidMappings\":" MAP ",\"gidMappings\":" MAP "}]";
	static const char word[] = "\"mounts\":[" M("/d", "bind", "/s", "\"rbind\",\"ridmap\"") "]";
	static const char user[] = "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\"}],"
				   "\"uidMappings\":" MAP ",\"gidMappings\":" MAP;
	static const char joined[] = "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\","
				     "\"path\":\"/proc/9/ns/user\"}]";
	_cleanup_planned_ struct planned a = planned_good(own, NULL, OWN_MOUNT);
	_cleanup_planned_ struct planned b = planned_good(word, NULL, user);
	_cleanup_planned_ struct planned c = planned_good(word, NULL, OWN_MOUNT);
	_cleanup_planned_ struct planned d = planned_good(word, NULL, joined);

	if (!a.plan || !b.plan || !c.plan || !d.plan)
		return;
	ok(a.plan->mounts->idmap && !a.plan->mounts->idmap_recursive, "maps alone ask for idmap");
	is_int(a.plan->mounts->uid_maps.items[0].host_id, 100, "with these maps");
	ok(b.plan->mounts->idmap && b.plan->mounts->idmap_recursive, "ridmap");
	is_int(b.plan->mounts->gid_maps.items[0].host_id, 100, "with the container's maps");
	ok(!c.plan->mounts->idmap && !c.plan->mounts->idmap_recursive,
	   "without a user namespace the mapping is the identity");
	ok(d.plan->mounts->idmap && d.plan->mounts->uid_maps.count == 0,
	   "a joined namespace comes as a descriptor");
	ok(b.plan->in_userns && b.plan->bind_devices, "devices are bound in a user namespace");
	ok(d.plan->in_userns && d.plan->bind_devices, "and in a joined one");
	ok(!a.plan->in_userns && !a.plan->bind_devices, "and made elsewhere");
}

static void test_own_ids(void)
{
	static const struct plan_request req = { .id = "r", .bundle = "/b", .uid = 7, .gid = 8 };
	static const char user[] = "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\"}]";
	static const char joined[] = "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\","
				     "\"path\":\"/proc/9/ns/user\"}]";
	_cleanup_planned_ struct planned a = planned_new(&req, NULL, NULL, user);
	_cleanup_planned_ struct planned b = planned_new(&req, NULL, NULL, joined);
	const struct id_map *m;

	if (!ok(a.plan && b.plan, "a user namespace needs no maps"))
		return;
	is_int(a.plan->uid_maps.count, 1, "one user");
	is_int(a.plan->gid_maps.count, 1, "one group");
	m = a.plan->uid_maps.items;
	ok(m->container_id == 0 && m->host_id == 7 && m->size == 1, "the caller's own user");
	m = a.plan->gid_maps.items;
	ok(m->container_id == 0 && m->host_id == 8 && m->size == 1, "the caller's own group");
	is_int(b.plan->uid_maps.count, 0, "a joined one has its own");
}

static const struct devnode *device(const struct plan *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->n_devices; i++)
		if (str_eq(p->devices[i].path, path))
			return &p->devices[i];
	return NULL;
}

static void test_devices(void)
{
	static const char devices[] =
		"\"devices\":[{\"path\":\"/dev/fuse\",\"type\":\"c\",\"major\":10,\"minor\":229,"
		"\"fileMode\":8576,\"uid\":3,\"gid\":4},{\"path\":\"/dev//null\",\"type\":\"c\","
		"\"major\":1,\"minor\":3,\"fileMode\":420},{\"path\":\"/dev/ptmx\",\"type\":\"c\","
		"\"major\":5,\"minor\":2},{\"path\":\"/opt//fifo/\",\"type\":\"p\"}]";
	char linux_members[1024];
	_cleanup_planned_ struct planned x = { 0 };
	_cleanup_planned_ struct planned bound = { 0 };
	const struct devnode *d;

	(void)snprintf(linux_members, sizeof(linux_members), "%s,%s", OWN_MOUNT, devices);
	x = planned_good(NULL, NULL, linux_members);
	bound = planned_good("\"mounts\":[" M("/dev/", "bind", "/dev", "\"rbind\"") "]", NULL,
			     linux_members);
	if (!x.plan || !bound.plan)
		return;
	is_int(x.plan->n_devices, devnodes_default_count + 2, "defaults and two more");
	d = device(x.plan, "/dev/fuse");
	ok(d && d->mode == 0600 && d->uid == 3 && d->gid == 4, "mode without type bits, owner");
	d = device(x.plan, "/dev//null");
	ok(d && d->mode == 0644, "the configuration's node replaces the default");
	ok(!device(x.plan, "/dev/null"), "which is gone");
	ok(!device(x.plan, "/dev/ptmx"), "ptmx is a link");
	d = device(x.plan, "/opt/fifo"); /* a slash at the end names no file */
	ok(d && d->type == 'p' && d->mode == 0666, "mode by default");
	ok(!bound.plan->dev_setup && bound.plan->n_devices == 0, "a bind over /dev brings its own");
}

static void test_root(void)
{
	static const struct {
		const char *word;
		unsigned long host, root;
	} cases[] = {
		{ "slave", MS_SLAVE, 0 },
		{ "rprivate", MS_PRIVATE | MS_REC, 0 },
		{ "shared", MS_SHARED, MS_SHARED },
		{ "rshared", MS_SHARED | MS_REC, MS_SHARED | MS_REC },
		{ "unbindable", MS_UNBINDABLE, MS_UNBINDABLE },
	};
	_cleanup_planned_ struct planned x = planned_good(NULL, NULL, NULL);
	char text[256];
	size_t i;

	if (x.plan) {
		is_str(x.plan->rootfs, "/bundle/rootfs", "relative root is in the bundle");
		ok(x.plan->host_propagation == (MS_SLAVE | MS_REC) && !x.plan->root_propagation,
		   "propagation by default");
		ok(x.plan->new_keyring && !x.plan->no_pivot && !x.plan->rootfs_readonly, "flags");
		is_str(x.plan->id, "test", "id");
	}
	for (i = 0; i < ELEMENTSOF(cases); i++) {
		(void)snprintf(text, sizeof(text), OWN_MOUNT ",\"rootfsPropagation\":\"%s\"",
			       cases[i].word);
		_cleanup_planned_ struct planned y = planned_good(NULL, NULL, text);

		ok(y.plan && y.plan->host_propagation == cases[i].host &&
			   y.plan->root_propagation == cases[i].root,
		   "propagation %s", cases[i].word);
	}
}

static void test_namespaces(void)
{
	_cleanup_planned_ struct planned x = planned_good(
		"\"hostname\":\"\"", NULL,
		"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"uts\",\"path\":\"/proc/1/ns/uts\"},"
		"{\"type\":\"mount\"},{\"type\":\"time\"}],\"timeOffsets\":{\"boottime\":{\"secs\":-9,"
		"\"nanosecs\":1}},\"maskedPaths\":[\"/a\",\"/a/\",\"/b\"],\"readonlyPaths\":[\"/c\"]");

	if (!x.plan)
		return;
	is_int(x.plan->ns_create, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWTIME, "made");
	is_int(x.plan->n_ns_join, 1, "joined");
	is_str(x.plan->ns_join[0].path, "/proc/1/ns/uts", "path");
	is_int(x.plan->time_offsets[0].secs, -9, "offset");
	is_str(x.plan->hostname, NULL, "an empty hostname is none");
	is_int(x.plan->n_masked_paths, 2, "masked paths without duplicates");
	is_int(x.plan->n_readonly_paths, 1, "read-only paths");
	ok(!x.plan->in_userns && !x.plan->cgroupns, "no user or cgroup namespace");
}

int main(void)
{
	TAP_BEGIN();
	test_kinds();
	test_cgroup_writable();
	test_idmap();
	test_own_ids();
	test_devices();
	test_root();
	test_namespaces();
	return TAP_END();
}
