/*
 * Documents that are refused, each with its place and reason, and documents that are
 * read, each with the value that comes out. An '@' marks the offset that must be named.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/resource.h>

#include "tests/unit/test_policy_fixture.h"
#include "policy/policy_internal.h"

/* text NULL: the reason is not compared, its place is. */
struct bad {
	const char *name, *document, *path, *text;
};

#define P(body_) "{\"version\":1,\"profiles\":{\"default\":{" body_ "}}}"
#define D	 "profiles.default."

static const struct bad bads[] = {
	/* clang-format off */
	{ "empty", "", NULL, NULL },
	{ "no JSON", "version: 1", NULL, NULL },
	{ "no object", "@[]", "", "must be an object, is an array" },
	{ "cut off", "{\"version\":1", NULL, NULL },
	{ "two documents", "{\"version\":1}{}", NULL, NULL },
	{ "no version", "@{}", "version", "is required" },
	{ "version 2", "{\"version\":@2}", "version", "version 2 of the policy is not known here (known: 1)" },
	{ "version 0", "{\"version\":@0}", "version", "version 0 of the policy is not known here (known: 1)" },
	{ "version as text", "{\"version\":@\"1\"}", "version", "must be a whole number from 0 on" },
	{ "version null", "{\"version\":@null}", "version", "must be a whole number from 0 on" },
	{ "version 1.0", "{\"version\":@1.0}", "version", "must be a whole number from 0 on" },
	{ "duplicate member", "{\"version\":1,\"version\":1}", NULL, NULL },
	{ "duplicate member deep down", P("\"env\":{\"mode\":\"off\",\"mode\":\"scrub\"}"), NULL, NULL },
	{ "NUL in a string", P("\"seccomp\":{\"profile\":\"a\\u0000b\"}"), NULL, NULL },
	{ "unknown member", "{\"version\":1,\"profils\":@{}}", "profils", "unknown member (did you mean \"profile\"?)" },
	{ "unknown member far from all", "{\"version\":1,\"zzzzzzzzzzzz\":@1}", "zzzzzzzzzzzz", "unknown member (known here: $schema, version, profile, requestable, sealed, profiles)" },
	{ "unknown member of a profile", P("\"resource\":@{}"), D "resource", "unknown member (did you mean \"resources\"?)" },
	{ "unknown member of a section", P("\"resources\":{\"memry\":@{}}"), D "resources.memry", "unknown member (did you mean \"memory\"?)" },
	{ "unknown member of a limit", P("\"resources\":{\"memory\":{\"maximum\":@1}}"), D "resources.memory.maximum", NULL },
	{ "case counts", P("\"Env\":@{}"), D "Env", "unknown member (did you mean \"env\"?)" },
	{ "sealed as number", "{\"version\":1,\"sealed\":@1}", "sealed", "must be a boolean, is a number" },
	{ "profile as list", "{\"version\":1,\"profile\":@[]}", "profile", NULL },
	{ "profile empty", "{\"version\":1,\"profile\":@\"\"}", "profile", "must not be empty" },
	{ "profile unknown", "{\"version\":1,\"profile\":@\"nosuch\"}", "profile", "there is no profile \"nosuch\" (there are: default, strict, build, nested, service, sandbox, passthrough)" },
	{ "requestable unknown", "{\"version\":1,\"requestable\":@[\"default\",\"nosuch\"]}", "requestable", NULL },
	{ "requestable with a bad name", "{\"version\":1,\"requestable\":[@\"De fault\"]}", "requestable[0]", "\"De fault\" is not the name of a profile (lower case letters, digits, - and _)" },
	{ "profiles as list", "{\"version\":1,\"profiles\":@[]}", "profiles", "must be an object, is an array" },
	{ "profile as text", "{\"version\":1,\"profiles\":{\"x\":@\"y\"}}", "profiles.x", "must be an object, is a string" },
	{ "name of a profile", "{\"version\":1,\"profiles\":{\"a.b\":@{}}}", "profiles", "\"a.b\" is not the name of a profile (lower case letters, digits, - and _)" },
	{ "name empty", "{\"version\":1,\"profiles\":{\"\":@{}}}", "profiles", NULL },
	{ "sandbox is fixed", "{\"version\":1,\"profiles\":{\"sandbox\":@{}}}", "profiles", "the profile sandbox is fixed; give yours another name and let it inherit \"builtin:sandbox\"" },
	{ "passthrough is fixed", "{\"version\":1,\"profiles\":{\"passthrough\":@{}}}", "profiles", "the profile passthrough is fixed; give yours another name and let it inherit \"builtin:passthrough\"" },
	{ "null is no value", P("\"env\":@null"), D "env", "must be an object, is null" },
	{ "inherits itself", P("\"inherits\":@\"default\""), D "inherits", "the profile default inherits itself; the shipped one is written with \"builtin:\" before its name" },
	{ "inherits in a circle", "{\"version\":1,\"profiles\":{\"a\":{\"inherits\":\"b\"},\"b\":{\"inherits\":\"c\"},\"c\":{\"inherits\":@\"a\"}}}", "profiles.c.inherits", "the profile a inherits itself" },
	{ "inherits nothing", P("\"inherits\":@\"nosuch\""), D "inherits", NULL },
	{ "inherits a shipped one without prefix", P("\"inherits\":@\"strict\""), D "inherits", "the shipped profile is written \"builtin:strict\"" },
	{ "inherits an unknown shipped one", P("\"inherits\":@\"builtin:nosuch\""), D "inherits", NULL },
	{ "inherits a number", P("\"inherits\":@1"), D "inherits", "must be a string, is a number" },
	{ "bytes: text", P("\"resources\":{\"memory\":{\"max\":@\"lots\"}}"), D "resources.memory.max", "must be a number of bytes, as 2147483648 or \"2GiB\"" },
	{ "bytes: negative", P("\"resources\":{\"memory\":{\"max\":@-1}}"), D "resources.memory.max", "must be a number of bytes, as 2147483648 or \"2GiB\"" },
	{ "bytes: -1 as text", P("\"resources\":{\"memory\":{\"max\":@\"-1\"}}"), D "resources.memory.max", NULL },
	{ "bytes: fraction", P("\"resources\":{\"memory\":{\"max\":@1.5}}"), D "resources.memory.max", NULL },
	{ "bytes: exponent", P("\"resources\":{\"memory\":{\"max\":@1e9}}"), D "resources.memory.max", NULL },
	{ "bytes: too large", P("\"resources\":{\"memory\":{\"max\":@18446744073709551615}}"), D "resources.memory.max", NULL },
	{ "bytes: flag", P("\"resources\":{\"memory\":{\"max\":@true}}"), D "resources.memory.max", NULL },
	{ "bytes: unlimited", P("\"resources\":{\"memory\":{\"max\":@\"unlimited\"}}"), D "resources.memory.max", NULL },
	{ "limit: default above maximum", P("\"resources\":{\"memory\":{\"default\":@\"2GiB\",\"max\":\"1GiB\"}}"), D "resources.memory.default", "the default is above the maximum of the same profile" },
	{ "limit: default above maximum, time", P("\"time\":{\"exec\":{\"default\":@\"off\",\"max\":\"1h\"}}"), D "time.exec.default", "the default is above the maximum of the same profile" },
	{ "cpus: none", P("\"resources\":{\"cpu\":{\"max\":@0}}"), D "resources.cpu.max", "must be a number of CPUs from 0.01 to 100000, as 2 or 1.5" },
	{ "cpus: negative", P("\"resources\":{\"cpu\":{\"max\":@-2}}"), D "resources.cpu.max", NULL },
	{ "cpus: exponent", P("\"resources\":{\"cpu\":{\"max\":@1e3}}"), D "resources.cpu.max", NULL },
	{ "cpus: too many", P("\"resources\":{\"cpu\":{\"max\":@1000000}}"), D "resources.cpu.max", NULL },
	{ "cpus: affinity", P("\"resources\":{\"cpu\":{\"affinity\":@\"on\"}}"), D "resources.cpu.affinity", "unknown affinity \"on\" (known: auto, off)" },
	{ "pids: text", P("\"resources\":{\"pids\":{\"max\":@\"512\"}}"), D "resources.pids.max", "must be a whole number from 0 on" },
	{ "pids: negative", P("\"resources\":{\"pids\":{\"max\":@-1}}"), D "resources.pids.max", NULL },
	{ "excess", P("\"resources\":{\"excess\":@\"warn\"}"), D "resources.excess", "unknown answer to excess \"warn\" (known: clamp, refuse)" },
	{ "time: number", P("\"time\":{\"container\":{\"max\":@3600}}"), D "time.container.max", "must be a duration with units, as \"90s\" or \"1h30m\", or \"off\"" },
	{ "time: no unit", P("\"time\":{\"container\":{\"max\":@\"3600\"}}"), D "time.container.max", NULL },
	{ "time: zero", P("\"time\":{\"container\":{\"max\":@\"0s\"}}"), D "time.container.max", NULL },
	{ "time: days", P("\"time\":{\"container\":{\"max\":@\"1d\"}}"), D "time.container.max", NULL },
	{ "time: grace off", P("\"time\":{\"grace\":@\"off\"}"), D "time.grace", "must be a duration with units, as \"90s\" or \"1h30m\"" },
	{ "capability unknown", P("\"capabilities\":{\"root\":[@\"CAP_SYS_GOD\"]}"), D "capabilities.root[0]", NULL },
	{ "capability without prefix", P("\"capabilities\":{\"root\":[@\"CHOWN\"]}"), D "capabilities.root[0]", NULL },
	{ "capabilities as text", P("\"capabilities\":{\"root\":@\"ALL\"}"), D "capabilities.root", "must be an array, is a string" },
	{ "namespace unknown", P("\"namespaces\":{\"host\":[@\"net\"]}"), D "namespaces.host[0]", "unknown namespace type \"net\" (known: pid, network, mount, ipc, uts, cgroup)" },
	{ "user namespace is as asked", P("\"namespaces\":{\"host\":[@\"user\"]}"), D "namespaces.host[0]", NULL },
	{ "seccomp: profile empty", P("\"seccomp\":{\"profile\":@\"\"}"), D "seccomp.profile", "must not be empty" },
	{ "seccomp: action", P("\"seccomp\":{\"allow\":[@\"SCMP_ACT_ALLOW\"]}"), D "seccomp.allow[0]", "unknown action \"SCMP_ACT_ALLOW\" (known: SCMP_ACT_NOTIFY, SCMP_ACT_TRACE)" },
	{ "device: no path below /dev", P("\"devices\":{\"allow\":[@\"/etc/passwd\"]}"), D "devices.allow[0]", "\"/etc/passwd\" is not a device: a path below /dev, or numbers as \"c 10:232\" or \"c 195:*\"" },
	{ "device: climbs out", P("\"devices\":{\"allow\":[@\"/dev/../etc\"]}"), D "devices.allow[0]", NULL },
	{ "device: pattern", P("\"devices\":{\"allow\":[@\"/dev/*\"]}"), D "devices.allow[0]", NULL },
	{ "device: all", P("\"devices\":{\"allow\":[@\"c *:*\"]}"), D "devices.allow[0]", NULL },
	{ "device: type a", P("\"devices\":{\"allow\":[@\"a 1:1\"]}"), D "devices.allow[0]", NULL },
	{ "device: tail", P("\"devices\":{\"allow\":[@\"c 10:232 rwm\"]}"), D "devices.allow[0]", NULL },
	{ "device: number too long", P("\"devices\":{\"allow\":[@\"c 10:99999999999\"]}"), D "devices.allow[0]", NULL },
	{ "network device", P("\"devices\":{\"network\":[@\"a/b\"]}"), D "devices.network[0]", NULL },
	{ "mount: relative path", P("\"mounts\":{\"deny\":[\"/a\",@\"srv\"]}"), D "mounts.deny[1]", "\"srv\" is not an absolute path without \".\" and \"..\"" },
	{ "mount: dots", P("\"mounts\":{\"allow\":[@\"/a/../b\"]}"), D "mounts.allow[0]", NULL },
	{ "mount: double slash", P("\"mounts\":{\"allow\":[@\"/a//b\"]}"), D "mounts.allow[0]", NULL },
	{ "mount: slash at the end", P("\"mounts\":{\"allow\":[@\"/a/\"]}"), D "mounts.allow[0]", NULL },
	{ "mount: type", P("\"mounts\":{\"types\":[@\"NFS 4\"]}"), D "mounts.types[0]", "\"NFS 4\" is not the name of a filesystem type" },
	{ "mount: propagation", P("\"mounts\":{\"propagation\":[@\"private\"]}"), D "mounts.propagation[0]", NULL },
	{ "rootfs: tmpfs on /", P("\"rootfs\":{\"tmpfs\":[@\"/\"]}"), D "rootfs.tmpfs[0]", "\"/\" is not an absolute path below / or \"~\"" },
	{ "rootfs: home of somebody", P("\"rootfs\":{\"tmpfs\":[@\"~root\"]}"), D "rootfs.tmpfs[0]", NULL },
	{ "env: mode", P("\"env\":{\"mode\":@\"none\"}"), D "env.mode", "unknown environment mode \"none\" (known: scrub, allowlist, off)" },
	{ "env: assignment", P("\"env\":{\"allow\":[@\"A=b\"]}"), D "env.allow[0]", "\"A=b\" is not the name of a variable, or a pattern with *" },
	{ "sysctl: everything", P("\"sysctls\":{\"allow\":[@\"*\"]}"), D "sysctls.allow[0]", NULL },
	{ "sysctl: star inside", P("\"sysctls\":{\"allow\":[@\"net.*.forward\"]}"), D "sysctls.allow[0]", NULL },
	{ "sysctl: dots", P("\"sysctls\":{\"allow\":[@\"net..ipv4\"]}"), D "sysctls.allow[0]", NULL },
	{ "rlimit: negative", P("\"rlimits\":{\"nofile\":@-1}"), D "rlimits.nofile", "must be a whole number from 0 on or \"unlimited\"" },
	{ "rlimit: infinity", P("\"rlimits\":{\"nofile\":@\"infinity\"}"), D "rlimits.nofile", NULL },
	{ "rlimit: unknown", P("\"rlimits\":{\"RLIMIT_NOFILE\":@1}"), D "rlimits.RLIMIT_NOFILE", NULL },
	{ "tmpfs: size 0", P("\"disk\":{\"tmpfs\":{\"max\":@0}}"), D "disk.tmpfs.max", "must be a number of bytes above 0, as \"1GiB\", or \"auto\"" },
	{ "egress: neither", P("\"egress\":{\"allow\":[@{\"ports\":[1]}]}"), D "egress.allow[0]", "must have either host or cidr" },
	{ "egress: both", P("\"egress\":{\"allow\":[@{\"host\":\"a.b\",\"cidr\":\"1.2.3.4\"}]}"), D "egress.allow[0]", "must have either host or cidr" },
	{ "egress: every name", P("\"egress\":{\"allow\":[{\"host\":@\"*\"}]}"), D "egress.allow[0].host", "\"*\": \"*\" would be every name; list names, or a cidr for addresses" },
	{ "egress: a registry", P("\"egress\":{\"allow\":[{\"host\":@\"*.com\"}]}"), D "egress.allow[0].host", "\"*.com\": a wildcard needs at least two labels behind it" },
	{ "egress: star inside", P("\"egress\":{\"allow\":[{\"host\":@\"a.*.org\"}]}"), D "egress.allow[0].host", NULL },
	{ "egress: URL", P("\"egress\":{\"allow\":[{\"host\":@\"https://a.org\"}]}"), D "egress.allow[0].host", NULL },
	{ "egress: address as host", P("\"egress\":{\"allow\":[{\"host\":@\"1.2.3.4\"}]}"), D "egress.allow[0].host", "\"1.2.3.4\": is an address; write it as a cidr" },
	{ "egress: dot at the end", P("\"egress\":{\"allow\":[{\"host\":@\"a.org.\"}]}"), D "egress.allow[0].host", NULL },
	{ "egress: empty host", P("\"egress\":{\"allow\":[{\"host\":@\"\"}]}"), D "egress.allow[0].host", NULL },
	{ "egress: hyphen", P("\"egress\":{\"allow\":[{\"host\":@\"-a.org\"}]}"), D "egress.allow[0].host", NULL },
	{ "egress: prefix too long", P("\"egress\":{\"allow\":[{\"cidr\":@\"1.2.3.4/33\"}]}"), D "egress.allow[0].cidr", "\"1.2.3.4/33\" has no valid prefix length" },
	{ "egress: bits behind", P("\"egress\":{\"allow\":[{\"cidr\":@\"10.20.1.0/16\"}]}"), D "egress.allow[0].cidr", "\"10.20.1.0/16\" has bits set behind its prefix length" },
	{ "egress: short address", P("\"egress\":{\"allow\":[{\"cidr\":@\"10.20/16\"}]}"), D "egress.allow[0].cidr", NULL },
	{ "egress: port 0", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@0]}]}"), D "egress.allow[0].ports", "must be a port number from 1 to 65535, or a range as \"8000-8100\"" },
	{ "egress: range from 0", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"0-9\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: range upside down", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"9-8\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: range past the last port", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"1-65536\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: range without an end", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"8000-\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: range without a begin", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"-80\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: two ranges", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"1-2-3\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: a number in quotes", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"443\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: blanks in a range", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@\"8000 - 8100\"]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: port 65536", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":[@65536]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: no port", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"ports\":@[]}]}"), D "egress.allow[0].ports", NULL },
	{ "egress: protocol", P("\"egress\":{\"allow\":[{\"host\":\"a.b\",\"protocol\":@\"icmp\"}]}"), D "egress.allow[0].protocol", "unknown protocol \"icmp\" (known: tcp, udp)" },
	{ "egress: verify of a range", P("\"egress\":{\"allow\":[@{\"cidr\":\"192.0.2.0/24\",\"verify\":\"sni\"}]}"), D "egress.allow[0]", "verify is for a host; a cidr is its own check" },
	{ "egress: verify of udp", P("\"egress\":{\"allow\":[@{\"host\":\"a.test\",\"protocol\":\"udp\",\"verify\":\"sni\"}]}"), D "egress.allow[0]", "verify \"sni\" reads TLS connections; udp has none that are read" },
	{ "egress: metadata of a range", P("\"egress\":{\"allow\":[@{\"cidr\":\"169.254.0.0/16\",\"metadata\":true}]}"), D "egress.allow[0]", "metadata needs a cidr that is one address" },
	{ "egress: accept", P("\"egress\":{\"accept\":[@\"notify\"]}"), D "egress.accept[0]", "unknown fallback \"notify\" (known: none)" },
	{ "egress: accept, no such mechanism", P("\"egress\":{\"accept\":[@\"nft\"]}"), D "egress.accept[0]", "unknown fallback \"nft\" (known: none)" },
	{ "audit: accept", P("\"audit\":{\"accept\":[@\"nft\"]}"), D "audit.accept[0]", "unknown fallback \"nft\" (known: none)" },
	{ "audit: on failure", P("\"audit\":{\"onFailure\":@\"ignore\"}"), D "audit.onFailure", "unknown answer to failure \"ignore\" (known: stop, continue)" },
	{ "exec", P("\"exec\":{\"allow\":@\"no\"}"), D "exec.allow", "must be a boolean, is a string" },
	/* clang-format on */
};

