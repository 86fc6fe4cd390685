/*
 * Mount options, tmpfs sizes, masked paths, the root filesystem: each row is a policy and
 * mounts, with the decisions and the options that come out.
 */
#include "tests/unit/test_policy_fixture.h"
#include "policy/policy_internal.h"

struct row {
	const char *name, *policy, *mount; /* members of the mount */
	const char *decisions;		   /* of "mounts" */
	const char *options;		   /* NULL: refused */
};

#define BIND(options_) \
	"\"destination\":\"/d\",\"type\":\"bind\",\"source\":\"/s\",\"options\":[" options_ "]"
#define FS(type_, at_, options_)                                                 \
	"\"destination\":\"" at_ "\",\"type\":\"" type_ "\",\"source\":\"" type_ \
	"\",\"options\":[" options_ "]"
#define HARD   "added /d > nosuid, nodev"
#define PRIV   "; added /d > private propagation"
#define SLAVE  "\"mounts\":{\"propagation\":[\"slave\"]}"
#define SHARED "\"mounts\":{\"propagation\":[\"slave\",\"shared\"]}"

static const struct row rows[] = {
	/* clang-format off */
	{ "bind: bare", NULL, BIND("\"bind\""), HARD PRIV, "bind rnosuid rnodev rprivate" },
	{ "bind: recursive", NULL, BIND("\"rbind\""), HARD PRIV, "rbind rnosuid rnodev rprivate" },
	{ "bind: by type alone", NULL, "\"destination\":\"/d\",\"type\":\"bind\",\"source\":\"/s\"", HARD PRIV, "rnosuid rnodev rprivate" },
	{ "bind: by option alone", NULL, "\"destination\":\"/d\",\"source\":\"/s\",\"options\":[\"rbind\",\"rprivate\"]", HARD, "rbind rprivate rnosuid rnodev" },
	{ "bind: Docker's volume", NULL, BIND("\"rbind\",\"rprivate\""), HARD, "rbind rprivate rnosuid rnodev" },
	{ "bind: Docker's read-only volume", NULL, BIND("\"rbind\",\"ro\",\"rprivate\""), HARD "; added /d > read-only with all mounts below", "rbind ro rprivate rro rnosuid rnodev" },
	{ "bind: Podman's", NULL, BIND("\"bind\",\"rprivate\",\"nosuid\",\"nodev\""), "", "bind rprivate nosuid nodev" },
	{ "bind: nothing left to do", NULL, BIND("\"rbind\",\"rprivate\",\"rnosuid\",\"rnodev\""), "", "rbind rprivate rnosuid rnodev" },
	{ "bind: devices and set-user-id wanted", NULL, BIND("\"bind\",\"dev\",\"suid\",\"rprivate\""), HARD, "bind rprivate rnosuid rnodev" },
	{ "bind: wanted after the opposite", NULL, BIND("\"bind\",\"nodev\",\"nosuid\",\"rdev\",\"rsuid\",\"rprivate\""), HARD, "bind nodev nosuid rprivate" },
	{ "bind: recursive read-only", NULL, BIND("\"rbind\",\"rro\",\"rprivate\",\"rnosuid\",\"rnodev\""), "", "rbind rro rprivate rnosuid rnodev" },
	{ "bind: read-only, then writable", NULL, BIND("\"rbind\",\"ro\",\"rw\",\"rprivate\",\"rnosuid\",\"rnodev\""), "", "rbind ro rw rprivate rnosuid rnodev" },
	{ "bind: writable below a read-only top", NULL, BIND("\"rbind\",\"rrw\",\"ro\",\"rprivate\",\"rnosuid\",\"rnodev\""), "added /d > read-only with all mounts below", "rbind ro rprivate rnosuid rnodev rro" },
	{ "bind: plain read-only needs no more", NULL, BIND("\"bind\",\"ro\",\"rprivate\",\"nosuid\",\"nodev\""), "", "bind ro rprivate nosuid nodev" },
	{ "bind: slave", NULL, BIND("\"rbind\",\"rslave\",\"rnosuid\",\"rnodev\""), "clamped /d > private propagation instead of slave", "rbind rnosuid rnodev rprivate" },
	{ "bind: slave, allowed", SLAVE, BIND("\"rbind\",\"rslave\",\"rnosuid\",\"rnodev\""), "", "rbind rslave rnosuid rnodev" },
	{ "bind: shared", NULL, BIND("\"rbind\",\"rshared\""), "refused shared propagation of /d", NULL },
	{ "bind: shared, not recursive", NULL, BIND("\"bind\",\"shared\""), "refused shared propagation of /d", NULL },
	{ "bind: shared, only slave allowed", SLAVE, BIND("\"bind\",\"shared\""), "refused shared propagation of /d", NULL },
	{ "bind: shared, allowed", SHARED, BIND("\"bind\",\"shared\",\"nosuid\",\"nodev\""), "", "bind shared nosuid nodev" },
	{ "bind: unbindable", NULL, BIND("\"bind\",\"unbindable\",\"nosuid\",\"nodev\""), "", "bind unbindable nosuid nodev" },
	{ "proc", NULL, FS("proc", "/proc", "\"nosuid\",\"noexec\",\"nodev\""), "", "nosuid noexec nodev" },
	{ "proc: with slashes", NULL, FS("proc", "//proc/./", "\"nosuid\",\"nodev\""), "", "nosuid nodev" },
	{ "proc: elsewhere", NULL, FS("proc", "/p", "\"nosuid\",\"nodev\""), "refused proc on /p", NULL },
	{ "proc: elsewhere by dots", NULL, FS("proc", "/proc/../p", "\"nosuid\",\"nodev\""), "refused proc on /proc/../p", NULL },
	{ "sysfs", NULL, FS("sysfs", "/sys", "\"nosuid\",\"nodev\",\"ro\""), "", "nosuid nodev ro" },
	{ "sysfs: writable", NULL, FS("sysfs", "/sys", "\"nosuid\",\"nodev\""), "clamped /sys > read-only", "nosuid nodev ro" },
	{ "sysfs: writable, in words", NULL, FS("sysfs", "/sys", "\"nosuid\",\"nodev\",\"ro\",\"rw\""), "clamped /sys > read-only", "nosuid nodev ro ro" },
	{ "sysfs: elsewhere", NULL, FS("sysfs", "/s", "\"nosuid\",\"nodev\",\"ro\""), "refused sysfs on /s", NULL },
	{ "cgroup", NULL, FS("cgroup", "/sys/fs/cgroup", "\"nosuid\",\"nodev\",\"ro\""), "", "nosuid nodev ro" },
	{ "cgroup: writable", NULL, FS("cgroup", "/sys/fs/cgroup", "\"nosuid\",\"nodev\",\"rw\""), "clamped /sys/fs/cgroup > read-only", "nosuid nodev ro" },
	{ "cgroup2: writable", NULL, FS("cgroup2", "/c", "\"nosuid\",\"nodev\""), "clamped /c > read-only", "nosuid nodev ro" },
	{ "devpts", NULL, FS("devpts", "/dev/pts", "\"nosuid\",\"noexec\",\"newinstance\""), "added any number of terminals on /dev/pts > 256",
	  "nosuid noexec newinstance max=256" },
	{ "devpts of many", NULL, FS("devpts", "/dev/pts", "\"nosuid\",\"max=4096\""), "clamped 4096 terminals on /dev/pts > 256", "nosuid max=256" },
	{ "devpts of few", NULL, FS("devpts", "/dev/pts", "\"nosuid,max=0x1000,max=8\""), "", "nosuid max=8" },
	{ "mqueue", NULL, FS("mqueue", "/dev/mqueue", "\"nosuid\",\"noexec\",\"nodev\""), "", "nosuid noexec nodev" },
	{ "disk", NULL, FS("ext4", "/d", ""), "refused a mount of type ext4 on /d", NULL },
	{ "overlay", NULL, FS("overlay", "/d", "\"lowerdir=/etc\""), "refused a mount of type overlay on /d", NULL },
	{ "debugfs", NULL, FS("debugfs", "/d", ""), "refused a mount of type debugfs on /d", NULL },
	{ "bpf", NULL, FS("bpf", "/sys/fs/bpf", ""), "refused a mount of type bpf on /sys/fs/bpf", NULL },
	{ "no type", NULL, "\"destination\":\"/d\",\"source\":\"/s\"", "refused a mount of type  on /d", NULL },
	{ "remount", NULL, FS("sysfs", "/sys", "\"remount\",\"rw\""), "refused a mount of type remount on /sys", NULL },
	{ "nfs, listed", "\"mounts\":{\"types\":[\"nfs4\"]}", FS("nfs4", "/d", ""), HARD, "nosuid nodev" },
	{ "a list replaces", "\"mounts\":{\"types\":[\"nfs4\"]}", FS("proc", "/proc", "\"nosuid\",\"nodev\""), "refused a mount of type proc on /proc", NULL },
	/* clang-format on */
};

