/*
 * The list of files and values that resources turn into, on v1, hybrid and v2, and at update.
 */
#include "cgroup/cgroup_limits.h"
#include "tap.h"
#include "util/str.h"

#define SET(v)                            \
	{                                 \
		.set = true, .value = (v) \
	}

static struct cgroup_dir v1_dirs[] = { { .controllers = "cpu,cpuacct", .path = "/c/cpu" },
				       { .controllers = "cpuset", .path = "/c/cpuset" },
				       { .controllers = "memory", .path = "/c/memory" },
				       { .controllers = "pids", .path = "/c/pids" },
				       { .controllers = "blkio", .path = "/c/blkio" },
				       { .controllers = "", .path = "/c/unified" } };

static struct cgroup host(enum cgroup_layout layout)
{
	struct cgroup cg = { .layout = layout };

	if (layout == CGROUP_LAYOUT_UNIFIED) {
		cg.dirs[cg.n_dirs++] = v1_dirs[5];
	} else if (layout != CGROUP_LAYOUT_NONE) {
		cg.n_dirs = layout == CGROUP_LAYOUT_HYBRID ? 6 : 5;
		memcpy(cg.dirs, v1_dirs, cg.n_dirs * sizeof(cg.dirs[0]));
	}
	return cg;
}

/* The whole list as text: one "controller file=value" a line; flags as letters, or the error. */
static void check_in(const struct cgroup *cg, const struct cgroup_limits *in, const char *v2,
		     const char *want, const char *name)
{
	_cleanup_cgroup_writes_ struct cgroup_writes w = CGROUP_WRITES_NULL;
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct error err = ERROR_NULL;
	size_t i;
	int r;

	r = cgroup_limits_build(cg, in, v2, &w, &err);
	if (r == 0)
		r = cgroup_writes_check(cg, &w, &err);
	buf_adds(&text, "");
	for (i = 0; r == 0 && i < w.n; i++) {
		const struct cgroup_write *x = &w.items[i];

		buf_addf(&text, "%s %s=%s", x->controller, x->file, x->value);
		if (x->alt_file)
			buf_addf(&text, " or %s=%s", x->alt_file, x->alt_value);
		buf_addf(&text, "%s%s%s\n", x->flags & CGROUP_WRITE_OPTIONAL ? " optional" : "",
			 x->flags & CGROUP_WRITE_DEFER ? " defer" : "",
			 x->flags & CGROUP_WRITE_V2 ? "" : " v1");
	}
	is_str(r < 0 ? err.text : text.data, want, name);
}

static void check(enum cgroup_layout layout, const struct spec_resources *res, const char *want,
		  const char *name)
{
	struct cgroup cg = host(layout);
	struct cgroup_limits in = { .resources = res };

	check_in(&cg, &in, NULL, want, name);
}

static void test_memory(void)
{
	struct spec_memory m = { .limit = SET(1000),
				 .reservation = SET(500),
				 .swap = SET(3000),
				 .kernel = SET(77),
				 .swappiness = SET(10),
				 .disable_oom_killer = SET(true) };
	struct spec_resources res = { .memory = &m };

	check(CGROUP_LAYOUT_LEGACY, &res,
	      "memory memory.limit_in_bytes=1000 defer v1\n"
	      "memory memory.memsw.limit_in_bytes=3000 v1\n"
	      "memory memory.soft_limit_in_bytes=500 v1\n"
	      "memory memory.swappiness=10 v1\n"
	      "memory memory.oom_control=1 v1\n",
	      "v1 memory, kernel memory ignored");
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "cannot set memory swappiness 10: cgroup v2 has no such setting; remove it from the "
	      "configuration",
	      "v2 has no swappiness");
	m.swappiness.value = UINT64_MAX;
	m.disable_oom_killer.value = false;
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "memory memory.swap.max=2000\nmemory memory.max=1000\nmemory memory.low=500\n",
	      "v2 memory: swap counts alone");
	m = (struct spec_memory){ .limit = SET(-1) };
	check(CGROUP_LAYOUT_LEGACY, &res,
	      "memory memory.memsw.limit_in_bytes=-1 optional v1\n"
	      "memory memory.limit_in_bytes=-1 defer v1\n",
	      "v1 unlimited lifts swap first");
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "memory memory.swap.max=max optional\nmemory memory.max=max\n", "v2 unlimited");
	m = (struct spec_memory){ .limit = SET(100), .swap = SET(100) };
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "memory memory.swap.max=0 optional\nmemory memory.max=100\n",
	      "no swap is in force where there is no file");
	m = (struct spec_memory){ .swap = SET(100) };
	check(CGROUP_LAYOUT_LEGACY, &res,
	      "memory swap limit 100 needs a memory limit: it counts memory and swap together",
	      "v1 swap alone is refused");
	m = (struct spec_memory){ .limit = SET(200), .swap = SET(100) };
	check(CGROUP_LAYOUT_HYBRID, &res, "memory+swap limit 100 is below the memory limit 200",
	      "v1 swap below limit is refused");
	m = (struct spec_memory){ .disable_oom_killer = SET(true) };
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "cannot disable the OOM killer: cgroup v2 has no such setting; remove "
	      "disableOOMKiller from the configuration",
	      "v2 cannot disable the OOM killer");
}

