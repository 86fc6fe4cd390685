/*
 * The configurations that engines really write, under each profile: which are refused and
 * why, that what comes out keeps the policy, and that deciding twice changes nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "plan/plan.h"
#include "policy_captured.h"

/* The controls that refuse a capture, under every profile; all others start. */
static const struct {
	const char *file, *controls;
} refused[] = {
	/* clang-format off */
	{ "containerd16-ctr-privileged-nethost.json", "namespaces" },
	{ "cri-hostpid-container.json", "namespaces" },
	{ "cri-hostpid-sandbox.json", "namespaces namespaces namespaces" },
	{ "cri-sandbox.json", "namespaces namespaces" },
	{ "docker20-net-host.json", "namespaces" },
	{ "docker20-pid-ipc-uts-host.json", "namespaces namespaces namespaces" },
	{ "podman43-net-host.json", "namespaces" },
	/* Volumes with :shared and :rshared. */
	{ "podman43-volumes.json", "mounts mounts" },
	{ "podman43-pid-ipc-uts-host.json", "namespaces namespaces namespaces" },
	/* clang-format on */
};

static const char *expected(const char *file)
{
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (str_eq(refused[i].file, file))
			return refused[i].controls;
	return "";
}

static void refusals(const struct policy_verdict *v, char *buf, size_t size)
{
	size_t i, len = 0;

	buf[0] = '\0';
	for (i = 0; i < v->count && len < size; i++)
		if (v->items[i].action == POLICY_REFUSED)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "",
						v->items[i].control);
}

/* What no configuration may get past the policy. */
static const char *violation(const struct spec *s, const struct policy_profile *p)
{
	const struct spec_resources *r = s->linux_cfg->resources;
	const struct spec_process *proc = s->process;
	const struct spec_capabilities *c = proc->capabilities;
	uint64_t most = proc->user.uid ? p->capabilities.user.n : p->capabilities.root.n;
	size_t i;

	if (!c || ((c->bounding | c->effective | c->permitted) & ~most) || c->inheritable ||
	    c->ambient)
		return "capabilities";
	if (!proc->no_new_privileges)
		return "no_new_privs";
	if (!r->memory->limit.set || r->memory->limit.value <= 0 ||
	    (uint64_t)r->memory->limit.value > p->resources.memory.max.n)
		return "memory";
	if (r->memory->swap.value != r->memory->limit.value)
		return "swap";
	if (!r->pids_limit.set || (uint64_t)r->pids_limit.value > p->resources.pids.max.n)
		return "pids";
	if (r->cpu->quota.value <= 0 ||
	    (uint64_t)r->cpu->quota.value * 1000 > p->resources.cpu.max.n * r->cpu->period.value)
		return "cpu";
	if (r->devices.count == 0 || r->devices.items[0].allow)
		return "device rules";
	for (i = 0; i < s->linux_cfg->devices.count; i++)
		if (s->linux_cfg->devices.items[i].type == 'b')
			return "devices";
	if (!spec_namespace_find(s, CLONE_NEWCGROUP))
		return "cgroup namespace";
	for (i = 0; i < proc->rlimits.count; i++)
		if (proc->rlimits.items[i].type == RLIMIT_CORE && proc->rlimits.items[i].hard)
			return "core";
	return NULL;
}

static void plan_it(const struct spec *s, const char *what)
{
	static const struct plan_request req = { .id = "test", .bundle = "/bundle" };
	_cleanup_plan_ struct plan *p = NULL;
	struct error err = ERROR_NULL;

	ok(plan_build(s, &req, &p, &err) == 0, "%s: can be planned: %s", what, err.text);
}

static void twice(struct spec *s, const struct policy_profile *p, const struct policy_facts *facts,
		  const char *what)
{
	_cleanup_policy_verdict_ struct policy_verdict again = POLICY_VERDICT_NULL;
	struct error err = ERROR_NULL;
	size_t i;

	if (policy_apply(s, p, NULL, facts, &again, &err) < 0) {
		ok(false, "%s: again: %s", what, err.text);
		return;
	}
	for (i = 0; i < again.count; i++)
		/* The CPUs are not part of the configuration. */
		if (again.items[i].action != POLICY_KEPT &&
		    !str_eq(again.items[i].control, "affinity"))
			break;
	ok(i == again.count, "%s: deciding again changes nothing (%s: %s)", what,
	   i < again.count ? again.items[i].control : "",
	   i < again.count ? again.items[i].asked : "");
}

