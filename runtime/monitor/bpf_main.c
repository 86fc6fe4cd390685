/*
 * agentrun-bpf: loads and pins the programs that all containers share. Run by agentrun when
 * they are missing, at most once for each boot and build; a program of its own, so that
 * agentrun does not carry them.
 */
#include <unistd.h>

#include "egress/egress.h"
#include "util/log.h"

int main(int argc, char **argv)
{
	struct error err = ERROR_NULL;

	(void)argv;
	if (argc != 1) {
		log_errorf("agentrun-bpf takes no arguments: agentrun runs it to load its BPF programs");
		return 2;
	}
	if (egress_prepare(&err) < 0) {
		log_errorf("%s", err.text);
		return 1;
	}
	return 0;
}