static void options_text(const struct strv *list, char *buf, size_t size)
{
	size_t i, len = 0;

	buf[0] = '\0';
	for (i = 0; i < list->count && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "",
					list->items[i]);
	ok(!list->items || list->items[list->count] == NULL, "the list ends with NULL");
}

/* "mounts" without the decision on the root filesystem's own propagation. */
static void mounts_text(const struct policy_verdict *v, char *buf, size_t size)
{
	static const char root[] = "added the root filesystem > private propagation";
	char *at;

	decided_text(v, "mounts", buf, size);
	at = strstr(buf, root);
	if (!at)
		return;
	if (at > buf)
		at -= 2;
	*at = '\0';
}

static void mount_row(const struct row *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char top[1024], got[1024];

	(void)snprintf(top, sizeof(top), "\"mounts\":[{%s}]", row->mount);
	if (!decided_make(&d, &facts, row->policy, NULL, top, NULL, NULL))
		return;
	mounts_text(&d.v, got, sizeof(got));
	if (row->options)
		is_str(got, row->decisions, row->name);
	else
		ok(str_after(got, row->decisions) != NULL, "%s: %s", row->name, got);
	is_int(d.r, row->options ? 0 : -EPERM, row->name);
	if (!row->options) {
		ok(fixture_text_harmless(d.err.text), "%s: %s", row->name, d.err.text);
		return;
	}
	options_text(&d.spec->mounts.items[0].options, got, sizeof(got));
	is_str(got, row->options, row->name);
}