static void refused(const struct bad *b)
{
	_cleanup_policy_ struct policy *p = NULL;
	struct error err = ERROR_NULL;
	char want[ERROR_TEXT_MAX], place[512];
	struct fixture f;
	int r;

	fixture_text(&f, b->document);
	r = policy_parse("policy.json", f.text, f.len, &p, &err);
	if (r >= 0 || !b->path) {
		ok(r < 0 && str_after(err.text, "policy.json"), "%s: %s", b->name, err.text);
		return;
	}
	if (*b->path)
		(void)snprintf(place, sizeof(place), "policy.json: %s (offset %zu): ", b->path,
			       f.mark);
	else
		(void)snprintf(place, sizeof(place), "policy.json: offset %zu: ", f.mark);
	if (!b->text) {
		ok(str_after(err.text, place) != NULL, "%s: %s", b->name, err.text);
		return;
	}
	(void)snprintf(want, sizeof(want), "%s%s", place, b->text);
	is_str(err.text, want, b->name);
}

static void chain_too_long(void)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	_cleanup_policy_ struct policy *p = NULL;
	struct error err = ERROR_NULL;
	int i;

	buf_adds(&b, "{\"version\":1,\"profiles\":{");
	for (i = 0; i < 20; i++)
		buf_addf(&b, "%s\"p%d\":{\"inherits\":\"%s%d\"}", i ? "," : "", i,
			 i < 19 ? "p" : "builtin:default", i < 19 ? i + 1 : 0);
	buf_adds(&b, "}}");
	/* The last name is no profile, but the depth is found first. */
	ok(policy_parse("policy.json", b.data, b.len, &p, &err) < 0 &&
		   strstr(err.text, "more than 16 profiles inherit one another"),
	   "a chain of 20: %s", err.text);
}

