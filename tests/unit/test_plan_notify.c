/*
 * NOTIFY_SOCKET in a plan: one mount more, one variable, and only where both make sense.
 */
#include <linux/sched.h>
#include <sys/mount.h>

#include "tests/unit/test_plan_fixture.h"

static const struct plan_request with = { .id = "test", .bundle = "/bundle", .notify_dir = "/state/test/notify" };

static const char mounts[] = "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"}]";
static const char env[] = "\"env\":[\"A=1\",\"NOTIFY_SOCKET=/theirs\",\"B=2\"]";

static bool untouched(const struct planned *x, size_t n_mounts)
{
	return x->plan && !x->plan->notify && x->plan->n_mounts == n_mounts &&
	       (!x->plan->has_process || x->plan->process.n_env == 3);
}

static void test_added(void)
{
	_cleanup_planned_ struct planned x = planned_new(&with, mounts, env, OWN_MOUNT ",\"mountLabel\":\"label\"");
	const struct mount_op *op;

	if (!x.plan) {
		ok(false, "plan: %s", x.err.text);
		return;
	}
	ok(x.plan->notify, "the plan says so");
	is_int(x.plan->n_mounts, 2, "one mount more");
	is_str(x.plan->mounts[0].destination, "/proc", "after the configuration's");
	op = &x.plan->mounts[1];
	is_int(op->kind, MOUNT_BIND, "a bind");
	is_str(op->source, "/state/test/notify", "of the folder");
	is_str(op->destination, "/run/notify", "to its place");
	is_int(op->attr_set, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, "flags");
	ok(!op->recursive && op->source_fd == -EBADF && op->tree_fd == -EBADF, "nothing opened");
	is_str(op->label, "label", "mount label");
	is_int(x.plan->process.n_env, 3, "the variable replaces another one of the name");
	is_str(x.plan->process.env[0], "A=1", "first");
	is_str(x.plan->process.env[1], "B=2", "second");
	is_str(x.plan->process.env[2], "NOTIFY_SOCKET=/run/notify/notify.sock", "ours");
	is_str(x.plan->process.env[3], NULL, "and the end");
}

static void test_not_added(void)
{
	_cleanup_planned_ struct planned plain = planned_new(&fixture_request, mounts, env, OWN_MOUNT);
	_cleanup_planned_ struct planned host = planned_new(&with, NULL, env, "\"namespaces\":[{\"type\":\"pid\"}]");
	_cleanup_planned_ struct planned joined = planned_new(
		&with, mounts, env, "\"namespaces\":[{\"type\":\"mount\",\"path\":\"/proc/1/ns/mnt\"}]");

	ok(untouched(&plain, 1), "nothing without a folder: %s", plain.err.text);
	ok(untouched(&host, 0), "nothing without a mount namespace: %s", host.err.text);
	ok(untouched(&joined, 1), "nothing in somebody else's: %s", joined.err.text);
}

int main(void)
{
	TAP_BEGIN();
	test_added();
	test_not_added();
	return TAP_END();
}