/* tmpfs on /t: options asked, decisions, options given without "nosuid nodev". */
static const struct row sizes[] = {
	/* clang-format off */
	{ "tmpfs: bare", NULL, "", "added any number of bytes on /t > 1GiB; added any number of inodes on /t > 100000", "size=1073741824 nr_inodes=100000" },
	{ "tmpfs: size", NULL, "\"size=65536k\"", "added any number of inodes on /t > 100000", "size=67108864 nr_inodes=100000" },
	{ "tmpfs: both", NULL, "\"size=64k\",\"nr_inodes=10\"", "", "size=65536 nr_inodes=10" },
	{ "tmpfs: as large as memory", NULL, "\"size=2g\",\"nr_inodes=10\"", "", "size=2147483648 nr_inodes=10" },
	{ "tmpfs: larger than memory", NULL, "\"size=3G\",\"nr_inodes=10\"", "clamped 3GiB bytes on /t > 2GiB", "size=2147483648 nr_inodes=10" },
	{ "tmpfs: without limit", NULL, "\"size=0\",\"nr_inodes=10\"", "clamped unlimited bytes on /t > 1GiB", "size=1073741824 nr_inodes=10" },
	{ "tmpfs: a part of the host's memory", NULL, "\"size=50%\",\"nr_inodes=10\"", "clamped 8589934550 bytes on /t > 2GiB", "size=2147483648 nr_inodes=10" },
	{ "tmpfs: a small part", NULL, "\"size=1%\",\"nr_inodes=10\"", "", "size=171798691 nr_inodes=10" },
	{ "tmpfs: too many percent", NULL, "\"size=900%\",\"nr_inodes=10\"", "clamped unlimited bytes on /t > 1GiB", "size=1073741824 nr_inodes=10" },
	{ "tmpfs: hexadecimal", NULL, "\"size=0xffffffffff\",\"nr_inodes=10\"", "clamped unlimited bytes on /t > 1GiB", "size=1073741824 nr_inodes=10" },
	{ "tmpfs: exabytes", NULL, "\"size=15e\",\"nr_inodes=10\"", "clamped 16140901064495857664 bytes on /t > 2GiB", NULL },
	{ "tmpfs: overflow", NULL, "\"size=99999999999e\",\"nr_inodes=10\"", "clamped unlimited bytes on /t > 1GiB", "size=1073741824 nr_inodes=10" },
	{ "tmpfs: blocks", NULL, "\"nr_blocks=16\",\"nr_inodes=10\"", "", "size=65536 nr_inodes=10" },
	{ "tmpfs: many blocks", NULL, "\"nr_blocks=1g\",\"nr_inodes=10\"", "clamped 4TiB bytes on /t > 2GiB", "size=2147483648 nr_inodes=10" },
	{ "tmpfs: size and blocks", NULL, "\"size=64k\",\"nr_blocks=1g\",\"nr_inodes=10\"", "clamped 4TiB bytes on /t > 2GiB", "size=2147483648 nr_inodes=10" },
	{ "tmpfs: twice", NULL, "\"size=64k\",\"size=3g\",\"nr_inodes=10\"", "clamped 3GiB bytes on /t > 2GiB", "size=2147483648 nr_inodes=10" },
	{ "tmpfs: in one word", NULL, "\"mode=755,size=3g,nr_inodes=10\"", "clamped 3GiB bytes on /t > 2GiB", "mode=755 size=2147483648 nr_inodes=10" },
	{ "tmpfs: inodes without limit", NULL, "\"size=64k\",\"nr_inodes=0\"", "clamped unlimited inodes on /t > 100000", "size=65536 nr_inodes=100000" },
	{ "tmpfs: many inodes", NULL, "\"size=64k\",\"nr_inodes=1m\"", "clamped 1048576 inodes on /t > 100000", "size=65536 nr_inodes=100000" },
	{ "tmpfs: refused", "\"disk\":{\"excess\":\"refuse\"}", "\"size=3g\",\"nr_inodes=10\"", "refused 3GiB bytes on /t", "" },
	{ "tmpfs: absent is not refused", "\"disk\":{\"excess\":\"refuse\"}", "", "added any number of bytes on /t > 1GiB; added any number of inodes on /t > 100000", "size=1073741824 nr_inodes=100000" },
	{ "tmpfs: sizes of the policy", "\"disk\":{\"tmpfs\":{\"default\":\"8MiB\",\"max\":\"16MiB\",\"inodes\":5}}", "", "added any number of bytes on /t > 8MiB; added any number of inodes on /t > 5", "size=8388608 nr_inodes=5" },
	{ "tmpfs: maximum of the policy", "\"disk\":{\"tmpfs\":{\"default\":\"8MiB\",\"max\":\"16MiB\",\"inodes\":5}}", "\"size=1g\",\"nr_inodes=1\"", "clamped 1GiB bytes on /t > 16MiB", "size=16777216 nr_inodes=1" },
	{ "tmpfs: half of less memory", "\"resources\":{\"memory\":{\"max\":\"64MiB\"}}", "\"nr_inodes=1\"", "added any number of bytes on /t > 32MiB", "size=33554432 nr_inodes=1" },
	/* clang-format on */
};

