/*
 * Device nodes, device rules, namespaces, sysctls, the configuration's filter: each row
 * is a policy and members of "linux", with what is decided and what is left.
 */
#include <inttypes.h>
#include <linux/sched.h>

#include "tests/unit/test_policy_fixture.h"

/* Nodes that the policy names by path, as found on the host. */
static const struct policy_device host_nodes[] = {
	{ "/dev/kvm", 'c', 10, 232 },
	{ "/dev/sda", 'b', 8, 0 },
};
static const enum policy_ns_owner joined_other[] = { POLICY_NS_OTHER, POLICY_NS_OTHER,
						     POLICY_NS_OTHER, POLICY_NS_OTHER,
						     POLICY_NS_OTHER, POLICY_NS_OTHER };
static const enum policy_ns_owner joined_host[] = {
	POLICY_NS_HOST, POLICY_NS_HOST, POLICY_NS_HOST,
	POLICY_NS_HOST, POLICY_NS_HOST, POLICY_NS_HOST
};

struct row {
	const char *name, *policy, *members;
	const char *control, *decision;
	const char *left; /* NULL: refused */
};

#define NODE(path_, type_, major_, minor_)                                                        \
	"{\"path\":\"" path_ "\",\"type\":\"" type_ "\",\"major\":" #major_ ",\"minor\":" #minor_ \
	"}"
#define NODES(x_) "\"devices\":[" x_ "]"
#define RULES(x_) "\"resources\":{\"devices\":[" x_ "]}"
#define RULE(allow_, type_, major_, minor_, access_)                                             \
	"{\"allow\":" #allow_ ",\"type\":\"" type_ "\",\"major\":" #major_ ",\"minor\":" #minor_ \
	",\"access\":\"" access_ "\"}"
#define NONE_ALLOWED "{\"allow\":false,\"access\":\"rwm\"}"
#define ALL_ALLOWED  "{\"allow\":true,\"access\":\"rwm\"}"
#define USUAL	     "the usual devices and those listed"
#define KVM	     "\"devices\":{\"allow\":[\"/dev/kvm\"]}"