static void test_cpu(void)
{
	struct spec_cpu cpu = { .shares = SET(512),
				.quota = SET(50000),
				.period = SET(100000),
				.burst = SET(1000),
				.realtime_runtime = SET(900),
				.realtime_period = SET(1000),
				.idle = SET(1),
				.cpus = "0-1",
				.mems = "0" };
	struct spec_resources res = { .cpu = &cpu };

	check(CGROUP_LAYOUT_LEGACY, &res,
	      "cpuset cpuset.cpus=0-1 v1\ncpuset cpuset.mems=0 v1\n"
	      "cpu cpu.shares=512 defer v1\ncpu cpu.idle=1 v1\n"
	      "cpu cpu.cfs_burst_us=1000 defer v1\ncpu cpu.cfs_period_us=100000 defer v1\n"
	      "cpu cpu.cfs_quota_us=50000 v1\n"
	      "cpu cpu.rt_period_us=1000 defer v1\ncpu cpu.rt_runtime_us=900 v1\n",
	      "v1 cpu");
	cpu.realtime_runtime.set = cpu.realtime_period.set = false;
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "cpuset cpuset.cpus=0-1\ncpuset cpuset.mems=0\n"
	      "cpu cpu.weight=59 defer\ncpu cpu.idle=1\ncpu cpu.max.burst=1000 defer\n"
	      "cpu cpu.max=50000 100000\n",
	      "v2 cpu");
	cpu = (struct spec_cpu){ .shares = SET(1) };
	check(CGROUP_LAYOUT_LEGACY, &res, "invalid cpu shares 1: 2 to 262144 are allowed",
	      "v1 shares that the kernel would clamp");
	cpu = (struct spec_cpu){ .quota = SET(-1) };
	check(CGROUP_LAYOUT_LEGACY, &res, "cpu cpu.cfs_quota_us=-1 v1\n", "v1 no quota");
	check(CGROUP_LAYOUT_UNIFIED, &res, "cpu cpu.max=max\n", "v2 no quota");
	cpu = (struct spec_cpu){ .realtime_runtime = SET(900) };
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "cannot set realtime CPU limits: cgroup v2 has no such setting; remove "
	      "realtimeRuntime and realtimePeriod",
	      "v2 has no realtime limits");
}

static void test_zero(void)
{
	struct spec_cpu cpu = { .shares = SET(0), .quota = SET(0), .period = SET(0), .cpus = "" };
	struct spec_memory m = { .limit = SET(0),
				 .swap = SET(0),
				 .reservation = SET(0),
				 .kernel = SET(0),
				 .disable_oom_killer = SET(false) };
	struct spec_block_io io = { .weight = SET(0) };
	struct spec_resources res = { .cpu = &cpu, .memory = &m, .block_io = &io };

	check(CGROUP_LAYOUT_LEGACY, &res, "", "zeros write nothing on v1");
	check(CGROUP_LAYOUT_UNIFIED, &res, "", "zeros write nothing on v2");
	check(CGROUP_LAYOUT_NONE, &res, "", "zeros need no controller");
}

