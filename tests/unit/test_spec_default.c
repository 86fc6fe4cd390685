/*
 * The default configuration: valid to our own reader and equal in content to what
 * other runtimes print.
 */
#include <linux/sched.h>
#include <sys/resource.h>

#include "tests/unit/test_spec_fixture.h"

static struct spec *default_spec(bool rootless, bool cgroup_ns, uint32_t uid, uint32_t gid)
{
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_NULL;
	struct spec *s = NULL;

	if (spec_default_json(rootless, cgroup_ns, uid, gid, &text, &err) < 0 ||
	    spec_parse("default", text, strlen(text), &s, &err) < 0)
		ok(false, "default configuration: %s", err.text);
	return s;
}

static uint64_t all_types(const struct spec *s)
{
	uint64_t types = 0;
	size_t i;

	for (i = 0; i < s->linux_cfg->namespaces.count; i++)
		types |= s->linux_cfg->namespaces.items[i].type;
	return types;
}

static const struct spec_mount *mount_at(const struct spec *s, const char *destination)
{
	size_t i;

	for (i = 0; i < s->mounts.count; i++)
		if (str_eq(s->mounts.items[i].destination, destination))
			return &s->mounts.items[i];
	return NULL;
}

static bool has_option(const struct spec_mount *m, const char *word)
{
	size_t i;

	for (i = 0; i < m->options.count; i++)
		if (str_eq(m->options.items[i], word))
			return true;
	return false;
}

static void test_rootful(void)
{
	_cleanup_spec_ struct spec *s = default_spec(false, true, 0, 0);
	const uint64_t caps = UINT64_C(1) << 29 | UINT64_C(1) << 5 | UINT64_C(1) << 10;
	const struct spec_process *p;

	if (!s)
		return;
	p = s->process;
	is_str(s->oci_version, "1.3.0", "version");
	ok(p->terminal && p->no_new_privileges && s->root->readonly, "flags");
	is_str(p->args.items[0], "sh", "program");
	is_int(p->args.count, 1, "without arguments");
	is_str(p->cwd, "/", "working folder");
	is_str(s->root->path, "rootfs", "root");
	ok(p->capabilities->bounding == caps && p->capabilities->effective == caps &&
		   p->capabilities->permitted == caps && p->capabilities->ambient == caps &&
		   p->capabilities->inheritable == 0,
	   "capabilities");
	is_int(p->rlimits.count, 1, "one limit");
	is_int(p->rlimits.items[0].type, RLIMIT_NOFILE, "of open files");
	is_int(p->rlimits.items[0].hard, 1024, "1024");
	ok(all_types(s) == (CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
			    CLONE_NEWNS | CLONE_NEWCGROUP),
	   "namespaces");
	is_int(s->mounts.count, 7, "seven mounts");
	ok(has_option(mount_at(s, "/dev/pts"), "gid=5"), "devpts group");
	is_str(mount_at(s, "/sys")->type, "sysfs", "sysfs");
	is_int(s->linux_cfg->masked_paths.count, 10, "masked paths");
	is_int(s->linux_cfg->readonly_paths.count, 5, "read-only paths");
	ok(!s->linux_cfg->resources->devices.items[0].allow, "devices denied");
	is_int(s->linux_cfg->uid_mappings.count, 0, "no id mapping");
}

static void test_rootless(void)
{
	_cleanup_spec_ struct spec *s = default_spec(true, true, 1000, 1001);

	if (!s)
		return;
	ok(all_types(s) == (CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS |
			    CLONE_NEWCGROUP | CLONE_NEWUSER),
	   "rootless: a user namespace as well");
	is_int(s->linux_cfg->uid_mappings.items[0].host_id, 1000, "own uid");
	is_int(s->linux_cfg->gid_mappings.items[0].host_id, 1001, "own gid");
	is_int(s->linux_cfg->gid_mappings.items[0].size, 1, "alone");
	ok(!has_option(mount_at(s, "/dev/pts"), "gid=5"), "no devpts group");
	is_str(mount_at(s, "/sys")->type, "sysfs", "/sys is not the host's");
	ok(!s->linux_cfg->resources, "no resources");
}

static void test_without_cgroup_namespace(void)
{
	_cleanup_spec_ struct spec *s = default_spec(false, false, 0, 0);
	_cleanup_spec_ struct spec *less = default_spec(true, false, 0, 0);

	if (!s || !less)
		return;
	is_int(all_types(s), CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS,
	       "cgroup v1: no cgroup namespace");
	is_int(all_types(less), CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWUSER,
	       "nor rootless, where the user namespace stays");
}

int main(void)
{
	TAP_BEGIN();
	test_rootful();
	test_without_cgroup_namespace();
	test_rootless();
	return TAP_END();
}
