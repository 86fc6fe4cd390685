/*
 * What the specification demands beyond types: required members, forms of values,
 * rules across members, the version.
 */
#include "tests/unit/test_spec_fixture.h"

struct rule {
	enum { TOP, PROCESS, LINUX } part;
	const char *members; /* '@' marks the offset; without it the message has no offset */
	const char *path; /* NULL: text holds the path itself */
	const char *text;
};

#define SECCOMP "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\","
#define RULE(action) "{\"names\":[\"read\"],\"action\":\"" action "\""

static const struct rule rules[] = {
	{ TOP, "\"mounts\":[@{\"type\":\"proc\"}]", "mounts[0].destination", "is required" },
	{ TOP, "\"mounts\":[{\"destination\":@\"\"}]", "mounts[0].destination",
	  "must not be empty" },
	{ TOP,
	  "\"mounts\":[{\"destination\":\"/a\",\"uidMappings\":"
	  "[{\"containerID\":0,\"hostID\":1,\"size\":1}]}]",
	  NULL, "mounts[0]: uidMappings and gidMappings must be given together" },
	{ TOP, "\"hooks\":{\"prestart\":[{\"path\":@\"bin/hook\"}]}", "hooks.prestart[0].path",
	  "\"bin/hook\" is not an absolute path" },
	{ TOP, "\"hooks\":{\"createRuntime\":[@{\"args\":[]}]}", "hooks.createRuntime[0].path",
	  "is required" },
	{ TOP, "\"hooks\":{\"poststart\":[{\"path\":\"/h\",\"timeout\":@0}]}",
	  "hooks.poststart[0].timeout", "a timeout must be greater than zero, is 0" },
	{ PROCESS,
	  "\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":1,\"hard\":1},"
	  "@{\"type\":\"RLIMIT_CPU\",\"soft\":2,\"hard\":2}]",
	  "process.rlimits[1]", "RLIMIT_CPU is given twice" },
	{ PROCESS, "\"rlimits\":[@{\"type\":\"RLIMIT_CPU\",\"soft\":1}]", "process.rlimits[0].hard",
	  "is required" },
	{ PROCESS, "\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":20}", NULL,
	  "process.scheduler: nice 20 is not between -20 and 19" },
	{ PROCESS, "\"scheduler\":{\"policy\":\"SCHED_BATCH\",\"priority\":1}", NULL,
	  "process.scheduler: priority is only for SCHED_FIFO and SCHED_RR, not for SCHED_BATCH" },
	{ PROCESS, "\"scheduler\":{\"policy\":\"SCHED_RR\",\"period\":1}", NULL,
	  "process.scheduler: runtime, deadline and period are only for SCHED_DEADLINE, not for "
	  "SCHED_RR" },
	{ PROCESS, "\"terminal\":true,\"consoleSize\":{\"height\":1,\"width\":65536}", NULL,
	  "process: consoleSize 65536x1 is larger than a terminal can be" },
	{ LINUX, "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"ipc\"},@{\"type\":\"pid\"}]",
	  "linux.namespaces[2]", "namespace \"pid\" is given twice" },
	{ LINUX, "\"namespaces\":[{\"type\":\"pid\",\"path\":@\"proc/1/ns/pid\"}]",
	  "linux.namespaces[0].path", "\"proc/1/ns/pid\" is not an absolute path" },
	{ LINUX, "\"maskedPaths\":[\"/a\",@\"b\"]", "linux.maskedPaths[1]",
	  "\"b\" is not an absolute path" },
	{ LINUX, "\"readonlyPaths\":[@\"proc\"]", "linux.readonlyPaths[0]",
	  "\"proc\" is not an absolute path" },
	{ LINUX, "\"timeOffsets\":{\"realtime\":@{}}", "linux.timeOffsets",
	  "unknown clock \"realtime\" (known: boottime, monotonic)" },
	{ LINUX, "\"timeOffsets\":{\"boottime\":{\"nanosecs\":@1000000000}}",
	  "linux.timeOffsets.boottime.nanosecs", "1000000000 nanoseconds are a second or more" },
	{ LINUX, "\"devices\":[{\"path\":\"/dev/x\",\"type\":@\"x\"}]", "linux.devices[0].type",
	  "unknown device type \"x\" (known: c, u, b, p)" },
	{ LINUX, "\"devices\":[{\"path\":@\"dev/x\",\"type\":\"c\"}]", "linux.devices[0].path",
	  "\"dev/x\" is not an absolute path" },
	{ LINUX, "\"devices\":[{\"path\":\"/x\",\"type\":\"b\",\"major\":4096,\"minor\":0}]", NULL,
	  "linux.devices[0]: 4096:0 is not a device number" },
	{ LINUX, "\"netDevices\":{\"a/b\":@{}}", "linux.netDevices",
	  "\"a/b\" cannot be the name of a network device" },
	{ LINUX, "\"netDevices\":{\"eth0\":@{\"name\":\"sixteen-letters-\"}}", "linux.netDevices",
	  "\"sixteen-letters-\" cannot be the name of a network device" },
	{ LINUX, "\"resources\":{\"devices\":[{\"allow\":true,\"type\":@\"p\"}]}",
	  "linux.resources.devices[0].type", "unknown device type \"p\" (known: a, b, c)" },
	{ LINUX, "\"resources\":{\"devices\":[{\"allow\":true,\"access\":@\"xa\"}]}",
	  "linux.resources.devices[0].access", "unknown access \"xa\" (letters out of r, w, m)" },
	{ LINUX, "\"resources\":{\"devices\":[{\"allow\":true,\"major\":@-2}]}",
	  "linux.resources.devices[0].major", "-2 is neither a device number nor -1 for any" },
	{ LINUX, "\"resources\":{\"devices\":[@{\"access\":\"rwm\"}]}",
	  "linux.resources.devices[0].allow", "is required" },
	{ LINUX, "\"resources\":{\"hugepageLimits\":[{\"pageSize\":@\"2M/..\",\"limit\":1}]}",
	  "linux.resources.hugepageLimits[0].pageSize",
	  "\"2M/..\" is not a page size (such as 64KB, 2MB or 1GB)" },
	{ LINUX, "\"resources\":{\"unified\":{\"../memory.max\":@\"1\"}}",
	  "linux.resources.unified[\"../memory.max\"]",
	  "\"../memory.max\" is not the name of a file in a cgroup" },
	{ LINUX,
	  "\"resources\":{\"blockIO\":{\"throttleReadBpsDevice\":"
	  "[@{\"major\":8,\"minor\":0}]}}",
	  "linux.resources.blockIO.throttleReadBpsDevice[0].rate", "is required" },
	{ LINUX, SECCOMP "\"syscalls\":[{\"names\":@[],\"action\":\"SCMP_ACT_LOG\"}]}",
	  "linux.seccomp.syscalls[0].names", "must not be empty" },
	{ LINUX, SECCOMP "\"syscalls\":[" RULE("SCMP_ACT_LOG") ",\"errnoRet\":1}]}", NULL,
	  "linux.seccomp.syscalls[0]: errnoRet is only for SCMP_ACT_ERRNO and SCMP_ACT_TRACE, not "
	  "for SCMP_ACT_LOG" },
	{ LINUX, SECCOMP "\"syscalls\":[" RULE("SCMP_ACT_ERRNO") ",\"errnoRet\":4096}]}", NULL,
	  "linux.seccomp.syscalls[0]: errnoRet 4096 is not an error number" },
	{ LINUX, SECCOMP "\"defaultErrnoRet\":1}", NULL,
	  "linux.seccomp: defaultErrnoRet is only for SCMP_ACT_ERRNO and SCMP_ACT_TRACE, not for "
	  "SCMP_ACT_ALLOW" },
	{ LINUX, SECCOMP "\"syscalls\":[" RULE("SCMP_ACT_NOTIFY") "}]}", NULL,
	  "linux.seccomp: syscalls[0] has the action SCMP_ACT_NOTIFY, but there is no "
	  "listenerPath" },
	{ LINUX, "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_NOTIFY\",\"listenerPath\":\"/s\"}",
	  NULL, "linux.seccomp: SCMP_ACT_NOTIFY cannot be the default action" },
	{ LINUX, SECCOMP "\"listenerMetadata\":\"x\"}", NULL,
	  "linux.seccomp: listenerMetadata needs a listenerPath" },
	{ LINUX, "\"intelRdt\":{\"closID\":\"../x\"}", NULL,
	  "linux.intelRdt: closID \"../x\" is not the name of a group" },
	{ LINUX, "\"intelRdt\":{\"memBwSchema\":\"L3:0=f\"}", NULL,
	  "linux.intelRdt: memBwSchema must be one line starting with MB:" },
	{ LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_LOCAL\",\"nodes\":\"0\"}", NULL,
	  "linux.memoryPolicy: MPOL_LOCAL takes no nodes" },
	{ LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_BIND\"}", NULL,
	  "linux.memoryPolicy: MPOL_BIND needs nodes" },
};