static void test_pids(void)
{
	struct spec_resources res = { .pids_limit = SET(20) };
	struct cgroup cg = host(CGROUP_LAYOUT_UNIFIED);
	struct cgroup_limits update = { .resources = &res, .update = true };

	check(CGROUP_LAYOUT_LEGACY, &res, "pids pids.max=20 v1\n", "v1 pids");
	res.pids_limit.value = -1;
	check(CGROUP_LAYOUT_UNIFIED, &res, "pids pids.max=max\n", "v2 pids unlimited");
	res.pids_limit.value = 0;
	check(CGROUP_LAYOUT_UNIFIED, &res, "pids pids.max=1\n", "0 at create is a limit of 1");
	check_in(&cg, &update, NULL, "", "0 at update leaves");
}

static void test_io(void)
{
	struct spec_weight_device wd = { .major = 8, .minor = 16, .weight = SET(20) };
	struct spec_throttle_device rb = { 8, 0, 1048576 }, wo = { 8, 0, 0 };
	struct spec_block_io io = { .weight = SET(500),
				    .weight_device = { &wd, 1 },
				    .throttle_read_bps = { &rb, 1 },
				    .throttle_write_iops = { &wo, 1 } };
	struct spec_resources res = { .block_io = &io };

	check(CGROUP_LAYOUT_LEGACY, &res,
	      "blkio blkio.weight=500 or blkio.bfq.weight=500 v1\n"
	      "blkio blkio.weight_device=8:16 20 or blkio.bfq.weight_device=8:16 20 v1\n"
	      "blkio blkio.throttle.read_bps_device=8:0 1048576 v1\n"
	      "blkio blkio.throttle.write_iops_device=8:0 0 v1\n",
	      "v1 blkio");
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "io io.bfq.weight=500 or io.weight=4950\n"
	      "io io.bfq.weight=8:16 20 or io.weight=8:16 102\n"
	      "io io.max=8:0 rbps=1048576\nio io.max=8:0 wiops=max\n",
	      "v2 io");
	io.weight.value = 5;
	check(CGROUP_LAYOUT_UNIFIED, &res, "invalid block I/O weight 5: 10 to 1000",
	      "v2 weight out of range");
}

static void test_rest(void)
{
	struct spec_hugepage_limit huge = { "2MB", 4096 };
	struct spec_rdma rdma = { .device = "mlx5_1",
				  .hca_handles = SET(3),
				  .hca_objects = SET(9) };
	struct spec_net_priority prio = { "eth0", 5 };
	struct spec_network net = { .class_id = SET(77), .priorities = { &prio, 1 } };
	struct spec_resources res = { .hugepage_limits = { &huge, 1 } };
	struct cgroup hybrid = host(CGROUP_LAYOUT_HYBRID);
	struct cgroup_limits in = { .resources = &res };

	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "hugetlb hugetlb.2MB.max=4096\nhugetlb hugetlb.2MB.rsvd.max=4096 optional\n",
	      "v2 huge pages");
	check(CGROUP_LAYOUT_LEGACY, &res,
	      "cannot set hugetlb.2MB.limit_in_bytes to 4096: the hugetlb cgroup controller is not "
	      "available here (not mounted, or no permission to make a cgroup in it)",
	      "a limit without controller is an error that names both");
	check_in(&hybrid, &in, "hugetlb misc",
		 "hugetlb hugetlb.2MB.max=4096\nhugetlb hugetlb.2MB.rsvd.max=4096 optional\n",
		 "hybrid: hugetlb of the v2 hierarchy");
	huge.page_size = "../x";
	check(CGROUP_LAYOUT_UNIFIED, &res, "invalid huge page size \"../x\"",
	      "no way out of the folder");

	res = (struct spec_resources){ .rdma = { &rdma, 1 } };
	check(CGROUP_LAYOUT_UNIFIED, &res, "rdma rdma.max=mlx5_1 hca_handle=3 hca_object=9\n",
	      "rdma");

	res = (struct spec_resources){ .network = &net };
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "cannot set network class or priorities: cgroup v2 has no such settings; remove "
	      "linux.resources.network",
	      "v2 network");
	hybrid.dirs[hybrid.n_dirs++] =
		(struct cgroup_dir){ .controllers = "net_cls,net_prio", .path = "/c/net" };
	check_in(&hybrid, &in, NULL,
		 "net_cls net_cls.classid=77 v1\nnet_prio net_prio.ifpriomap=eth0 5 v1\n",
		 "v1 network");
}

