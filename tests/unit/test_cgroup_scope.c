/*
 * systemd's view of a container: unit names, properties from limits, devices and annotations,
 * and the messages to the helper.
 */
#include "cgroup/cgroup_scope.h"
#include "tap.h"
#include "util/str.h"

static const char devices_text[] = "Character devices:\n  1 mem\n136 pts\n 10 misc\n\n"
				   "Block devices:\n259 blkext\n136 other\n";

static void check_name(const char *path, bool user, const char *want)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct cgroup_scope_name name;
	struct error err = ERROR_NULL;
	char got[ERROR_TEXT_MAX + 2];

	if (cgroup_scope_name(path, "id", user, &arena, &name, &err) < 0)
		(void)snprintf(got, sizeof(got), "%s", err.text);
	else
		(void)snprintf(got, sizeof(got), "%s %s %s%s", name.slice, name.unit, name.folder,
			       name.is_slice ? " slice" : "");
	is_str(got, want, path ? path : "no path");
}

static void test_names(void)
{
	check_name(NULL, false, "system.slice agentrun-id.scope /system.slice/agentrun-id.scope");
	check_name("", true, "user.slice agentrun-id.scope /user.slice/agentrun-id.scope");
	check_name("system.slice:docker:4711", false,
		   "system.slice docker-4711.scope /system.slice/docker-4711.scope");
	check_name("kubepods-burstable-pod1.slice:cri-containerd:9", false,
		   "kubepods-burstable-pod1.slice cri-containerd-9.scope /kubepods.slice/"
		   "kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-9.scope");
	check_name("::x", false, "system.slice x.scope /system.slice/x.scope");
	check_name("-.slice:p:x", false, "-.slice p-x.scope /p-x.scope");
	check_name("a.slice:p:b-c.slice", false, "a.slice b-c.slice /b.slice/b-c.slice slice");
	check_name("a.slice:p:x+y", false, "a.slice p-x\\x2by.scope /a.slice/p-x\\x2by.scope");
	check_name("/docker/x", false,
		   "cgroup path \"/docker/x\": the systemd cgroup manager expects "
		   "slice:prefix:name; for a folder use the cgroupfs manager");
	check_name("a.slice:b", false,
		   "cgroup path \"a.slice:b\": the systemd cgroup manager expects "
		   "slice:prefix:name; for a folder use the cgroupfs manager");
	check_name("a.slice:b:c:d", false,
		   "cgroup path \"a.slice:b:c:d\": the systemd cgroup manager expects "
		   "slice:prefix:name; for a folder use the cgroupfs manager");
	check_name("a.slice:../x:d", false,
		   "cgroup path \"a.slice:../x:d\": the systemd cgroup manager expects "
		   "slice:prefix:name; for a folder use the cgroupfs manager");
	check_name("a.slice:b:", false, "cgroup path \"a.slice:b:\" has an empty name");
	check_name("a--b.slice:p:x", false,
		   "invalid slice name \"a--b.slice\": a-b.slice is the form, without slashes, empty "
		   "parts or more than 16 parts");
	check_name("a:p:x", false,
		   "invalid slice name \"a\": a-b.slice is the form, without slashes, empty parts or "
		   "more than 16 parts");
	check_name(".slice:p:x", false,
		   "invalid slice name \".slice\": a-b.slice is the form, without slashes, empty parts "
		   "or more than 16 parts");
	check_name("-a.slice:p:x", false,
		   "invalid slice name \"-a.slice\": a-b.slice is the form, without slashes, empty "
		   "parts or more than 16 parts");
}

/* "Name=signature:value,value since;" for each. */
static void props_text(const struct cgroup_props *p, struct buf *out)
{
	size_t i, k;

	buf_adds(out, "");
	for (i = 0; i < p->n; i++) {
		buf_addf(out, "%s=%s:", p->items[i].name, p->items[i].signature);
		for (k = 0; k < p->items[i].n; k++)
			buf_addf(out, "%s%s", k ? "," : "", p->items[i].values[k]);
		if (p->items[i].since)
			buf_addf(out, " since %u", p->items[i].since);
		buf_adds(out, ";");
	}
}