static void too_many_profiles(void)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	_cleanup_policy_ struct policy *p = NULL;
	struct error err = ERROR_NULL;
	int i;

	buf_adds(&b, "{\"version\":1,\"profiles\":{");
	for (i = 0; i < 65; i++)
		buf_addf(&b, "%s\"p%d\":{}", i ? "," : "", i);
	buf_adds(&b, "}}");
	is_int(policy_parse("policy.json", b.data, b.len, &p, &err), -E2BIG, "65 profiles");
}

static void passthrough_stays_bare(void)
{
	static const char text[] =
		"{\"version\":1,\"profiles\":{\"x\":{\"inherits\":\"builtin:passthrough\","
		"\"noNewPrivileges\":true}}}";
	_cleanup_policy_ struct policy *p = NULL;
	struct error err = ERROR_NULL;

	(void)policy_parse("policy.json", text, strlen(text), &p, &err);
	is_str(err.text,
	       "policy.json: profiles.x: a profile that inherits \"builtin:passthrough\" can have "
	       "no "
	       "other members",
	       "nothing would enforce it");
}

/* What is read: member by member through the profile that comes out. */
static void values(void)
{
	static const char body[] =
		"/* comment */ \"inherits\":\"builtin:default\","
		"\"capabilities\":{\"root\":[\"CAP_CHOWN\",\"CAP_CHECKPOINT_RESTORE\"],\"user\":[]}"
		","
		"\"namespaces\":{\"host\":[\"network\",\"cgroup\"]}, // to the end of the line\n"
		"\"devices\":{\"allow\":[\"/dev/kvm\",\"c 195:*\",\"b 8:0\"]},"
		"\"resources\":{\"memory\":{\"default\":\"1.5GiB\",\"max\":4294967296},"
		"\"cpu\":{\"default\":\"0.5\",\"max\":1.25},\"accept\":[\"none\"]},"
		"\"rlimits\":{\"nofile\":\"unlimited\",\"stack\":8388608},"
		"\"time\":{\"container\":{\"max\":\"1h30m\"},\"exec\":{\"default\":\"500ms\"}},"
		"\"egress\":{\"allow\":[{\"host\":\"PyPI.org\",\"ports\":[443,80]},"
		"{\"cidr\":\"2001:db8::/32\",\"protocol\":\"udp\"},"
		"{\"cidr\":\"169.254.169.254\",\"metadata\":true}]}";
	_cleanup_policy_ struct policy *policy = NULL;
	struct error err = ERROR_NULL;
	struct policy_profile p;

	policy = fixture_policy(body, &err);
	if (!policy || policy_profile_get(policy, "default", &p, &err) < 0) {
		ok(false, "values: %s", err.text);
		return;
	}
	ok(p.capabilities.root.n == (1ull << CAP_CHOWN | 1ull << CAP_CHECKPOINT_RESTORE), "bits");
	is_int(p.namespaces.host.n, CLONE_NEWNET | CLONE_NEWCGROUP, "mask");
	is_int(p.devices.allow.list.count, 3, "list");
	is_int(p.resources.memory.def.n, GIB * 3 / 2, "bytes as text");
	is_int(p.resources.memory.max.n, 4 * GIB, "bytes as number");
	is_int(p.resources.cpu.def.n, 500, "cpus as text");
	is_int(p.resources.cpu.max.n, 1250, "cpus as number");
	is_int(p.resources.accept.n, POLICY_ACCEPT_NONE, "accept");
	ok(p.rlimits.max[RLIMIT_NOFILE].n == POLICY_UNLIMITED, "unlimited");
	is_int(p.rlimits.max[RLIMIT_STACK].n, 8388608, "rlimit that has no built-in cap");
	ok(!p.rlimits.max[RLIMIT_AS].from.path, "rlimit without cap");
	is_int(p.rlimits.max[RLIMIT_CORE].n, 0, "inherited rlimit");
	ok(p.rlimits.max[RLIMIT_CORE].from.path != NULL, "inherited rlimit is set");
	is_int(p.time.container.max.n, 5400000000000ll, "duration");
	is_int(p.time.container.def.n, 3600000000000ll, "duration inherited");
	is_int(p.time.exec.def.n, 500000000ll, "a default below an inherited \"off\"");
	is_int(p.egress.allow.n_rules, 3, "rules");
	is_str(p.egress.allow.rules[0].host, "pypi.org", "rule: host in lower case");
	is_int(p.egress.allow.rules[0].ports[1].first, 80, "rule: ports");
	is_int(p.egress.allow.rules[1].prefix, 32, "rule: prefix");
	is_int(p.egress.allow.rules[1].address[1], 1, "rule: address");
	ok(p.egress.allow.rules[2].metadata, "rule: metadata");
	is_str(p.egress.allow.rules[1].from.path, "profiles.default.egress.allow[1]",
	       "rule: place");
	is_str(p.resources.memory.max.from.path, "profiles.default.resources.memory.max", "place");
	is_str(p.resources.memory.max.from.file, "policy.json", "file");
	is_str(p.resources.pids.max.from.file, "built-in", "file of what is inherited");
	ok(p.monitored && !p.passthrough, "an ordinary profile");
	is_str(p.policy_file, "policy.json", "where remedies go");
}

