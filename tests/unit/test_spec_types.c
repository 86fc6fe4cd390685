/*
 * Wrong JSON types: each member refuses them with its path and offset. The message
 * tells what is needed and what is there.
 */
#include "tests/unit/test_spec_fixture.h"

struct wrong {
	enum { TOP, PROCESS, LINUX } part;
	const char *members; /* '@' before the wrong value */
	const char *path;
	const char *text;
};

#define SECCOMP "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\","

static const struct wrong wrong[] = {
	{ TOP, "\"hostname\":@1", "hostname", "must be a string, is a number" },
	{ TOP, "\"domainname\":@[]", "domainname", "must be a string, is an array" },
	{ TOP, "\"mounts\":@{}", "mounts", "must be an array, is an object" },
	{ TOP, "\"mounts\":[@1]", "mounts[0]", "must be an object, is a number" },
	{ TOP, "\"mounts\":[{\"destination\":@3}]", "mounts[0].destination",
	  "must be a string, is a number" },
	{ TOP, "\"mounts\":[{\"destination\":\"/a\",\"options\":@\"ro\"}]", "mounts[0].options",
	  "must be an array, is a string" },
	{ TOP, "\"mounts\":[{\"destination\":\"/a\",\"options\":[\"ro\",@1]}]",
	  "mounts[0].options[1]", "must be a string, is a number" },
	{ TOP, "\"mounts\":[{\"destination\":\"/a\",\"uidMappings\":[{\"containerID\":@\"0\"}]}]",
	  "mounts[0].uidMappings[0].containerID", "must be an integer, is a string" },
	{ TOP, "\"annotations\":@[]", "annotations", "must be an object, is an array" },
	{ TOP, "\"annotations\":{\"a.b\":@1}", "annotations[\"a.b\"]",
	  "must be a string, is a number" },
	{ TOP, "\"hooks\":@[]", "hooks", "must be an object, is an array" },
	{ TOP, "\"hooks\":{\"prestart\":@{}}", "hooks.prestart", "must be an array, is an object" },
	{ TOP, "\"hooks\":{\"poststop\":[{\"path\":@true}]}", "hooks.poststop[0].path",
	  "must be a string, is a boolean" },
	{ TOP, "\"hooks\":{\"poststop\":[{\"path\":\"/h\",\"timeout\":@\"5\"}]}",
	  "hooks.poststop[0].timeout", "must be an integer, is a string" },
	{ PROCESS, "\"terminal\":@1", "process.terminal", "must be a boolean, is a number" },
	{ PROCESS, "\"consoleSize\":@[]", "process.consoleSize", "must be an object, is an array" },
	{ PROCESS, "\"consoleSize\":{\"height\":@-1}", "process.consoleSize.height",
	  "must not be negative, is -1" },
	{ PROCESS, "\"user\":@\"root\"", "process.user", "must be an object, is a string" },
	{ PROCESS, "\"user\":{\"uid\":@\"0\"}", "process.user.uid",
	  "must be an integer, is a string" },
	{ PROCESS, "\"user\":{\"gid\":@4294967296}", "process.user.gid",
	  "must be at most 4294967295, is 4294967296" },
	{ PROCESS, "\"user\":{\"additionalGids\":@5}", "process.user.additionalGids",
	  "must be an array, is a number" },
	{ PROCESS, "\"user\":{\"additionalGids\":[1,@\"2\"]}", "process.user.additionalGids[1]",
	  "must be an integer, is a string" },
	{ PROCESS, "\"user\":{\"umask\":@512}", "process.user.umask",
	  "a umask is at most 511 (octal 0777), not 512" },
	{ PROCESS, "\"env\":@{}", "process.env", "must be an array, is an object" },
	{ PROCESS, "\"capabilities\":@[]", "process.capabilities",
	  "must be an object, is an array" },
	{ PROCESS, "\"capabilities\":{\"bounding\":@\"CAP_KILL\"}", "process.capabilities.bounding",
	  "must be an array, is a string" },
	{ PROCESS, "\"capabilities\":{\"ambient\":[@5]}", "process.capabilities.ambient[0]",
	  "must be a capability name, is a number" },
	{ PROCESS, "\"rlimits\":@{}", "process.rlimits", "must be an array, is an object" },
	{ PROCESS, "\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":@\"1\"}]",
	  "process.rlimits[0].soft", "must be an integer, is a string" },
	{ PROCESS, "\"noNewPrivileges\":@\"true\"", "process.noNewPrivileges",
	  "must be a boolean, is a string" },
	{ PROCESS, "\"apparmorProfile\":@{}", "process.apparmorProfile",
	  "must be a string, is an object" },
	{ PROCESS, "\"oomScoreAdj\":@1.5", "process.oomScoreAdj",
	  "must be an integer without fraction or exponent, is 1.5" },
	{ PROCESS, "\"oomScoreAdj\":@-1001", "process.oomScoreAdj",
	  "must be between -1000 and 1000, is -1001" },
	{ PROCESS, "\"scheduler\":{\"policy\":\"SCHED_RR\",\"priority\":@\"1\"}",
	  "process.scheduler.priority", "must be an integer, is a string" },
	{ PROCESS, "\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":@8}",
	  "process.ioPriority.priority", "must be between 0 and 7, is 8" },
	{ LINUX, "\"namespaces\":@{}", "linux.namespaces", "must be an array, is an object" },
	{ LINUX, "\"namespaces\":[{\"type\":@7}]", "linux.namespaces[0].type",
	  "must be a string, is a number" },
	{ LINUX, "\"uidMappings\":@{}", "linux.uidMappings", "must be an array, is an object" },
	{ LINUX, "\"sysctl\":{\"net.x\":@1}", "linux.sysctl[\"net.x\"]",
	  "must be a string, is a number" },
	{ LINUX, "\"cgroupsPath\":@1", "linux.cgroupsPath", "must be a string, is a number" },
	{ LINUX, "\"resources\":@[]", "linux.resources", "must be an object, is an array" },
	{ LINUX, "\"resources\":{\"memory\":@1}", "linux.resources.memory",
	  "must be an object, is a number" },
	{ LINUX, "\"resources\":{\"memory\":{\"limit\":@\"1g\"}}", "linux.resources.memory.limit",
	  "must be an integer, is a string" },
	{ LINUX, "\"resources\":{\"memory\":{\"disableOOMKiller\":@0}}",
	  "linux.resources.memory.disableOOMKiller", "must be a boolean, is a number" },
	{ LINUX, "\"resources\":{\"cpu\":{\"shares\":@-1}}", "linux.resources.cpu.shares",
	  "must not be negative, is -1" },
	{ LINUX, "\"resources\":{\"cpu\":{\"cpus\":@0}}", "linux.resources.cpu.cpus",
	  "must be a string, is a number" },
	{ LINUX, "\"resources\":{\"pids\":@5}", "linux.resources.pids",
	  "must be an object, is a number" },
	{ LINUX, "\"resources\":{\"pids\":{\"limit\":@\"max\"}}", "linux.resources.pids.limit",
	  "must be an integer, is a string" },
	{ LINUX, "\"resources\":{\"blockIO\":{\"weight\":@65536}}",
	  "linux.resources.blockIO.weight", "must be at most 65535, is 65536" },
	{ LINUX, "\"resources\":{\"devices\":[{\"allow\":@1}]}", "linux.resources.devices[0].allow",
	  "must be a boolean, is a number" },
	{ LINUX, "\"resources\":{\"rdma\":@[]}", "linux.resources.rdma",
	  "must be an object, is an array" },
	{ LINUX, "\"resources\":{\"rdma\":{\"mlx5\":{\"hcaHandles\":@\"1\"}}}",
	  "linux.resources.rdma.mlx5.hcaHandles", "must be an integer, is a string" },
	{ LINUX, "\"resources\":{\"unified\":{\"memory.high\":@1}}",
	  "linux.resources.unified[\"memory.high\"]", "must be a string, is a number" },
	{ LINUX, "\"timeOffsets\":{\"monotonic\":@1}", "linux.timeOffsets.monotonic",
	  "must be an object, is a number" },
	{ LINUX, "\"devices\":[{\"path\":\"/d\",\"type\":\"c\",\"major\":@\"1\"}]",
	  "linux.devices[0].major", "must be an integer, is a string" },
	{ LINUX, "\"netDevices\":{\"eth0\":{\"name\":@1}}", "linux.netDevices.eth0.name",
	  "must be a string, is a number" },
	{ LINUX, SECCOMP "\"architectures\":@\"x\"}", "linux.seccomp.architectures",
	  "must be an array, is a string" },
	{ LINUX, SECCOMP "\"syscalls\":[{\"names\":@\"read\"}]}", "linux.seccomp.syscalls[0].names",
	  "must be an array, is a string" },
	{ LINUX, SECCOMP "\"syscalls\":[{\"names\":[\"a\"],\"args\":[{\"index\":@6}]}]}",
	  "linux.seccomp.syscalls[0].args[0].index",
	  "a system call has the arguments 0 to 5, not 6" },
	{ LINUX, "\"maskedPaths\":@\"/a\"", "linux.maskedPaths", "must be an array, is a string" },
	{ LINUX, "\"intelRdt\":{\"schemata\":@\"MB\"}", "linux.intelRdt.schemata",
	  "must be an array, is a string" },
	{ LINUX, "\"memoryPolicy\":{\"mode\":@1}", "linux.memoryPolicy.mode",
	  "must be a string, is a number" },
	{ LINUX, "\"personality\":@\"LINUX\"", "linux.personality",
	  "must be an object, is a string" },
};

int main(void)
{
	struct fixture f;
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < ELEMENTSOF(wrong); i++) {
		const struct wrong *w = &wrong[i];

		fixture_config(&f, w->part == TOP ? w->members : NULL,
			       w->part == PROCESS ? w->members : NULL,
			       w->part == LINUX ? w->members : NULL);
		fixture_refused(&f, w->path, w->text, w->path);
	}
	fixture_text(&f, "[]");
	fixture_refused(&f, NULL, "offset 0: must be an object, is an array", "no object at the top");
	return TAP_END();
}
