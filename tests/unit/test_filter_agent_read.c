/*
 * Reading profiles: what is refused and with which words, what extending, Docker's members and
 * an engine's own profile mean.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

#include "filter/filter_agent.h"
#include "filter/filter_syscalls.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

#define E(e)		   (SECCOMP_RET_ERRNO | (e))
#define DENY		   "\"defaultAction\": \"SCMP_ACT_ERRNO\""
#define RULES(text)	   "{ " DENY ", \"syscalls\": [ " text " ] }"
#define RULE(name, action) "{ \"names\": [ \"" name "\" ], \"action\": \"SCMP_ACT_" action "\" }"
#define ARG(i, op, rest)   "{ \"index\": " #i ", \"op\": \"SCMP_CMP_" op "\", " rest " }"
#define COND(name, action, args)                                                                \
	"{ \"names\": [ \"" name "\" ], \"args\": [ " args " ], \"action\": \"SCMP_ACT_" action \
	"\" }"

static const struct {
	const char *json, *text;
} refused[] = {
	{ "", "p.json" },
	{ "[]", "must be an object" },
	{ "{}", "p.json: defaultAction is required" },
	{ "{ \"defaultAction\": \"SCMP_ACT_DENY\" }", "SCMP_ACT_ALLOW" },
	{ "{ \"defaultAction\": \"SCMP_ACT_NOTIFY\" }",
	  "cannot hand decisions to another process" },
	{ "{ \"defaultAktion\": \"SCMP_ACT_ALLOW\" }", "did you mean \"defaultAction\"?" },
	{ "{ " DENY ", \"defaultErrnoRet\": 4096 }", "at most 4095" },
	{ "{ " DENY ", \"defaultErrnoRet\": 1, \"defaultErrno\": \"ENOSYS\" }", "different ones" },
	{ "{ " DENY ", \"defaultErrno\": \"EWHAT\" }", "unknown errno name" },
	{ "{ \"extends\": \"agent-nosuch\" }", "there is no shipped profile \"agent-nosuch\"" },
	{ "{ \"extends\": \"agent-strict\", \"defaultErrno\": \"EPERM\" }",
	  "needs a defaultAction" },
	{ "{ " DENY ", \"flags\": [ \"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV\" ] }", "flags[0]" },
	{ "{ " DENY ", \"match\": \"last\" }", "first" },
	{ RULES(RULE("nosuchcall", "ERRNO")),
	  "syscalls[0]: unknown syscall \"nosuchcall\" in a rule that denies" },
	{ "{ \"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [ " RULE("opem", "KILL") " ] }",
	  "unknown syscall \"opem\"" },
	{ RULES(RULE("open", "PERMIT")), "syscalls[0].action" },
	{ RULES(RULE("open", "TRACE")), "syscalls[0]: an agent profile cannot hand" },
	{ RULES("{ \"names\": [], \"action\": \"SCMP_ACT_ALLOW\" }"),
	  "needs \"names\", not empty" },
	{ RULES("{ \"name\": \"a\", \"names\": [ \"b\" ], \"action\": \"SCMP_ACT_ALLOW\" }"),
	  "not both" },
	{ RULES("{ \"names\": [ \"open\" ], \"action\": \"SCMP_ACT_ALLOW\", \"errnoRet\": 1 }"),
	  "for SCMP_ACT_ERRNO only" },
	{ RULES("{ \"names\": [ \"open\" ], \"action\": \"SCMP_ACT_ALLOW\", \"comments\": \"\" }"),
	  "did you mean \"comment\"?" },
	{ RULES(RULE("open", "ALLOW") ", " RULE("open", "ERRNO")),
	  "syscalls[1]: \"open\" has the same conditions as in syscalls[0] but another action" },
	{ RULES(RULE("socket", "ALLOW") ", " COND("socket", "ERRNO",
						  ARG(0, "EQ", "\"value\": 38"))),
	  "syscalls[1]: \"socket\" contradicts syscalls[0], which decides it otherwise: say "
	  "\"match\": \"first\"" },
	{ "{ \"match\": \"first\", " DENY ", \"syscalls\": [ " RULE("socket", "ALLOW") ", " COND(
		  "socket", "ERRNO", ARG(0, "EQ", "\"value\": 38")) " ] }",
	  "contradicts syscalls[0], which decides it already" },
	{ RULES(COND("socket", "ALLOW",
		     ARG(0, "EQ", "\"value\": 1") ", " ARG(0, "EQ", "\"value\": 2"))),
	  "argument 0 has two conditions" },
	{ RULES(COND("socket", "ALLOW", ARG(6, "EQ", "\"value\": 1"))), "index 6 is not 0..5" },
	{ RULES(COND("socket", "ALLOW", ARG(3, "EQ", "\"value\": 1"))),
	  "socket takes 3 arguments" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"value\": 4294967296"))),
	  "the kernel takes argument 0 of socket as 32 bits: 0x100000000 does not fit" },
	{ RULES(COND("mknod", "ALLOW", ARG(1, "EQ", "\"value\": 65536"))), "as 16 bits" },
	{ RULES(COND("socket", "ALLOW",
		     ARG(0, "MASKED_EQ", "\"value\": 8589934592, \"valueTwo\": 0"))),
	  "the mask has none of them" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "MASKED_EQ", "\"value\": 0, \"valueTwo\": 0"))),
	  "must be the mask" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "MASKED_EQ", "\"value\": 1, \"valueTwo\": 2"))),
	  "never holds" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"value\": 1, \"valueTwo\": 2"))),
	  "for SCMP_CMP_MASKED_EQ only" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "GE", "\"values\": [ 1, 2 ]"))),
	  "\"values\" are for" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"values\": []"))), "not empty" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"value\": 1, \"values\": [ 1 ]"))),
	  "one of them" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"value\": \"AF_UNIXX\""))),
	  "unknown constant \"AF_UNIXX\"" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"value\": 1.5"))), "whole number" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQ", "\"value\": -1"))), "whole number" },
	{ RULES(COND("socket", "ALLOW", ARG(0, "EQUAL", "\"value\": 1"))), "SCMP_CMP_MASKED_EQ" },
	{ RULES("{ \"names\": [ \"open\" ], \"action\": \"SCMP_ACT_ALLOW\", "
		"\"includes\": { \"minKernel\": \"6.9\" } }"),
	  "depend on the machine" },
};

static void bad_input(void)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(refused); i++) {
		struct filter f = FILTER_NULL;
		struct error err = ERROR_NULL;
		int r = filter_agent_compile("p.json", refused[i].json, strlen(refused[i].json),
					     AUDIT_ARCH_X86_64, &f, &err);

		ok(r < 0 && r == err.code && strstr(err.text, refused[i].text) && !f.insns,
		   "refused: %s", err.text);
		filter_done(&f);
	}
}

static void too_long(void)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	unsigned i;

	buf_adds(&b, "{ " DENY ", \"syscalls\": [ { \"names\": [ \"lseek\" ], "
		     "\"action\": \"SCMP_ACT_ALLOW\", \"args\": [ { \"index\": 1, "
		     "\"op\": \"SCMP_CMP_EQ\", \"values\": [ 1");
	for (i = 0; i < 1100; i++)
		buf_addf(&b, ", %u", i * 8);
	buf_adds(&b, " ] } ] } ] }");
	is_int(filter_agent_compile("long.json", b.data, b.len, AUDIT_ARCH_X86_64, &f, &err),
	       -E2BIG, "a program of more than 4096 instructions");
	ok(strstr(err.text, "long.json: the program has more than 4096 instructions"), "%s",
	   err.text);
	is_int(filter_agent_compile("p.json", "{}", 2, AUDIT_ARCH_S390X, &f, &err), -EINVAL,
	       "another architecture");
}

static uint32_t says(const char *json, uint32_t arch, const char *call, uint64_t arg)
{
	struct seccomp_data d = { .arch = arch, .args = { arg } };
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	uint32_t v;

	if (filter_agent_compile("p.json", json, strlen(json), arch, &f, &err) < 0) {
		printf("# %s\n", err.text);
		return 0xdead;
	}
	d.nr = filter_syscall_nr(filter_syscall_by_name(call), arch);
	v = filter_verdict(&f, &d);
	filter_done(&f);
	return v;
}

#define X AUDIT_ARCH_X86_64

static void extending(void)
{
	static const char mine[] = "{ \"extends\": \"agent-default\", \"syscalls\": [ " RULE(
		"ptrace",
		"ALLOW") ", " RULE("ioctl", "ERRNO") ", " COND("kcmp", "LOG",
							       ARG(2, "LE", "\"value\": 1")) " ] }";

	is_int(says(mine, X, "ptrace", 0), SECCOMP_RET_ALLOW, "extends: opened");
	is_int(says(mine, X, "ioctl", 0), E(EPERM),
	       "extends: the base's rules of the call are gone");
	is_int(says(mine, X, "socket", 38), E(EAFNOSUPPORT), "extends: the rest stays");
	is_int(says(mine, X, "kcmp", 0), SECCOMP_RET_LOG, "extends: a condition");
	is_int(says("{ \"extends\": \"agent-strict\" }", X, "socket", 2), E(EAFNOSUPPORT),
	       "extends over two levels");
	is_int(says("{ \"extends\": \"agent-strict\" }", X, "mount", 2), E(EPERM),
	       "and what the first says");
}

static void docker_members(void)
{
	static const char docker[] =
		"{ " DENY ", \"defaultErrnoRet\": 1, \"archMap\": [ { \"architecture\": "
		"\"SCMP_ARCH_X86_64\", \"subArchitectures\": [ \"SCMP_ARCH_X86\" ] } ], "
		"\"syscalls\": [ "
		"{ \"names\": [ \"read\", \"_llseek\", \"socketcall\", \"futur\" ], \"action\": "
		"\"SCMP_ACT_ALLOW\", \"args\": [], \"comment\": \"\", \"includes\": {}, "
		"\"excludes\": {} },"
		"{ \"name\": \"write\", \"action\": \"SCMP_ACT_ALLOW\", \"args\": null },"
		"{ \"names\": [ \"mount\" ], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": { "
		"\"caps\": "
		"[ \"CAP_SYS_ADMIN\" ] } },"
		"{ \"names\": [ \"ptrace\" ], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": "
		"{ \"minKernel\": \"4.8\" } },"
		"{ \"names\": [ \"dup\" ], \"action\": \"SCMP_ACT_ALLOW\", \"includes\": "
		"{ \"arches\": [ \"arm64\" ] } },"
		"{ \"names\": [ \"close\" ], \"action\": \"SCMP_ACT_ALLOW\", \"excludes\": "
		"{ \"arches\": [ \"amd64\" ] } },"
		"{ \"names\": [ \"clone3\" ], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 38, "
		"\"errno\": \"ENOSYS\", \"excludes\": { \"caps\": [ \"CAP_SYS_ADMIN\" ] } },"
		"{ \"names\": [ \"personality\" ], \"action\": \"SCMP_ACT_ALLOW\", \"args\": [ { "
		"\"index\": 0, "
		"\"value\": 4294967295, \"valueTwo\": 0, \"op\": \"SCMP_CMP_EQ\" } ] } ] }";

	is_int(says(docker, X, "read", 0), SECCOMP_RET_ALLOW, "names of elsewhere are passed over");
	is_int(says(docker, X, "write", 0), SECCOMP_RET_ALLOW, "name, and null arguments");
	is_int(says(docker, X, "mount", 0), E(EPERM), "no capability is taken as present");
	is_int(says(docker, X, "ptrace", 0), SECCOMP_RET_ALLOW, "minKernel");
	is_int(says(docker, X, "dup", 0), E(EPERM), "arches: not this one");
	is_int(says(docker, AUDIT_ARCH_AARCH64, "dup", 0), SECCOMP_RET_ALLOW, "arches: this one");
	is_int(says(docker, X, "close", 0), E(EPERM), "excluded arches");
	is_int(says(docker, AUDIT_ARCH_AARCH64, "close", 0), SECCOMP_RET_ALLOW, "not excluded");
	is_int(says(docker, X, "clone3", 0), E(ENOSYS), "an errno of its own");
	is_int(says(docker, X, "personality", UINT32_MAX | 0x500000000ull), SECCOMP_RET_ALLOW,
	       "32 bits are compared as 32");
	is_int(says(docker, X, "getpid", 0), E(EPERM), "the default");
	is_int(says(docker, X, "cachestat", 0), E(ENOSYS), "newer than the profile");
	is_int(says("{ \"defaultAction\": \"SCMP_ACT_ALLOW\" }", X, "cachestat", 0),
	       SECCOMP_RET_ALLOW, "unless all is allowed");
	is_int(says(RULES(COND("socket", "ALLOW", ARG(0, "NE", "\"value\": 40")) ", " COND(
			    "socket", "ERRNO", ARG(0, "GE", "\"value\": \"0x20|AF_INET\""))),
		    X, "socket", 34),
	       E(EPERM), "without an order the strictest wins");
}

/* What an engine writes for runc: the same words without the conditions. Cut in place. */
static char *profile_text(const char *config, char **ret_text)
{
	const char *srcdir = getenv("srcdir");
	_cleanup_free_ char *path =
		str_printf("%s/tests/data/configs/%s", srcdir ? srcdir : ".", config);
	struct error err = ERROR_NULL;
	char *from, *at;
	int depth = 0;

	if (file_read_all(AT_FDCWD, path, 1 << 22, ret_text, NULL, &err) < 0)
		return NULL;
	from = strstr(*ret_text, "\"seccomp\":");
	from = from ? strchr(from, '{') : NULL;
	for (at = from; at && *at; at++) {
		depth += (*at == '{') - (*at == '}');
		if (depth == 0) {
			at[1] = '\0';
			break;
		}
	}
	return from;
}