/* The shipped profiles, by the decisions that made them. */
static void shipped(void)
{
	static const struct {
		const char *name, *seccomp;
		uint64_t memory, pids, cpus, time;
		int caps;
		bool exec, readonly, monitored;
	} rows[] = {
		/* clang-format off */
		{ "default", "agent-default", 2 * GIB, 512, 2000, 3600000000000, 8, true, false, true },
		{ "strict", "agent-strict", 2 * GIB, 512, 2000, 3600000000000, 0, true, true, true },
		{ "build", "agent-build", 8 * GIB, 4096, 4000, 3600000000000, 8, true, false, true },
		{ "nested", "agent-nested", 2 * GIB, 512, 2000, 3600000000000, 8, true, false, true },
		{ "service", "agent-default", 2 * GIB, 512, 2000, POLICY_UNLIMITED, 8, true, false, true },
		{ "sandbox", "agent-strict", 16 * MIB, 16, 1000, POLICY_UNLIMITED, 0, false, false, false },
		/* clang-format on */
	};
	_cleanup_policy_ struct policy *policy = NULL;
	struct error err = ERROR_NULL;
	struct policy_profile p;
	size_t i, k, at;

	if (policy_builtin(&policy, &err) < 0) {
		ok(false, "built-in policy: %s", err.text);
		return;
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!ok(policy_profile_get(policy, rows[i].name, &p, &err) == 0, "%s: %s",
			rows[i].name, err.text))
			continue;
		is_str(p.seccomp.profile.text, rows[i].seccomp, rows[i].name);
		is_int(p.resources.memory.max.n, rows[i].memory, rows[i].name);
		is_int(p.resources.pids.max.n, rows[i].pids, rows[i].name);
		is_int(p.resources.cpu.max.n, rows[i].cpus, rows[i].name);
		is_int(p.time.container.max.n, rows[i].time, rows[i].name);
		is_int(__builtin_popcountll(p.capabilities.root.n), rows[i].caps, rows[i].name);
		is_int(p.capabilities.user.n, 0, rows[i].name);
		is_int(p.exec.allowed.n, rows[i].exec, rows[i].name);
		is_int(p.rootfs.readonly.n, rows[i].readonly, rows[i].name);
		is_int(p.monitored, rows[i].monitored, rows[i].name);
		is_int(p.no_new_privileges.n, 1, rows[i].name);
		is_int(p.egress.allow.n_rules, 0, rows[i].name);
		/* The maximum equals the default. */
		for (k = 0; (at = policy_limit_offset(k)) != SIZE_MAX; k++) {
			const struct policy_limit *l =
				(const struct policy_limit *)((char *)&p + at);

			ok(l->def.from.path && l->max.from.path && l->def.n == l->max.n,
			   "%s: limit %zu: default equals maximum", rows[i].name, k);
		}
	}
	is_int(policy_profile_get(policy, "passthrough", &p, &err), 0, "passthrough");
	ok(p.passthrough, "passthrough is bare");
	is_str(policy_profile_name(policy, 6), "passthrough", "the last name");
	is_str(policy_profile_name(policy, 7), NULL, "no more names");
}