static const struct {
	const char *text; /* a whole document */
	const char *path, *message;
} documents[] = {
	{ "@{\"root\":{\"path\":\"r\"}}", "ociVersion", "is required" },
	{ "@{\"ociVersion\":\"1.0.0\"}", "root", "is required" },
	{ "{\"ociVersion\":\"1.0.0\",\"root\":@{}}", "root.path", "is required" },
	{ "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":@\"\"}}", "root.path",
	  "must not be empty" },
	{ "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},\"process\":@{\"args\":[\"a\"]}}",
	  "process.cwd", "is required" },
	{ "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},\"process\":{\"args\":[\"a\"],"
	  "\"cwd\":@\"home\"}}",
	  "process.cwd", "\"home\" is not an absolute path" },
	{ "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},\"process\":{\"cwd\":\"/\"}}", NULL,
	  "process: args must name the program to run" },
	{ "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},\"process\":{\"args\":[\"\"],"
	  "\"cwd\":\"/\"}}",
	  NULL, "process: args must name the program to run" },
};

static void test_versions(void)
{
	static const char *const good[] = { "1.0.0",	"1.0.2-dev", "1.2.1+dev", "1.3.0",
					    "1.0.0-rc5", "1.4.0" };
	static const char *const bad[] = { "2.0.0", "0.9.0", "1.0",  "1",	"",
					   "v1.0.0", "1.0.0x", "1..0", "1.0.0.0", "10.0.0" };
	struct fixture f;
	char text[256], want[256];
	size_t i;

	for (i = 0; i < ELEMENTSOF(good); i++) {
		struct error err = ERROR_NULL;
		struct spec *s = NULL;
		int n = snprintf(text, sizeof(text), "{\"ociVersion\":\"%s\",\"root\":{\"path\":\"r\"}}",
				 good[i]);

		ok(spec_parse("c", text, (size_t)n, &s, &err) == 0, "version %s is taken: %s",
		   good[i], err.text);
		is_str(s ? s->oci_version : NULL, good[i], "and kept");
		spec_free(s);
	}
	for (i = 0; i < ELEMENTSOF(bad); i++) {
		(void)snprintf(text, sizeof(text), "{\"ociVersion\":@\"%s\"}", bad[i]);
		(void)snprintf(want, sizeof(want),
			       "version \"%s\" of the specification is not supported (supported: "
			       "1.0.0 to 1.3.0 and other 1.x)",
			       bad[i]);
		fixture_text(&f, text);
		fixture_refused(&f, "ociVersion", want, bad[i]);
	}
}

int main(void)
{
	struct fixture f;
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < ELEMENTSOF(rules); i++) {
		const struct rule *r = &rules[i];

		fixture_config(&f, r->part == TOP ? r->members : NULL,
			       r->part == PROCESS ? r->members : NULL,
			       r->part == LINUX ? r->members : NULL);
		fixture_refused(&f, r->path, r->text, r->text);
	}
	for (i = 0; i < ELEMENTSOF(documents); i++) {
		fixture_text(&f, documents[i].text);
		fixture_refused(&f, documents[i].path, documents[i].message, documents[i].message);
	}
	test_versions();
	return TAP_END();
}
