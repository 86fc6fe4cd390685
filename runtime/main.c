/*
 * The program's entry: names the build and hands over to cli. Nothing may happen
 * before it that allocates or opens, since descriptors are not yet safe.
 */
#include "config.h"

#include "cli/cli.h"

int main(int argc, char **argv)
{
	static const struct cli_program program = {
		.name = "agentrun",
		.version = PACKAGE_VERSION,
		.commit = AGENTRUN_COMMIT,
#ifdef BENCH_WITHOUT_RESIDENTS
		.features = "BENCH-WITHOUT-RESIDENTS: NOT FOR USE",
#else
		.features = "+SELINUX +APPARMOR +CAP +SECCOMP +EBPF +CRIU +YAJL" AGENTRUN_BUILD,
#endif
	};

	return cli_main(&program, argc, argv);
}