static void inheritance(void)
{
	static const char text[] =
		"{\"version\":1,\"profile\":\"child\",\"profiles\":{"
		"\"parent\":{\"inherits\":\"builtin:build\",\"env\":{\"allow\":[\"A\",\"B\"]},"
		"\"resources\":{\"memory\":{\"max\":\"1GiB\"}}},"
		"\"child\":{\"inherits\":\"parent\",\"env\":{\"allow\":[\"C\"]},"
		"\"resources\":{\"memory\":{\"default\":\"3GiB\"}}},"
		"\"strict\":{\"resources\":{\"pids\":{\"max\":9}}},"
		"\"sealed-in\":{\"inherits\":\"builtin:sandbox\"},"
		"\"bare\":{\"inherits\":\"builtin:passthrough\"}}}";
	_cleanup_policy_ struct policy *policy = NULL;
	struct error err = ERROR_NULL;
	struct policy_profile p;

	if (policy_parse("f", text, strlen(text), &policy, &err) < 0 ||
	    policy_profile_get(policy, "child", &p, &err) < 0) {
		ok(false, "inheritance: %s", err.text);
		return;
	}
	is_str(p.seccomp.profile.text, "agent-build", "from the grandparent");
	is_int(p.env.allow.list.count, 1, "a list replaces the inherited one");
	is_str(p.env.allow.list.items[0], "C", "by the child's");
	is_int(p.resources.memory.def.n, 3 * GIB, "the child's default");
	is_int(p.resources.memory.max.n, 3 * GIB, "raises the parent's maximum");
	is_str(p.resources.memory.max.from.path, "profiles.child.resources.memory.default",
	       "and is named as its source");
	is_int(policy_profile_get(policy, "parent", &p, &err), 0, "the parent");
	is_int(p.resources.memory.def.n, GIB, "its maximum lowers the inherited default");
	is_int(policy_profile_get(policy, "strict", &p, &err), 0, "strict in the file");
	is_str(p.seccomp.profile.text, "agent-strict", "keeps what the shipped strict has");
	is_int(p.resources.pids.def.n, 9, "and its own");
	is_int(policy_profile_get(policy, "sealed-in", &p, &err), 0, "a child of sandbox");
	ok(!p.monitored, "has no monitor either");
	is_int(policy_profile_get(policy, "bare", &p, &err), 0, "a child of passthrough");
	ok(p.passthrough, "is bare, too");
	is_int(policy_profile_get(policy, "nosuch", &p, &err), -EINVAL, "unknown profile");
	is_str(err.text,
	       "policy f: there is no profile \"nosuch\" (there are: parent, child, strict, "
	       "sealed-in, "
	       "bare, default, build, nested, service, sandbox, passthrough)",
	       "names the known ones");
}

static void example(void)
{
	_cleanup_free_ char *path = str_printf("%s/contrib", fixture_srcdir()), *data = NULL;
	_cleanup_close_ int dir = path ? open(path, O_DIRECTORY | O_CLOEXEC | O_RDONLY) : -1;
	_cleanup_policy_ struct policy *p = NULL;
	struct error err = ERROR_NULL;
	size_t len;

	ok(dir >= 0 &&
		   file_read_all(dir, "policy.example.json", POLICY_BYTES_MAX, &data, &len, &err) ==
			   0 &&
		   policy_parse("policy.example.json", data, len, &p, &err) == 0,
	   "the example is a policy: %s", err.text);
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++)
		refused(&bads[i]);
	chain_too_long();
	too_many_profiles();
	passthrough_stays_bare();
	values();
	shipped();
	inheritance();
	example();
	return TAP_END();
}