static void check_limit(const char *file, const char *value, const char *more, const char *want)
{
	_cleanup_cgroup_writes_ struct cgroup_writes w = CGROUP_WRITES_NULL;
	_cleanup_cgroup_props_ struct cgroup_props p = CGROUP_PROPS_NULL;
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct error err = ERROR_NULL;
	char name[200];

	cgroup_writes_add(&w, "x", 0, file, "%s", value);
	if (more)
		cgroup_writes_add(&w, "x", 0, more, "%s", "1");
	(void)snprintf(name, sizeof(name), "%s = %s", file, value);
	if (cgroup_props_limits(&p, &w, &err) < 0) {
		is_str(err.text, want, name);
		return;
	}
	props_text(&p, &text);
	is_str(text.data, want, name);
}

static void test_limits(void)
{
	check_limit("memory.max", "1000", NULL, "MemoryMax=t:1000;");
	check_limit("memory.swap.max", "max", NULL, "MemorySwapMax=t:18446744073709551615;");
	check_limit("memory.high", "7", NULL, "MemoryHigh=t:7;");
	check_limit("memory.limit_in_bytes", "-1", NULL, "MemoryMax=t:18446744073709551615;");
	check_limit("memory.oom.group", "1", NULL, "OOMPolicy=s:kill since 253;");
	check_limit("memory.oom.group", "0", NULL, "OOMPolicy=s:continue since 253;");
	check_limit("pids.max", "5", NULL, "TasksMax=t:5;");
	check_limit("cpu.weight", "174", NULL, "CPUWeight=t:174;");
	check_limit("cpu.shares", "1024", NULL, "CPUWeight=t:100;");
	check_limit("cpu.weight", "174", "cpu.idle", "CPUWeight=t:0 since 252;");
	check_limit("cpu.max", "50000 100000", NULL,
		    "CPUQuotaPeriodUSec=t:100000;CPUQuotaPerSecUSec=t:500000;");
	check_limit("cpu.max", "12345 50000", NULL,
		    "CPUQuotaPeriodUSec=t:50000;CPUQuotaPerSecUSec=t:250000;");
	check_limit("cpu.max", "max", NULL, "CPUQuotaPerSecUSec=t:18446744073709551615;");
	check_limit("cpu.cfs_quota_us", "20000", NULL, "CPUQuotaPerSecUSec=t:200000;");
	check_limit("cpu.cfs_quota_us", "-1", NULL, "CPUQuotaPerSecUSec=t:18446744073709551615;");
	check_limit("cpu.max", "1 0", NULL,
		    "cannot set cpu.max to \"the period 0\": not a value that systemd takes");
	check_limit("cpuset.cpus", "0-2,8", NULL, "AllowedCPUs=ay:7,1;");
	check_limit("cpuset.mems", "1", NULL, "AllowedMemoryNodes=ay:2;");
	check_limit("cpuset.cpus", "3-1", NULL,
		    "cannot set cpuset.cpus to \"3-1\": not a value that systemd takes");
	check_limit("cpuset.cpus", "1;2", NULL,
		    "cannot set cpuset.cpus to \"1;2\": not a value that systemd takes");
	check_limit("cpuset.cpus", "99999", NULL,
		    "cannot set cpuset.cpus to \"99999\": not a value that systemd takes");
	check_limit("io.weight", "default 200", NULL, "IOWeight=t:200;");
	check_limit("io.weight", "8:0 200", NULL, "");
	check_limit("blkio.weight", "1000", NULL, "IOWeight=t:10000;");
	check_limit("io.max", "8:0 rbps=1", NULL, "");
	check_limit("hugetlb.2MB.max", "5", NULL, "");
	check_limit("memory.max", "much", NULL,
		    "cannot set memory.max to \"much\": not a value that systemd takes");
}

