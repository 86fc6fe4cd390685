/*
 * Bytes as an agent profile. What compiles must be a program that the kernel takes, and must say
 * what the profile says.
 */
#include <assert.h>

#include "../unit/bpf_sim.h"
#include "../unit/filter_agent_reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t arch = size % 2 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
	struct agent_source src = { "fuzz", (const char *)data, size };
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	uint64_t state = size + 1;
	struct agent_profile *p;
	struct seccomp_data d;
	int i;

	if (filter_agent_compile("fuzz", src.text, size, arch, &f, &err) < 0) {
		assert(err.code < 0 && err.text[0]);
		return 0;
	}
	assert(bpf_sim_check(f.insns, f.count));
	if (agent_profile_read(&src, NULL, arch, &arena, &p, &err) == 0) {
		for (i = 0; i < 200; i++) {
			agent_random_call(p, &d, &state);
			assert(bpf_sim_run(f.insns, f.count, &d) == agent_reading(p, &d));
			assert(filter_verdict(&f, &d) == agent_reading(p, &d));
		}
	}
	filter_done(&f);
	return 0;
}
