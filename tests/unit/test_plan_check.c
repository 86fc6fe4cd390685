/*
 * Combinations that cannot be: each is refused with the member's name.
 */
#include "tests/unit/test_plan_fixture.h"

static const struct plan_request rootless_request = { .id = "r", .bundle = "/b", .rootless = true };

#define MAP(inside, outside, size)                                                                 \
	"{\"containerID\":" #inside ",\"hostID\":" #outside ",\"size\":" #size "}"
#define MAPS(list) "\"uidMappings\":[" list "],\"gidMappings\":[" list "]"
#define USER_NS "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\"}]"
#define OWN_UTS "\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"uts\"}]"
#define TMPFS "\"mounts\":[{\"destination\":\"/t\",\"type\":\"tmpfs\",\"source\":\"t\"}]"

static const struct refused {
	const char *top, *process, *linux_members;
	const char *want;
} refused[] = {
	{ NULL, NULL, OWN_MOUNT "," MAPS(MAP(0, 1, 1)),
	  "linux.uidMappings and linux.gidMappings need a \"user\" entry in linux.namespaces" },
	{ NULL, NULL, USER_NS ",\"gidMappings\":[" MAP(0, 1, 1) "]",
	  "linux.uidMappings: no uid mappings for the new user namespace" },
	{ NULL, "\"user\":{\"uid\":5}", USER_NS, "process.user.uid 5 is not mapped by linux.uidMappings" },
	{ NULL, NULL, USER_NS ",\"uidMappings\":[" MAP(0, 1, 1) "]",
	  "linux.gidMappings: no gid mappings for the new user namespace" },
	{ NULL, NULL, USER_NS "," MAPS(MAP(0, 1, 0)), "linux.uidMappings[0]: size must not be 0" },
	{ NULL, NULL, USER_NS "," MAPS(MAP(0, 4294967295, 2)),
	  "linux.uidMappings[0]: ids end at 4294967294" },
	{ NULL, NULL, USER_NS "," MAPS(MAP(0, 100, 10) "," MAP(9, 200, 10)),
	  "linux.uidMappings[1] overlaps linux.uidMappings[0]" },
	{ NULL, NULL, USER_NS "," MAPS(MAP(0, 100, 10) "," MAP(10, 109, 10)),
	  "linux.uidMappings[1] overlaps linux.uidMappings[0]" },
	{ NULL, NULL, USER_NS "," MAPS(MAP(1, 100, 10)),
	  "linux.uidMappings and linux.gidMappings must map id 0" },
	{ NULL, "\"user\":{\"uid\":10}", USER_NS "," MAPS(MAP(0, 100, 10)),
	  "process.user.uid 10 is not mapped by linux.uidMappings" },
	{ NULL, "\"user\":{\"gid\":10}", USER_NS "," MAPS(MAP(0, 100, 10)),
	  "process.user.gid 10 is not mapped by linux.gidMappings" },
	{ NULL, "\"user\":{\"additionalGids\":[9,10]}", USER_NS "," MAPS(MAP(0, 100, 10)),
	  "process.user.additionalGids[1]: group 10 is not mapped by linux.gidMappings" },
	{ TMPFS, NULL, NULL,
	  "mounts: not possible without a private mount namespace (add a \"mount\" entry to "
	  "linux.namespaces)" },
	{ NULL, NULL, "\"maskedPaths\":[\"/proc/kcore\"]",
	  "linux.maskedPaths: not possible without a private mount namespace (add a \"mount\" entry "
	  "to linux.namespaces)" },
	{ NULL, NULL, "\"readonlyPaths\":[\"/proc/sys\"]",
	  "linux.readonlyPaths: not possible without a private mount namespace (add a \"mount\" "
	  "entry to linux.namespaces)" },
	{ NULL, NULL, "\"rootfsPropagation\":\"shared\"",
	  "linux.rootfsPropagation: not possible without a private mount namespace (add a \"mount\" "
	  "entry to linux.namespaces)" },
	{ NULL, NULL, OWN_MOUNT ",\"timeOffsets\":{\"boottime\":{\"secs\":1}}",
	  "linux.timeOffsets needs a \"time\" entry in linux.namespaces" },
	{ NULL, NULL,
	  "\"namespaces\":[{\"type\":\"time\",\"path\":\"/proc/1/ns/time\"}],"
	  "\"timeOffsets\":{\"boottime\":{\"secs\":1}}",
	  "linux.timeOffsets cannot change a time namespace that is joined" },
	{ "\"domainname\":\"a\"", NULL, OWN_UTS ",\"sysctl\":{\"kernel.domainname\":\"b\"}",
	  "linux.sysctl: sysctl \"kernel.domainname\" contradicts the domainname of the configuration" },
	{ NULL, NULL, OWN_UTS ",\"sysctl\":{\"kernel.hostname\":\"b\"}",
	  "linux.sysctl: sysctl \"kernel.hostname\" is not allowed: set the hostname of the configuration instead" },
	{ "\"hostname\":\"h\"", NULL, OWN_MOUNT,
	  "hostname: unable to set hostname without a private UTS namespace" },
	{ "\"domainname\":\"d\"", NULL, OWN_MOUNT,
	  "domainname: unable to set domainname without a private UTS namespace" },
	{ NULL, NULL, OWN_MOUNT ",\"netDevices\":{\"eth0\":{}}",
	  "linux.netDevices: unable to move network devices without a private network namespace" },
	{ NULL, NULL,
	  "\"namespaces\":[{\"type\":\"network\"}],\"netDevices\":{\"a\":{\"name\":\"x\"},"
	  "\"b\":{\"name\":\"x\"}}",
	  "linux.netDevices: a and b would both be named x" },
	{ NULL, "\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":2,\"hard\":1}]", NULL,
	  "process.rlimits[0] (RLIMIT_CPU): soft limit 2 is above the hard limit 1" },
	{ NULL, "\"env\":[\"A=1\",\"B\"]", NULL, "process.env[1]: \"B\" has no '='" },
	{ NULL, "\"env\":[\"=x\"]", NULL, "process.env[0]: the name is empty" },
	{ "\"mounts\":[{\"destination\":\"/t\",\"source\":\"t\"}]", NULL, OWN_MOUNT,
	  "mounts[0] (/t): type is missing" },
	{ "\"mounts\":[{\"destination\":\"/..\",\"type\":\"tmpfs\",\"source\":\"t\"}]", NULL,
	  OWN_MOUNT,
	  "mounts[0]: a mount on / would hide the root filesystem; set root.path instead" },
	{ "\"mounts\":[{\"destination\":\"/t\",\"options\":[\"bind\"]}]", NULL, OWN_MOUNT,
	  "mounts[0] (/t): a bind mount needs a source" },
	{ "\"mounts\":[{\"destination\":\"/t\",\"source\":\"/s\",\"options\":[\"bind\","
	  "\"size=1\",\"ro\"]}]",
	  NULL, OWN_MOUNT, "mounts[0] (/t): unknown option \"size=1\" for a bind mount" },
	{ "\"mounts\":[{\"destination\":\"/t\",\"type\":\"tmpfs\",\"source\":\"t\",\"options\":"
	  "[\"idmap\"]}]",
	  NULL, OWN_MOUNT, "mounts[0] (/t): only bind mounts can have an id mapping" },
};

