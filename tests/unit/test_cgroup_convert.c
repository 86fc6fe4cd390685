/*
 * Conversions between the units of cgroup v1 and v2.
 */
#include "cgroup/cgroup_convert.h"
#include "tap.h"

static void test_shares(void)
{
	static const struct {
		uint64_t shares, weight;
	} cases[] = {
		{ 0, 1 },
		{ 1, 1 },
		{ 2, 1 },
		{ 3, 2 },
		{ 4, 2 },
		{ 10, 4 },
		{ 100, 17 },
		{ 512, 59 },
		{ 1023, 100 },
		{ 1024, 100 },
		{ 1025, 101 },
		{ 2048, 174 },
		{ 4096, 303 },
		{ 10000, 627 },
		{ 100000, 4340 },
		{ 200000, 7899 },
		{ 262143, 10000 },
		{ 262144, 10000 },
		{ UINT64_MAX, 10000 },
	};
	uint64_t last = 0, weight, s;
	bool monotonic = true;
	char name[64];
	size_t i;

	for (i = 0; i < ELEMENTSOF(cases); i++) {
		(void)snprintf(name, sizeof(name), "shares %llu",
			       (unsigned long long)cases[i].shares);
		is_int(cgroup_convert_shares(cases[i].shares), cases[i].weight, name);
	}
	for (s = 2; s <= 262144; s += 7) {
		weight = cgroup_convert_shares(s);
		if (weight < last || weight < 1 || weight > 10000)
			monotonic = false;
		last = weight;
	}
	ok(monotonic, "weights grow with shares and stay in range");
}

static void test_io_weight(void)
{
	uint32_t w = 0;

	is_int(cgroup_convert_io_weight(10, &w), 0, "weight 10 is accepted");
	is_int(w, 1, "10 gives 1");
	(void)cgroup_convert_io_weight(500, &w);
	is_int(w, 4950, "500 gives 4950");
	(void)cgroup_convert_io_weight(1000, &w);
	is_int(w, 10000, "1000 gives 10000");
	w = 77;
	is_int(cgroup_convert_io_weight(9, &w), -ERANGE, "9 is too small");
	is_int(cgroup_convert_io_weight(1001, &w), -ERANGE, "1001 is too large");
	is_int(w, 77, "the result is untouched on failure");
}

static void test_cpu_max(void)
{
	char buf[CGROUP_CPU_MAX_SIZE];

	cgroup_convert_cpu_max(50000, 100000, buf);
	is_str(buf, "50000 100000", "quota and period");
	cgroup_convert_cpu_max(-1, 100000, buf);
	is_str(buf, "max 100000", "no quota");
	cgroup_convert_cpu_max(25000, 0, buf);
	is_str(buf, "25000", "quota alone keeps the kernel's period");
	cgroup_convert_cpu_max(INT64_MAX, UINT64_MAX, buf);
	is_str(buf, "9223372036854775807 18446744073709551615", "the longest fits");
}

static void test_swap(void)
{
	struct error err = ERROR_NULL;
	int64_t v = 0;

	is_int(cgroup_convert_swap(200, 50, &v, &err), 0, "200 over 50");
	is_int(v, 150, "swap alone is the difference");
	(void)cgroup_convert_swap(50, 50, &v, &err);
	is_int(v, 0, "equal means no swap");
	(void)cgroup_convert_swap(-1, 50, &v, &err);
	is_int(v, -1, "unlimited stays unlimited");
	is_int(cgroup_convert_swap(200, 0, &v, &err), -EINVAL,
	       "no swap limit without memory limit");
	is_int(cgroup_convert_swap(40, 50, &v, &err), -EINVAL, "the sum below the part is refused");
	is_str(err.text, "memory+swap limit 40 is below the memory limit 50",
	       "and the text says so");
}

int main(void)
{
	TAP_BEGIN();
	test_shares();
	test_io_weight();
	test_cpu_max();
	test_swap();
	return TAP_END();
}