static void one(int dir, const char *file, const struct policy *policy, const char *profile)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char what[256], got[512];
	enum policy_ns_owner owners[CAPTURED_NAMESPACES_MAX];
	const char *bad;
	int r;

	(void)snprintf(what, sizeof(what), "%s under %s", file, profile);
	facts.namespaces = owners;
	if (spec_load(dir, file, &d.spec, &d.err) < 0 ||
	    policy_profile_get(policy, profile, &d.profile, &d.err) < 0) {
		ok(false, "%s: %s", what, d.err.text);
		return;
	}
	captured_owners(file, d.spec, owners);
	r = policy_apply(d.spec, &d.profile, NULL, &facts, &d.v, &d.err);
	refusals(&d.v, got, sizeof(got));
	is_str(got, expected(file), what);
	if (r < 0) {
		ok(r == -EPERM && fixture_text_harmless(d.err.text), "%s: %s", what, d.err.text);
		return;
	}
	bad = violation(d.spec, &d.profile);
	ok(!bad, "%s: keeps the policy (%s)", what, bad ? bad : "");
	plan_it(d.spec, what);
	twice(d.spec, &d.profile, &facts, what);
}

/* Known in advance: what --privileged becomes. */
static void privileged(int dir, const struct policy *policy)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char got[1024];

	if (spec_load(dir, "docker20-privileged.json", &d.spec, &d.err) < 0 ||
	    policy_profile_get(policy, "default", &d.profile, &d.err) < 0) {
		ok(false, "privileged: %s", d.err.text);
		return;
	}
	is_int(policy_apply(d.spec, &d.profile, NULL, &facts, &d.v, &d.err), 0,
	       "privileged starts");
	is_int(__builtin_popcountll(d.spec->process->capabilities->effective), 8,
	       "privileged: eight capabilities");
	is_int(d.spec->linux_cfg->resources->devices.count, 1, "privileged: one device rule");
	decided_text(&d.v, "device rules", got, sizeof(got));
	is_str(got, "dropped a *:* rwm > the usual devices and those listed",
	       "privileged: no rule for everything");
	decided_text(&d.v, "devices", got, sizeof(got));
	ok(strstr(got, "/dev/fuse") && strstr(got, "/dev/kmsg") && strstr(got, "/dev/loop0"),
	   "privileged: nodes of the host dropped: %s", got);
	ok(!strstr(got, "/dev/null"), "privileged: the usual ones stay");
	decided_text(&d.v, "mounts", got, sizeof(got));
	ok(strstr(got, "clamped /sys, /sys/fs/cgroup > read-only") != NULL,
	   "privileged: kernel filesystems read-only: %s", got);
	ok(d.spec->linux_cfg->masked_paths.count >= 12, "privileged: paths are masked");
}

int main(void)
{
	_cleanup_free_ char *path = str_printf("%s/tests/data/configs", fixture_srcdir());
	_cleanup_close_ int dir = path ? open(path, O_DIRECTORY | O_CLOEXEC | O_RDONLY) : -1;
	_cleanup_policy_ struct policy *policy = NULL;
	_cleanup_closedir_ DIR *d = NULL;
	struct error err = ERROR_NULL;
	struct dirent *e;
	size_t n = 0, i, len;

	TAP_BEGIN();
	d = dir >= 0 ? fdopendir(fcntl(dir, F_DUPFD_CLOEXEC, 3)) : NULL;
	if (!d || policy_builtin(&policy, &err) < 0) {
		ok(false, "set-up: %s", err.text);
		return TAP_END();
	}
	while ((e = readdir(d))) {
		len = strlen(e->d_name);
		if (len < 6 || !str_eq(e->d_name + len - 5, ".json") ||
		    str_after(e->d_name, "process-") || str_after(e->d_name, "update-"))
			continue;
		n++;
		for (i = 0; i < ELEMENTSOF(captured_profiles); i++)
			one(dir, e->d_name, policy, captured_profiles[i]);
	}
	ok(n >= 60, "%zu captures", n);
	privileged(dir, policy);
	return TAP_END();
}