static void size_row(const struct row *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char top[1024], got[1024], want[1024];

	(void)snprintf(
		top, sizeof(top),
		"\"mounts\":[{\"destination\":\"/t\",\"type\":\"tmpfs\",\"source\":\"tmpfs\","
		"\"options\":[\"nosuid\",\"nodev\"%s%s]}]",
		*row->mount ? "," : "", row->mount);
	if (!decided_make(&d, &facts, row->policy, NULL, top, NULL, NULL))
		return;
	decided_text(&d.v, "tmpfs", got, sizeof(got));
	if (!row->options) {
		ok(strstr(got, " > 2GiB") || strstr(got, " > 1GiB"), "%s: %s", row->name, got);
		return;
	}
	is_str(got, row->decisions, row->name);
	is_int(d.r, *row->options ? 0 : -EPERM, row->name);
	if (!*row->options)
		return;
	options_text(&d.spec->mounts.items[0].options, got, sizeof(got));
	(void)snprintf(want, sizeof(want), "nosuid nodev %s", row->options);
	is_str(got, want, row->name);
}

/* /dev itself keeps its nodes. */
static void dev_stays_usable(void)
{
	static const struct {
		const char *at, *want;
	} places[] = {
		{ "/dev", "size=4096 nr_inodes=1 nosuid" },
		{ "/dev/", "size=4096 nr_inodes=1 nosuid" },
		{ "/dev/shm", "size=4096 nr_inodes=1 nosuid nodev" },
		{ "/devx", "size=4096 nr_inodes=1 nosuid nodev" },
	};
	const struct policy_facts facts = fixture_facts();
	char top[512], got[512];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };

		(void)snprintf(
			top, sizeof(top),
			"\"mounts\":[{\"destination\":\"%s\",\"type\":\"tmpfs\",\"source\":\"x\","
			"\"options\":[\"size=4k\",\"nr_inodes=1\"]}]",
			places[i].at);
		if (!decided_make(&d, &facts, NULL, NULL, top, NULL, NULL))
			continue;
		options_text(&d.spec->mounts.items[0].options, got, sizeof(got));
		is_str(got, places[i].want, places[i].at);
	}
}