static void test_refused(void)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(refused); i++) {
		const struct refused *c = &refused[i];
		_cleanup_planned_ struct planned x =
			planned_new(&fixture_request, c->top, c->process, c->linux_members);

		is_str(x.plan ? "(accepted)" : x.err.text, c->want, "refused with its reason");
		is_int(x.err.code < 0, 1, "with an error number");
	}
}

static void test_cwd(void)
{
	static const struct {
		const char *process, *want;
	} cases[] = {
		{ "\"cwd\":\"/sys/firmware\"",
		  "process.cwd \"/sys/firmware\" is hidden by linux.maskedPaths[1] "
		  "\"/sys/firmware/\"" },
		{ "\"cwd\":\"/sys//firmware/efi\"",
		  "process.cwd \"/sys//firmware/efi\" is hidden by linux.maskedPaths[1] "
		  "\"/sys/firmware/\"" },
		{ "\"cwd\":\"/sys/firmware2\"", NULL },
		{ "\"cwd\":\"/sys\"", NULL },
	};
	char text[1024];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		struct error err = ERROR_NULL;
		_cleanup_plan_ struct plan *p = NULL;
		_cleanup_spec_ struct spec *s = NULL;
		int n = snprintf(text, sizeof(text),
				 "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"/r\"},\"process\":{"
				 "\"args\":[\"a\"],%s},\"linux\":{" OWN_MOUNT
				 ",\"maskedPaths\":[\"/a\",\"/sys/firmware/\"]}}",
				 cases[i].process);

		if (spec_parse("c", text, (size_t)n, &s, &err) == 0)
			(void)plan_build(s, &fixture_request, &p, &err);
		is_str(p ? NULL : err.text, cases[i].want, cases[i].process);
	}
}