static void captured(void)
{
	static const char *const configs[] = { "docker20-run.json",
					       "containerd16-ctr-seccomp.json" };
	_cleanup_free_ char *podman = NULL;
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	const char *contradicting;
	size_t i;

	for (i = 0; i < ELEMENTSOF(configs); i++) {
		_cleanup_free_ char *text = NULL;
		const char *p = profile_text(configs[i], &text);

		if (!p) {
			ok(false, "no profile in %s", configs[i]);
			continue;
		}
		is_int(says(p, X, "read", 0), SECCOMP_RET_ALLOW, configs[i]);
		ok(says(p, X, "kexec_load", 0) == E(EPERM), "%s: kexec_load", configs[i]);
		ok(says(p, X, "personality", 0x400000) != SECCOMP_RET_ALLOW, "%s: personality",
		   configs[i]);
		is_int(says(p, X, "personality", 8), SECCOMP_RET_ALLOW, "by argument");
		is_int(says(p, X, "clone", 0x11), SECCOMP_RET_ALLOW, "fork");
		is_int(says(p, X, "file_getattr", 0), E(ENOSYS), "a newer call");
	}
	/* Podman's allows setns and denies it; libseccomp keeps one of the two in silence. */
	contradicting = profile_text("podman43-run.json", &podman);
	ok(contradicting &&
		   filter_agent_compile("podman.json", contradicting, strlen(contradicting), X, &f,
					&err) == -EINVAL &&
		   strstr(err.text, "\"setns\" has the same conditions"),
	   "%s", err.text);
}