static bool in(const struct strv *list, const char *path)
{
	size_t i, n = 0;

	for (i = 0; i < list->count; i++)
		n += str_eq(list->items[i], path);
	return n == 1;
}

static void masks(void)
{
	static const char *const always[] = { "/proc/kcore",
					      "/proc/keys",
					      "/proc/latency_stats",
					      "/proc/timer_list",
					      "/proc/timer_stats",
					      "/proc/sched_debug",
					      "/proc/scsi",
					      "/proc/acpi",
					      "/proc/asound",
					      "/proc/interrupts",
					      "/sys/firmware",
					      "/sys/devices/virtual/powercap",
					      "/sys/devices/system/cpu/cpu7/thermal_throttle" };
	static const char *const readonly[] = { "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
						"/proc/sysrq-trigger" };
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 }, e = { .r = 0 };
	size_t i;

	if (!decided_make(&d, &facts, NULL, NULL, NULL, NULL,
			  "\"maskedPaths\":[\"/proc//kcore\",\"/mine\"],\"readonlyPaths\":[\"/proc/"
			  "sys/\"]"))
		return;
	ok(in(&d.spec->linux_cfg->masked_paths, "/mine"), "the configuration's own stay");
	ok(in(&d.spec->linux_cfg->masked_paths, "/proc//kcore") &&
		   !in(&d.spec->linux_cfg->masked_paths, "/proc/kcore"),
	   "what is there in other spelling is not added");
	for (i = 1; i < sizeof(always) / sizeof(always[0]); i++)
		ok(in(&d.spec->linux_cfg->masked_paths, always[i]), "masked: %s", always[i]);
	for (i = 0; i < sizeof(readonly) / sizeof(readonly[0]); i++)
		ok(in(&d.spec->linux_cfg->readonly_paths, readonly[i]) == (i != 3), "read-only: %s",
		   readonly[i]);

	if (!decided_make(
		    &e, &facts,
		    "\"paths\":{\"unmasked\":[\"/proc/kcore\",\"/proc/sys\"],\"masked\":[\"/a\"],"
		    "\"readonly\":[\"/b\"]}",
		    NULL, NULL, NULL, NULL))
		return;
	ok(!in(&e.spec->linux_cfg->masked_paths, "/proc/kcore"), "unmasked by policy");
	ok(!in(&e.spec->linux_cfg->readonly_paths, "/proc/sys"), "not read-only by policy");
	ok(in(&e.spec->linux_cfg->masked_paths, "/a"), "masked by policy");
	ok(in(&e.spec->linux_cfg->readonly_paths, "/b"), "read-only by policy");
	ok(in(&e.spec->linux_cfg->masked_paths, "/proc/keys"), "the others stay masked");
}