static const struct row device_rows[] = {
	/* clang-format off */
	{ "nodes: none", NULL, NODES(""), "devices", "", "" },
	{ "nodes: usual ones", NULL, NODES(NODE("/dev/null","c",1,3) "," NODE("/dev/full","c",1,7) "," NODE("/dev/ptmx","c",5,2) "," NODE("/dev/pts/0","c",136,0)), "devices", "", "/dev/null /dev/full /dev/ptmx /dev/pts/0" },
	{ "nodes: under another name", NULL, NODES(NODE("/dev/zero2","c",1,5)), "devices", "", "/dev/zero2" },
	{ "nodes: memory called null", NULL, NODES(NODE("/dev/null","c",1,1)), "devices", "dropped /dev/null > " USUAL, "" },
	{ "nodes: memory", NULL, NODES(NODE("/dev/mem","c",1,1) "," NODE("/dev/kmsg","c",1,11) "," NODE("/dev/port","c",1,4)), "devices", "dropped /dev/mem, /dev/kmsg, /dev/port > " USUAL, "" },
	{ "nodes: block device with the numbers of null", NULL, NODES(NODE("/dev/null","b",1,3)), "devices", "dropped /dev/null > " USUAL, "" },
	{ "nodes: fuse, tun, kvm", NULL, NODES(NODE("/dev/fuse","c",10,229) "," NODE("/dev/net/tun","c",10,200) "," NODE("/dev/kvm","c",10,232)), "devices", "dropped /dev/fuse, /dev/net/tun, /dev/kvm > " USUAL, "" },
	{ "nodes: disk", NULL, NODES(NODE("/dev/sda","b",8,0)), "devices", "dropped /dev/sda > " USUAL, "" },
	{ "nodes: unbuffered type", NULL, NODES(NODE("/dev/x","u",1,1)), "devices", "dropped /dev/x > " USUAL, "" },
	{ "nodes: a pipe is no device", NULL, NODES("{\"path\":\"/dev/initctl\",\"type\":\"p\"}"), "devices", "", "/dev/initctl" },
	{ "nodes: listed by path", KVM, NODES(NODE("/dev/kvm","c",10,232)), "devices", "", "/dev/kvm" },
	{ "nodes: listed by path, other numbers", KVM, NODES(NODE("/dev/kvm","c",1,1)), "devices", "dropped /dev/kvm > " USUAL, "" },
	{ "nodes: listed by numbers", "\"devices\":{\"allow\":[\"c 195:*\",\"b 8:0\"]}", NODES(NODE("/dev/nvidia0","c",195,0) "," NODE("/dev/sda","b",8,0) "," NODE("/dev/sda1","b",8,1)), "devices", "dropped /dev/sda1 > " USUAL, "/dev/nvidia0 /dev/sda" },
	{ "rules: none", NULL, RULES(""), "device rules", "", "-a *:*" },
	{ "rules: the engine's", NULL, RULES(NONE_ALLOWED "," RULE(true,"c",1,3,"rwm") "," RULE(false,"c",10,229,"rwm")), "device rules", "", "-a *:* +c 1:3 -c 10:229" },
	{ "rules: everything", NULL, RULES(ALL_ALLOWED), "device rules", "dropped a *:* rwm > " USUAL, "-a *:*" },
	{ "rules: everything, then nothing", NULL, RULES(ALL_ALLOWED "," NONE_ALLOWED), "device rules", "dropped a *:* rwm > " USUAL, "-a *:*" },
	{ "rules: nothing, then everything", NULL, RULES(NONE_ALLOWED "," ALL_ALLOWED), "device rules", "dropped a *:* rwm > " USUAL, "-a *:*" },
	{ "rules: all character devices", NULL, RULES(RULE(true,"c",-1,-1,"rwm")), "device rules", "dropped c *:* rwm > " USUAL, "-a *:*" },
	{ "rules: make any node", NULL, RULES(RULE(true,"c",-1,-1,"m") "," RULE(true,"b",-1,-1,"m")), "device rules", "dropped c *:* m, b *:* m > " USUAL, "-a *:*" },
	{ "rules: all minors of null's major", NULL, RULES(RULE(true,"c",1,-1,"rw")), "device rules", "dropped c 1:* rw > " USUAL, "-a *:*" },
	{ "rules: all minors of pts", NULL, RULES(RULE(true,"c",136,-1,"rw")), "device rules", "", "-a *:* +c 136:*" },
	{ "rules: all majors", NULL, RULES(RULE(true,"c",-1,3,"rw")), "device rules", "dropped c *:3 rw > " USUAL, "-a *:*" },
	{ "rules: kvm", NULL, RULES(RULE(true,"c",10,232,"rw")), "device rules", "dropped c 10:232 rw > " USUAL, "-a *:*" },
	{ "rules: kvm, listed", KVM, RULES(RULE(true,"c",10,232,"rw")), "device rules", "", "-a *:* +c 10:232" },
	{ "rules: no type", NULL, RULES("{\"allow\":true,\"major\":1,\"minor\":3}"), "device rules", "dropped a 1:3 rwm > " USUAL, "-a *:*" },
	{ "network device", NULL, "\"netDevices\":{\"eth1\":{}}", "network devices", "refused eth1", NULL },
	{ "network device, listed", "\"devices\":{\"network\":[\"eth1\"]}", "\"netDevices\":{\"eth1\":{\"name\":\"eth0\"}}", "network devices", "", "" },
	{ "network device, renamed to a listed name", "\"devices\":{\"network\":[\"eth1\"]}", "\"netDevices\":{\"eth0\":{\"name\":\"eth1\"}}", "network devices", "refused eth0", NULL },
	/* clang-format on */
};

static void devices_left(const struct spec_linux *l, bool rules, char *buf, size_t size)
{
	size_t i, len = 0;

	buf[0] = '\0';
	for (i = 0; !rules && i < l->devices.count && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "",
					l->devices.items[i].path);
	for (i = 0; rules && i < l->resources->devices.count && len < size; i++) {
		const struct spec_device_rule *r = &l->resources->devices.items[i];
		char major[24] = "*", minor[24] = "*";

		if (r->major.set && r->major.value >= 0)
			(void)snprintf(major, sizeof(major), "%" PRId64, r->major.value);
		if (r->minor.set && r->minor.value >= 0)
			(void)snprintf(minor, sizeof(minor), "%" PRId64, r->minor.value);
		len += (size_t)snprintf(buf + len, size - len, "%s%c%c %s:%s", len ? " " : "",
					r->allow ? '+' : '-', r->type ? r->type : 'a', major,
					minor);
	}
}