static void check_devices(struct cgroup_device_list *rules, const char *want, const char *name)
{
	_cleanup_cgroup_props_ struct cgroup_props p = CGROUP_PROPS_NULL;
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct error err = ERROR_NULL;

	is_int(cgroup_props_devices(&p, rules, devices_text, &err), 0, "device rules are told");
	props_text(&p, &text);
	is_str(text.data, want, name);
}

static void test_devices(void)
{
	struct cgroup_device_rule items[] = {
		{ true, 'c', -1, -1, CGROUP_DEVICE_MKNOD, false },
		{ true, 'c', 1, 3, CGROUP_DEVICE_ALL, false },
		{ true, 'c', 136, -1, CGROUP_DEVICE_READ | CGROUP_DEVICE_WRITE, false },
		{ true, 'b', 136, -1, CGROUP_DEVICE_READ, false },
		{ true, 'b', 250, -1, CGROUP_DEVICE_READ, false },
		{ false, 'c', 10, 229, CGROUP_DEVICE_WRITE, false },
	};
	struct cgroup_device_list rules = { .items = items, .n = ELEMENTSOF(items) };

	check_devices(&rules,
		      "DevicePolicy=s:strict;DeviceAllow=a(ss):char-*,m,/dev/char/1:3,rwm,char-pts,rw,"
		      "block-other,r;",
		      "majors by the name of their driver; what no driver has, and denials, are left out");
	rules.default_allow = true;
	check_devices(&rules, "DevicePolicy=s:auto;DeviceAllow=a(ss):;", "all devices");
}

static void check_annotation(const char *key, const char *value, bool any, const char *want)
{
	_cleanup_cgroup_props_ struct cgroup_props p = CGROUP_PROPS_NULL;
	struct str_pair pair = { (char *)key, (char *)value };
	struct str_map map = { &pair, 1 };
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct error err = ERROR_NULL;
	char name[200];

	(void)snprintf(name, sizeof(name), "%s = %s", key, value);
	if (cgroup_props_annotations(&p, &map, any, &err) < 0) {
		is_str(err.text, want, name);
		return;
	}
	props_text(&p, &text);
	is_str(text.data, want, name);
}

#define P "org.systemd.property."
#define BAD "\" is no value in GVariant's text form (true, 5, uint64 5, 'text', ['a', 'b'])"

static void test_annotations(void)
{
	check_annotation("other", "rubbish", false, "");
	check_annotation(P "TimeoutStopUSec", "uint64 30000000", false, "TimeoutStopUSec=t:30000000;");
	check_annotation(P "TimeoutStopSec", "30", false, "TimeoutStopUSec=t:30000000;");
	check_annotation(P "KillSignal", "37", false, "KillSignal=i:37;");
	check_annotation(P "CollectMode", "'inactive'", false, "CollectMode=s:inactive;");
	check_annotation(P "After", "['a.service', \"b\"]", false, "After=as:a.service,b;");
	check_annotation(P "After", "@as []", false, "After=as:;");
	check_annotation(P "DefaultDependencies", " true ", false, "DefaultDependencies=b:true;");
	check_annotation(P "Description", "'it\\'s'", false, "Description=s:it's;");
	check_annotation(P "Wants", "['poweroff.target']", false,
			 "annotation " P "Wants: only a container under the profile \"passthrough\" may "
			 "set this property of its unit");
	check_annotation(P "PIDs", "[uint32 1]", false,
			 "annotation " P "PIDs: only a container under the profile \"passthrough\" may "
			 "set this property of its unit");
	check_annotation(P "MemoryMin", "uint64 5", true, "MemoryMin=t:5;");
	check_annotation(P "PIDs", "[uint32 1, 2]", true, "PIDs=au:1,2;");
	check_annotation(P "Io", "1", true, "annotation " P "Io: no name of a property");
	check_annotation(P "A/b", "1", true, "annotation " P "A/b: no name of a property");
	check_annotation(P "Bad", "byte 256", true, "annotation " P "Bad: \"byte 256" BAD);
	check_annotation(P "Bad", "uint64 -1", true, "annotation " P "Bad: \"uint64 -1" BAD);
	check_annotation(P "Bad", "[]", true, "annotation " P "Bad: \"[]" BAD);
	check_annotation(P "Bad", "['a', 1]", true, "annotation " P "Bad: \"['a', 1]" BAD);
	check_annotation(P "Bad", "['a',", true, "annotation " P "Bad: \"['a'," BAD);
	check_annotation(P "Bad", "'a", true, "annotation " P "Bad: \"'a" BAD);
	check_annotation(P "Bad", "'a\\", true, "annotation " P "Bad: \"'a\\" BAD);
	check_annotation(P "Bad", "1 2", true, "annotation " P "Bad: \"1 2" BAD);
	check_annotation(P "Bad", "", true, "annotation " P "Bad: \"" BAD);
	check_annotation(P "Bad", "1.5", true, "annotation " P "Bad: \"1.5" BAD);
	check_annotation(P "Documentation", "string 'a'", false, "Documentation=s:a;");
	check_annotation(P "Bad", "uint32 uint32 1", true, "annotation " P "Bad: \"uint32 uint32 1" BAD);
	check_annotation(P "Bad", "uint32 'a'", true, "annotation " P "Bad: \"uint32 'a'" BAD);
	check_annotation(P "Bad", "string 5", true, "annotation " P "Bad: \"string 5" BAD);
	check_annotation(P "Bad", "handle 1", true, "annotation " P "Bad: \"handle 1" BAD);
}