static void token(void)
{
	static const struct {
		const char *mount, *masked, *policy;
	} cases[] = {
		/* clang-format off */
		{ "\"destination\":\"/var/run/secrets/kubernetes.io/serviceaccount\",\"source\":\"/s\"", "/var/run/secrets/kubernetes.io/serviceaccount", NULL },
		{ "\"destination\":\"/run/secrets/kubernetes.io/serviceaccount/\",\"source\":\"/s\"", "/run/secrets/kubernetes.io/serviceaccount", NULL },
		{ "\"destination\":\"/var/run/secrets/kubernetes.io/serviceaccount/token\",\"source\":\"/s\"", "/var/run/secrets/kubernetes.io/serviceaccount/token", NULL },
		{ "\"destination\":\"/x\",\"source\":\"/var/lib/kubelet/pods/1/volumes/kubernetes.io~projected/kube-api-access-abc\"", "/x", NULL },
		{ "\"destination\":\"/var/run/secrets/kubernetes.io/serviceaccounts\",\"source\":\"/s\"", NULL, NULL },
		{ "\"destination\":\"/x\",\"source\":\"/var/lib/kubelet/pods/1/volumes/kubernetes.io~projected/config\"", NULL, NULL },
		{ "\"destination\":\"/var/run/secrets/kubernetes.io/serviceaccount\",\"source\":\"/s\"", NULL, "\"mounts\":{\"serviceAccountToken\":true}" },
		/* clang-format on */
	};
	const struct policy_facts facts = fixture_facts();
	char top[512], got[512], want[512];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };

		(void)snprintf(top, sizeof(top),
			       "\"mounts\":[{%s,\"type\":\"bind\",\"options\":[\"rbind\",\"ro\"]}]",
			       cases[i].mount);
		if (!decided_make(&d, &facts, cases[i].policy, NULL, top, NULL, NULL))
			continue;
		decided_text(&d.v, "service account token", got, sizeof(got));
		(void)snprintf(want, sizeof(want),
			       cases[i].masked ? "dropped %s > an empty folder" : "",
			       cases[i].masked);
		is_str(got, want, cases[i].mount);
		ok(!cases[i].masked || in(&d.spec->linux_cfg->masked_paths, cases[i].masked),
		   "masked: %s", cases[i].mount);
	}
}

/* The root filesystem of strict: read-only, with writable places in memory. */
static const struct {
	const char *name, *top, *process, *decisions, *first, *options;
} roots[] = {
	/* clang-format off */
	{ "strict: root", NULL, NULL, "clamped writable > read-only; added /tmp > an empty folder in memory; added /root > an empty folder in memory", "/tmp", "nosuid nodev mode=1777 size=1073741824 nr_inodes=100000" },
	{ "strict: user with a home", NULL, "\"env\":[\"HOME=/home/u\"],\"user\":{\"uid\":7,\"gid\":8}", "clamped writable > read-only; added /tmp > an empty folder in memory; added /home/u > an empty folder in memory", "/tmp", NULL },
	{ "strict: the last HOME counts", NULL, "\"env\":[\"HOME=/a\",\"HOME=/b\"]", "clamped writable > read-only; added /tmp > an empty folder in memory; added /b > an empty folder in memory", "/tmp", NULL },
	{ "strict: user without a home", NULL, "\"user\":{\"uid\":7,\"gid\":8}", "clamped writable > read-only; added /tmp > an empty folder in memory", "/tmp", NULL },
	{ "strict: home is /", NULL, "\"env\":[\"HOME=/x/..\"]", "clamped writable > read-only; added /tmp > an empty folder in memory", "/tmp", NULL },
	{ "strict: relative home", NULL, "\"env\":[\"HOME=x\"]", "clamped writable > read-only; added /tmp > an empty folder in memory", "/tmp", NULL },
	{ "strict: a mount is there already", "\"mounts\":[{\"destination\":\"/tmp/\",\"type\":\"bind\",\"source\":\"/s\",\"options\":[\"bind\"]}]", NULL, "clamped writable > read-only; added /root > an empty folder in memory", "/root", "nosuid nodev mode=0700 uid=0 gid=0 size=1073741824 nr_inodes=100000" },
	{ "strict: a volume below stays on top", "\"mounts\":[{\"destination\":\"/root/v\",\"type\":\"bind\",\"source\":\"/s\",\"options\":[\"bind\"]}]", NULL, "clamped writable > read-only; added /tmp > an empty folder in memory; added /root > an empty folder in memory", "/tmp", NULL },
	/* clang-format on */
};