static void device_row(const struct row *row)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char got[1024];

	/* The caller looks up what the policy names, nothing else. */
	facts.devices = host_nodes;
	facts.n_devices = row->policy && strstr(row->policy, "/dev/kvm") ? 1 : 0;
	if (!decided_make(&d, &facts, row->policy, NULL, NULL, NULL, row->members))
		return;
	decided_text(&d.v, row->control, got, sizeof(got));
	is_str(got, row->decision, row->name);
	is_int(d.r, row->left ? 0 : -EPERM, row->name);
	if (!row->left)
		return;
	devices_left(d.spec->linux_cfg, str_eq(row->control, "device rules"), got, sizeof(got));
	is_str(got, row->left, row->name);
	ok(d.v.grant.devices_strict, "%s: the executor adds none", row->name);
}

#define NS(x_)	 "\"namespaces\":[" x_ "]"
#define N(type_) "{\"type\":\"" type_ "\"}"
#define J(type_) "{\"type\":\"" type_ "\",\"path\":\"/proc/1/ns/x\"}"
#define FIVE	 N("pid") "," N("network") "," N("ipc") "," N("uts") "," N("mount")

static const struct {
	struct row row;
	const enum policy_ns_owner *owners;
} namespace_rows[] = {
	/* clang-format off */
	{ { "namespaces: all", NULL, NS(FIVE "," N("cgroup")), "namespaces", "", "6" }, NULL },
	{ { "namespaces: cgroup added", NULL, NS(FIVE), "namespaces", "added no cgroup namespace > a new cgroup namespace", "6" }, NULL },
	{ { "namespaces: user and time as asked", NULL, NS(FIVE "," N("cgroup") "," N("time")), "namespaces", "", "7" }, NULL },
	{ { "namespaces: no pid", NULL, NS(N("network") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")), "namespaces", "refused the host's pid namespace", NULL }, NULL },
	{ { "namespaces: no network", NULL, NS(N("pid") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")), "namespaces", "refused the host's network namespace", NULL }, NULL },
	{ { "namespaces: no ipc, no uts", NULL, NS(N("pid") "," N("network") "," N("mount") "," N("cgroup")), "namespaces", "refused the host's ipc namespace; refused the host's uts namespace", NULL }, NULL },
	{ { "namespaces: no mount", NULL, NS(N("pid") "," N("network") "," N("ipc") "," N("uts") "," N("cgroup")), "namespaces", "refused the host's mount namespace", NULL }, NULL },
	{ { "namespaces: none", NULL, NS(""), "namespaces", "refused the host's pid namespace; refused the host's network namespace; refused the host's mount namespace; refused the host's ipc namespace; refused the host's uts namespace; added no cgroup namespace > a new cgroup namespace", NULL }, NULL },
	{ { "namespaces: network listed", "\"namespaces\":{\"host\":[\"network\"]}", NS(N("pid") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")), "namespaces", "kept the host's network namespace > the host's network namespace", "5" }, NULL },
	{ { "namespaces: cgroup listed", "\"namespaces\":{\"host\":[\"cgroup\"]}", NS(FIVE), "namespaces", "kept the host's cgroup namespace > the host's cgroup namespace", "5" }, NULL },
	{ { "namespaces: joined, a pod's", NULL, NS(J("pid") "," J("network") "," J("ipc") "," J("uts") "," N("mount") "," N("cgroup")), "namespaces", "", "6" }, joined_other },
	{ { "namespaces: joined, the host's", NULL, NS(N("pid") "," J("network") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")), "namespaces", "refused the host's network namespace, by a path", NULL }, joined_host },
	{ { "namespaces: joined, unknown", NULL, NS(N("pid") "," J("network") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")), "namespaces", "refused the host's network namespace or an unknown one, by a path", NULL }, NULL },
	{ { "namespaces: joined, the host's, listed", "\"namespaces\":{\"host\":[\"network\"]}", NS(N("pid") "," J("network") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")), "namespaces", "kept the host's network namespace > the host's network namespace", "6" }, joined_host },
	{ { "namespaces: joined cgroup, the host's", NULL, NS(FIVE "," J("cgroup")), "namespaces", "refused the host's cgroup namespace, by a path", NULL }, joined_host },
	{ { "sysctl: own ipc", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"kernel.shmmax\":\"1\"}", "sysctls", "kept kernel.shmmax > kernel.shmmax", "6" }, NULL },
	{ { "sysctl: own network", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"net.ipv4.ip_forward\":\"1\",\"net/ipv4/conf/eth0.1/forwarding\":\"1\"}", "sysctls", "kept net.ipv4.ip_forward > net.ipv4.ip_forward; kept net/ipv4/conf/eth0.1/forwarding > net/ipv4/conf/eth0.1/forwarding", "6" }, NULL },
	{ { "sysctl: network of a pod", NULL, NS(N("pid") "," J("network") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")) ",\"sysctl\":{\"net.core.somaxconn\":\"1\"}", "sysctls", "kept net.core.somaxconn > net.core.somaxconn", "6" }, joined_other },
	{ { "sysctl: network of the host, though listed", "\"namespaces\":{\"host\":[\"network\"]}", NS(N("pid") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")) ",\"sysctl\":{\"net.core.somaxconn\":\"1\"}", "sysctls", "refused net.core.somaxconn of the host", NULL }, NULL },
	{ { "sysctl: joined host network, though listed", "\"namespaces\":{\"host\":[\"network\"]}", NS(N("pid") "," J("network") "," N("ipc") "," N("uts") "," N("mount") "," N("cgroup")) ",\"sysctl\":{\"net.core.somaxconn\":\"1\"}", "sysctls", "refused net.core.somaxconn of the host", NULL }, joined_host },
	{ { "sysctl: of the host", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"kernel.core_pattern\":\"|/x\"}", "sysctls", "refused kernel.core_pattern", NULL }, NULL },
	{ { "sysctl: with slashes", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"kernel/core_pattern\":\"|/x\"}", "sysctls", "refused kernel/core_pattern", NULL }, NULL },
	{ { "sysctl: climbs", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"net/../kernel/core_pattern\":\"|/x\"}", "sysctls", "refused net/../kernel/core_pattern", NULL }, NULL },
	{ { "sysctl: climbs with dots", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"net.ipv4/../../kernel/core_pattern\":\"|/x\"}", "sysctls", "refused net.ipv4/../../kernel/core_pattern", NULL }, NULL },
	{ { "sysctl: a beginning", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"network.x\":\"1\"}", "sysctls", "refused network.x", NULL }, NULL },
	{ { "sysctl: no separator", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"net\":\"1\"}", "sysctls", "refused net", NULL }, NULL },
	{ { "sysctl: vm", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"vm.overcommit_memory\":\"1\"}", "sysctls", "refused vm.overcommit_memory", NULL }, NULL },
	{ { "sysctl: semaphores only by name", NULL, NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"kernel.semx\":\"1\"}", "sysctls", "refused kernel.semx", NULL }, NULL },
	{ { "sysctl: listed", "\"sysctls\":{\"allow\":[\"kernel.semx\"]}", NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"kernel.semx\":\"1\"}", "sysctls", "kept kernel.semx > kernel.semx", "6" }, NULL },
	{ { "sysctl: a list replaces", "\"sysctls\":{\"allow\":[]}", NS(FIVE "," N("cgroup")) ",\"sysctl\":{\"net.core.somaxconn\":\"1\"}", "sysctls", "refused net.core.somaxconn", NULL }, NULL },
	/* clang-format on */
};

static void namespace_row(const struct row *row, const enum policy_ns_owner *owners)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char got[1024];

	facts.namespaces = owners;
	if (!decided_make(&d, &facts, row->policy, NULL, NULL, NULL, row->members))
		return;
	decided_text(&d.v, row->control, got, sizeof(got));
	is_str(got, row->decision, row->name);
	is_int(d.r, row->left ? 0 : -EPERM, row->name);
	if (!row->left) {
		ok(fixture_text_harmless(d.err.text), "%s: %s", row->name, d.err.text);
		return;
	}
	(void)snprintf(got, sizeof(got), "%zu", d.spec->linux_cfg->namespaces.count);
	is_str(got, row->left, row->name);
}

#define SECCOMP(default_, more_) "\"seccomp\":{\"defaultAction\":\"" default_ "\"" more_ "}"
#define CALL(action_)		 "{\"names\":[\"mkdir\"],\"action\":\"" action_ "\"}"
#define LISTENER		 ",\"listenerPath\":\"/l\",\"syscalls\":["

static const struct row seccomp_rows[] = {
	/* clang-format off */
	{ "filter: none", NULL, "", "seccomp", "", "0" },
	{ "filter: plain", NULL, SECCOMP("SCMP_ACT_ERRNO", ",\"syscalls\":[" CALL("SCMP_ACT_ALLOW") "]"), "seccomp", "", "0" },
	{ "filter: listener", NULL, SECCOMP("SCMP_ACT_ALLOW", LISTENER CALL("SCMP_ACT_NOTIFY") "]"), "seccomp", "refused SCMP_ACT_NOTIFY", NULL },
	{ "filter: many for the listener are one decision", NULL, SECCOMP("SCMP_ACT_ALLOW", LISTENER CALL("SCMP_ACT_NOTIFY") "," CALL("SCMP_ACT_NOTIFY") "]"), "seccomp", "refused SCMP_ACT_NOTIFY", NULL },
	{ "filter: listener, allowed", "\"seccomp\":{\"allow\":[\"SCMP_ACT_NOTIFY\"]}", SECCOMP("SCMP_ACT_ALLOW", LISTENER CALL("SCMP_ACT_NOTIFY") "]"), "seccomp", "kept SCMP_ACT_NOTIFY > SCMP_ACT_NOTIFY", "0" },
	{ "filter: tracer", NULL, SECCOMP("SCMP_ACT_ALLOW", ",\"syscalls\":[" CALL("SCMP_ACT_TRACE") "]"), "seccomp", "refused SCMP_ACT_TRACE", NULL },
	{ "filter: tracer by default", NULL, SECCOMP("SCMP_ACT_TRACE", ""), "seccomp", "refused SCMP_ACT_TRACE", NULL },
	{ "filter: tracer, the other allowed", "\"seccomp\":{\"allow\":[\"SCMP_ACT_NOTIFY\"]}", SECCOMP("SCMP_ACT_TRACE", ""), "seccomp", "refused SCMP_ACT_TRACE", NULL },
	{ "filter: both", NULL, SECCOMP("SCMP_ACT_TRACE", LISTENER CALL("SCMP_ACT_NOTIFY") "]"), "seccomp", "refused SCMP_ACT_TRACE; refused SCMP_ACT_NOTIFY", NULL },
	{ "filter: protection of the processor", NULL, SECCOMP("SCMP_ACT_ALLOW", ",\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\",\"SECCOMP_FILTER_FLAG_SPEC_ALLOW\"]"), "seccomp", "dropped SECCOMP_FILTER_FLAG_SPEC_ALLOW > no such flag", "1" },
	/* clang-format on */
};

static void seccomp_row(const struct row *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char got[1024];

	if (!decided_make(&d, &facts, row->policy, NULL, NULL, NULL,
			  *row->members ? row->members : NULL))
		return;
	decided_text(&d.v, row->control, got, sizeof(got));
	is_str(got, row->decision, row->name);
	is_int(d.r, row->left ? 0 : -EPERM, row->name);
	if (!row->left)
		return;
	(void)snprintf(got, sizeof(got), "%zu",
		       d.spec->linux_cfg->seccomp ? d.spec->linux_cfg->seccomp->flags.count : 0);
	is_str(got, row->left, row->name);
}

/* An exec loads the configuration's filter from the file again. */
static void filter_of_exec(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };

	if (!decided_prepare(&d, NULL, NULL, NULL, NULL,
			     NAMESPACES "," SECCOMP("SCMP_ACT_ALLOW", ",\"flags\":[\"SECCOMP_FILTER_FLAG_SPEC_ALLOW\"]")))
		return;
	is_int(policy_apply_filter(d.spec, &d.profile, &facts, &d.v, &d.err), 0, "the filter of an exec");
	is_int(d.spec->linux_cfg->seccomp->flags.count, 0, "loses the flag that the container's lost");
}

static void annotations(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char got[1024];

	if (!decided_make(&d, &facts, NULL, NULL,
			  "\"annotations\":{\"run.oci.keep_original_groups\":\"1\",\"a\":\"b\","
			  "\"run.oci.hooks.stdout\":\"/etc/passwd\"}",
			  NULL, NULL))
		return;
	decided_text(&d.v, "annotations", got, sizeof(got));
	is_str(got,
	       "dropped run.oci.keep_original_groups > as if it were not there; "
	       "dropped run.oci.hooks.stdout > as if it were not there",
	       "annotations that act on the host");
	is_int(d.spec->annotations.count, 1, "others stay");
	is_str(d.spec->annotations.items[0].key, "a", "with their names");
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(device_rows) / sizeof(device_rows[0]); i++)
		device_row(&device_rows[i]);
	for (i = 0; i < sizeof(namespace_rows) / sizeof(namespace_rows[0]); i++)
		namespace_row(&namespace_rows[i].row, namespace_rows[i].owners);
	for (i = 0; i < sizeof(seccomp_rows) / sizeof(seccomp_rows[0]); i++)
		seccomp_row(&seccomp_rows[i]);
	annotations();
	filter_of_exec();
	return TAP_END();
}