static void test_sysctl(void)
{
	static const struct {
		const char *types, *key;
		bool good;
	} cases[] = {
		{ "\"network\"", "net.ipv4.ip_forward", true },
		{ "\"mount\"", "net.ipv4.ip_forward", false },
		{ "\"network\",\"path\":\"/run/netns/x\"", "net.ipv4.ip_forward", true },
		{ "\"ipc\"", "kernel.shmmax", true },
		{ "\"ipc\"", "fs.mqueue.msg_max", true },
		{ "\"mount\"", "kernel.shmmax", false },
		{ "\"mount\"", "vm.swappiness", false },
		{ "\"uts\"", "kernel.core_pattern", false },
	};
	char text[256];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		(void)snprintf(text, sizeof(text),
			       "\"namespaces\":[{\"type\":%s}],\"sysctl\":{\"%s\":\"1\"}",
			       cases[i].types, cases[i].key);
		_cleanup_planned_ struct planned x =
			planned_new(&fixture_request, NULL, NULL, text);

		ok((x.plan != NULL) == cases[i].good, "sysctl %s with %s", cases[i].key,
		   cases[i].types);
		ok(x.plan || (str_after(x.err.text, "linux.sysctl: ") &&
			      strstr(x.err.text, cases[i].key)),
		   "the refusal names the key: %s", x.err.text);
	}
}

static void test_requests(void)
{
	static const struct plan_request no_pivot = { .id = "n", .bundle = "/b", .no_pivot = true };
	_cleanup_planned_ struct planned alone = planned_new(
		&rootless_request, NULL, "\"user\":{\"additionalGids\":[0]}",
		USER_NS "," MAPS(MAP(0, 1000, 1)));
	_cleanup_planned_ struct planned unmapped =
		planned_new(&rootless_request, NULL, NULL, USER_NS);
	_cleanup_planned_ struct planned devices =
		planned_new(&rootless_request, NULL, NULL,
			    "\"namespaces\":[{\"type\":\"network\"}],\"netDevices\":{\"e\":{}}");
	_cleanup_planned_ struct planned moved = planned_new(
		&no_pivot, NULL, NULL, OWN_MOUNT ",\"rootfsPropagation\":\"rprivate\"");

	is_str(alone.err.text,
	       "process.user.additionalGids: groups cannot be set in a user namespace with a single "
	       "mapped group",
	       "groups with one mapped id");
	ok(unmapped.plan != NULL, "rootless: the maps are the runtime's own");
	is_str(devices.err.text,
	       "linux.netDevices: a rootless runtime cannot move network devices",
	       "rootless network devices");
	is_str(moved.err.text,
	       "linux.rootfsPropagation: \"rprivate\" is not safe without pivot_root",
	       "private root without pivot");
}

int main(void)
{
	TAP_BEGIN();
	test_refused();
	test_cwd();
	test_sysctl();
	test_requests();
	return TAP_END();
}