static void put(int dir, const char *name, const char *text, mode_t mode)
{
	_cleanup_close_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	(void)fd_write_all(fd, text, strlen(text));
	(void)fchmod(fd, mode);
}

static void from_files(void)
{
	char dir[] = "/tmp/filter-agent-XXXXXX", path[64], cache[64];
	_cleanup_close_ int fd = -EBADF, cache_fd = -EBADF;
	struct filter a = FILTER_NULL, b = FILTER_NULL;
	struct error err = ERROR_NULL;

	if (!mkdtemp(dir)) {
		ok(false, "mkdtemp");
		return;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "%s/p.json", dir);
	(void)snprintf(cache, sizeof(cache), "%s/cache", dir);
	(void)mkdir(cache, 0700);
	cache_fd = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(fd, "p.json", RULES(RULE("read", "ALLOW")), 0644);
	is_int(filter_agent_open(path, cache_fd, &a, &err), 0, "a file of ours");
	is_int(filter_agent_open(path, cache_fd, &b, &err), 0, "again, from the cache");
	ok(a.count > 3 && a.count == b.count && a.flags == b.flags &&
		   memcmp(a.insns, b.insns, a.count * sizeof(*a.insns)) == 0,
	   "the same program");
	filter_done(&a);
	filter_done(&b);
	put(fd, "p.json", RULES(RULE("read", "ERRNO")), 0644);
	is_int(filter_agent_open(path, cache_fd, &a, &err), 0, "changed");
	ok(a.count != b.count || b.count == 0, "changed: another program");
	filter_done(&a);
	put(fd, "p.json", RULES(RULE("read", "ALLOW")), 0666);
	is_int(filter_agent_open(path, cache_fd, &a, &err), -EPERM, "writable by others");
	ok(strstr(err.text, "chmod go-w"), "%s", err.text);
	(void)unlinkat(fd, "p.json", 0);
	(void)!symlinkat("/etc/passwd", fd, "p.json");
	ok(filter_agent_open(path, -EBADF, &a, &err) < 0, "a symbolic link: %s", err.text);
	(void)unlinkat(fd, "p.json", 0);
	is_int(filter_agent_open(path, -EBADF, &a, &err), -ENOENT, err.text);
	is_int(filter_agent_open("agent-build", -EBADF, &a, &err), 0, "a shipped one by name");
	filter_done(&a);
	(void)snprintf(path, sizeof(path), "rm -r %s", dir);
	(void)!system(path);
}

int main(void)
{
	TAP_BEGIN();
	bad_input();
	too_long();
	extending();
	docker_members();
	captured();
	from_files();
	return TAP_END();
}