static void root_rows(void)
{
	const struct policy_facts facts = fixture_facts();
	char got[512];
	size_t i, n;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };

		if (!decided_make(&d, &facts, NULL, "strict", roots[i].top, roots[i].process, NULL))
			continue;
		decided_text(&d.v, "rootfs", got, sizeof(got));
		is_str(got, roots[i].decisions, roots[i].name);
		ok(d.spec->root->readonly, "%s: read-only", roots[i].name);
		is_str(d.spec->mounts.items[0].destination, roots[i].first, roots[i].name);
		n = d.spec->mounts.count;
		if (roots[i].top)
			is_str(d.spec->mounts.items[n - 1].type, "bind",
			       "the own mounts come after");
		if (!roots[i].options)
			continue;
		options_text(&d.spec->mounts.items[0].options, got, sizeof(got));
		is_str(got, roots[i].options, roots[i].name);
	}
}

static const struct {
	const char *name, *word, *policy;
	bool no_pivot;
	const char *decision, *after;
} propagations[] = {
	/* clang-format off */
	{ "root: absent", NULL, NULL, false, "added the root filesystem > private propagation", "rprivate" },
	{ "root: absent, no pivot", NULL, NULL, true, "", NULL },
	{ "root: private", "private", NULL, false, "", "private" },
	{ "root: slave", "rslave", NULL, false, "clamped the root filesystem > private propagation", "rprivate" },
	{ "root: slave, allowed", "rslave", SLAVE, false, "", "rslave" },
	{ "root: shared", "rshared", NULL, false, "refused shared propagation of the root filesystem", "rshared" },
	{ "root: shared, allowed", "shared", SHARED, false, "", "shared" },
	{ "root: shared, no pivot", "shared", NULL, true, "refused shared propagation of the root filesystem", "shared" },
	/* clang-format on */
};

static void propagation_rows(void)
{
	char members[128], got[256];
	size_t i;

	for (i = 0; i < sizeof(propagations) / sizeof(propagations[0]); i++) {
		struct policy_facts facts = fixture_facts();
		_cleanup_decided_ struct decided d = { .r = 0 };

		facts.no_pivot = propagations[i].no_pivot;
		(void)snprintf(members, sizeof(members), "\"rootfsPropagation\":\"%s\"",
			       propagations[i].word);
		if (!decided_make(&d, &facts, propagations[i].policy, NULL, NULL, NULL,
				  propagations[i].word ? members : NULL))
			continue;
		decided_text(&d.v, "mounts", got, sizeof(got));
		is_str(got, propagations[i].decision, propagations[i].name);
		is_str(d.spec->linux_cfg->rootfs_propagation, propagations[i].after,
		       propagations[i].name);
	}
}

static void clean_paths(void)
{
	static const char *const pairs[][2] = {
		{ "/", "/" },		{ "", "/" },	       { "a", "/a" },
		{ "//a//b/", "/a/b" },	{ "/a/./b", "/a/b" },  { "/a/../b", "/b" },
		{ "/../..", "/" },	{ "/a/b/../..", "/" }, { "/a/..b", "/a/..b" },
		{ "/a/...", "/a/..." }, { "/.a", "/.a" },      { "./a/.", "/a" },
	};
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		is_str(policy_path_clean(&a, pairs[i][0]), pairs[i][1], pairs[i][0]);
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		mount_row(&rows[i]);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		size_row(&sizes[i]);
	dev_stays_usable();
	masks();
	token();
	root_rows();
	propagation_rows();
	clean_paths();
	return TAP_END();
}