static void test_wire(void)
{
	static const char *const list[] = { "a", "", "c d" };
	_cleanup_cgroup_props_ struct cgroup_props p = CGROUP_PROPS_NULL;
	struct cgroup_scope_request q;
	struct error err = ERROR_NULL;
	_cleanup_free_ char *msg = NULL;
	_cleanup_buf_ struct buf text = BUF_NULL;
	char other[4096];
	size_t len, i, bad = 0;

	cgroup_props_u64(&p, "A", 252, 7);
	cgroup_props_u64(&p, "A", 0, 8);
	cgroup_props_add(&p, "B", "as", 0, list, 3);
	cgroup_props_bool(&p, "C", true);
	is_int(cgroup_scope_encode(CGROUP_SCOPE_START, "u.scope", "s.slice", &p, &msg, &len, &err), 0,
	       "a request is written");
	is_int(cgroup_scope_decode(msg, len, &q, &err), 0, "and read");
	is_int(q.verb, CGROUP_SCOPE_START, "its verb");
	is_str(q.unit, "u.scope", "its unit");
	is_str(q.slice, "s.slice", "its slice");
	props_text(&q.props, &text);
	is_str(text.data, "A=t:8;B=as:a,,c d;C=b:true;", "its properties, a later one in the place of an earlier");
	cgroup_props_done(&q.props);

	for (i = 0; i < len; i++)
		bad += cgroup_scope_decode(msg, i, &q, &err) == -EBADMSG;
	is_int(bad, len, "a cut request is refused");
	memcpy(other, msg, len);
	other[len] = '\0';
	is_int(cgroup_scope_decode(other, len + 1, &q, &err), -EBADMSG, "one with more than it says, too");
	is_int(cgroup_scope_decode("9\0u\0s\0" "0", 8, &q, &err), -EBADMSG, "an unknown verb");
	is_int(cgroup_scope_decode("1\0u\0s\0" "1\0A\0v\0" "0\0" "0", 17, &q, &err), -EBADMSG, "a signature that is not carried");
	is_int(cgroup_scope_decode("1\0u\0s\0" "1\0A\0a(ss)\0" "0\0" "1\0x", 22, &q, &err), -EBADMSG, "half a pair");
	is_int(cgroup_scope_decode("1\0u\0s\0" "1\0A\0t\0" "0\0" "0", 17, &q, &err), -EBADMSG, "no value");
}

int main(void)
{
	TAP_BEGIN();
	test_names();
	test_limits();
	test_devices();
	test_annotations();
	test_wire();
	return TAP_END();
}
