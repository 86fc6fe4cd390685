/*
 * Bytes as a profile (compiled, then run on calls made of the same bytes) and as a cache
 * file. A program that compiles must be one that the kernel takes.
 */
#include <assert.h>

#include "../unit/bpf_sim.h"
#include "../unit/filter_profile.h"
#include "filter/filter_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libseccomp 2.5.4 loses parts of a rule chain when two rules overlap. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libseccomp";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const archs[] = { "SCMP_ARCH_X86", "SCMP_ARCH_X32", "SCMP_ARCH_ARM",
					     "SCMP_ARCH_S390X", "SCMP_ARCH_RISCV64" };
	struct spec_seccomp_arg args[16];
	struct error err = ERROR_NULL;
	struct filter f = FILTER_NULL;
	struct seccomp_data d;
	struct profile p;
	size_t i;

	if (filter_cache_decode(data, size, &f.insns, &f.count) == 0)
		filter_done(&f);
	if (size < 4)
		return 0;
	profile_init(&p, data[0] % 9, data[1] % 3 ? -1 : data[1] * 40);
	for (i = 0; i < ELEMENTSOF(archs); i++)
		if (data[2] & 1u << i)
			profile_arch(&p, archs[i]);
	for (i = 3; i + 8 <= size && p.s.syscalls.count < ELEMENTSOF(args); i += 8) {
		struct spec_seccomp_arg *a = &args[p.s.syscalls.count];
		struct spec_seccomp_rule *r;

		*a = (struct spec_seccomp_arg){ data[i] % 7, data[i + 1] * 0x1000001ull,
						data[i + 2] * 0x100001ull, data[i + 3] % 8 };
		r = profile_call(&p, docker_names_0[(data[i + 4] << 8 | data[i + 5]) % 346],
				 data[i + 6] % 9, data[i + 7] % 4 ? -1 : data[i + 7]);
		profile_args(r, a, data[i + 7] % 2);
	}
	if (filter_compile(&p.s, false, -EBADF, &f, &err) < 0) {
		assert(err.code < 0 && err.text[0]);
		return 0;
	}
	assert(bpf_sim_check(f.insns, f.count));
	memset(&d, 0, sizeof(d));
	memcpy(&d, data, MIN(size, sizeof(d)));
	assert(bpf_sim_run(f.insns, f.count, &d) != BPF_SIM_BAD);
	filter_done(&f);
	return 0;
}