static void test_unified_map(void)
{
	struct str_pair pairs[] = { { "memory.high", "max" },
				    { "io.max", "8:0 rbps=1\n8:16 wbps=2\n" },
				    { "cgroup.max.descendants", "7" } };
	struct spec_resources res = { .unified = { pairs, 3 } };
	struct cgroup none = host(CGROUP_LAYOUT_NONE);
	struct cgroup_limits in = { .resources = &res };

	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "memory memory.high=max\nio io.max=8:0 rbps=1\nio io.max=8:16 wbps=2\n"
	      "cgroup cgroup.max.descendants=7\n",
	      "unified: a line with each write");
	check(CGROUP_LAYOUT_HYBRID, &res,
	      "invalid configuration: cannot set memory.high: unified resources need a host with "
	      "cgroup v2 only, this one has v1 hierarchies",
	      "unified on hybrid");
	none.manager = CGROUP_MANAGER_DISABLED;
	check_in(&none, &in, NULL,
		 "cannot set memory.high to max: cgroups are disabled for this container; remove "
		 "the limit or choose a cgroup manager",
		 "without cgroups no limit is silently dropped");
	res.unified.count = 1;
	pairs[0].key = "memory/../cgroup.procs";
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "unified resource \"memory/../cgroup.procs\" must be a file name CONTROLLER.NAME "
	      "without slashes",
	      "slashes are refused");
	pairs[0].key = "cgroup.procs";
	check(CGROUP_LAYOUT_UNIFIED, &res,
	      "unified resource \"cgroup.procs\" is not a resource limit",
	      "files that move processes are refused");
}

static void test_update(void)
{
	struct spec_memory m = { .limit = SET(3000) };
	struct spec_cpu cpu = { .period = SET(200000) };
	struct spec_resources res = { .memory = &m, .cpu = &cpu };
	struct cgroup cg = host(CGROUP_LAYOUT_UNIFIED);
	struct cgroup_limits in = { .resources = &res,
				    .update = true,
				    .current = { .known = true,
						 .memory_max = 1000,
						 .swap_max = 4000,
						 .cpu_quota = 30000,
						 .cpu_period = 100000 } };

	check_in(&cg, &in, NULL,
		 "memory memory.swap.max=2000\nmemory memory.max=3000\ncpu cpu.max=30000 200000\n",
		 "v2 update: the sum of memory and swap stays, the quota stays");
	m.limit.value = 6000;
	check_in(&cg, &in, NULL, "memory+swap limit 5000 is below the memory limit 6000",
		 "v2 update: a limit above the sum is refused as on v1");
	m = (struct spec_memory){ .swap = SET(9000) };
	cpu = (struct spec_cpu){ .quota = SET(10000) };
	check_in(&cg, &in, NULL, "memory memory.swap.max=8000\ncpu cpu.max=10000 100000\n",
		 "v2 update: swap alone counts from the present limit, quota keeps the period");
	in.current.memory_max = -1;
	m = (struct spec_memory){ .limit = SET(100) };
	check_in(&cg, &in, NULL, "memory memory.max=100\ncpu cpu.max=10000 100000\n",
		 "v2 update: from unlimited memory swap is left alone");
}

int main(void)
{
	TAP_BEGIN();
	test_memory();
	test_cpu();
	test_zero();
	test_pids();
	test_io();
	test_rest();
	test_unified_map();
	test_update();
	return TAP_END();
}
