/*
 * Owns the fast path: the shared set, by its pins, on a new cgroup. Runs in `agentrun
 * create`, so it loads nothing and links no program's code.
 */
#include "egress/egress.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/wait.h>

#include "egress/egress_sets.h"
#include "os/ebpf.h"
#include "os/libexec.h"
#include "os/spawn.h"
#include "util/cleanup.h"
#include "util/str.h"

#define PREPARE_TIMEOUT_MS 30000
#define PREPARE_OUTPUT_MAX 4096

/* The state was made, all zero, by attaching. */
static int set_state(int cgroup_fd, int states, unsigned flags, struct error *err)
{
	struct egress_state state = { .flags = flags };
	uint64_t cgroup;
	int r;

	r = egress_cgroup_id(cgroup_fd, &cgroup, err);
	if (r < 0)
		return r;
	state.cgroup = cgroup;
	r = ebpf_map_update(states, &cgroup, &state, BPF_EXIST);
	return r < 0 ? error_set(err, r, "set the egress state of the cgroup") : 0;
}

static int open_pin(const char *name, int *ret, struct error *err)
{
	*ret = egress_pin_open(name);
	if (*ret == -ENOENT)
		return EGRESS_E_NOT_LOADED;
	return *ret < 0 ? error_set(err, *ret, "open %s/%s", egress_pin_dir, name) : 0;
}

/* All before the first is attached: another build may be tidying up. */
static int open_pins(int progs[EGRESS_PROGRAMS], int *ret_states, struct error *err)
{
	int r = open_pin("states", ret_states, err);
	size_t i;

	for (i = 0; i < EGRESS_PROGRAMS && r == 0; i++)
		r = open_pin(egress_programs[i].name, &progs[i], err);
	return r;
}

int egress_deny_attach(int cgroup_fd, unsigned flags, struct error *err)
{
	_cleanup_close_ int states = -EBADF;
	int progs[EGRESS_PROGRAMS], r;
	struct error ignored = ERROR_NULL;
	size_t i;

	assert(cgroup_fd >= 0);

	for (i = 0; i < EGRESS_PROGRAMS; i++)
		progs[i] = -EBADF;
	r = open_pins(progs, &states, err);
	if (r == 0) {
		r = egress_set_attach(cgroup_fd, progs, err);
		if (r == 0) {
			r = set_state(cgroup_fd, states, flags, err);
			if (r < 0)
				(void)egress_set_detach(cgroup_fd, EGRESS_SHARED_PREFIX, &ignored);
		}
	}
	for (i = 0; i < EGRESS_PROGRAMS; i++)
		cleanup_closep(&progs[i]);
	return r;
}

static int run_prepare(struct error *err)
{
	_cleanup_free_ char *said = NULL, *out = NULL;
	_cleanup_close_ int exe = -EBADF;
	char path[64];
	char *const argv[] = { (char *)EGRESS_PREPARE_PROGRAM, NULL };
	struct spawn s = { .argv = argv,
			   .path = path,
			   .timeout_ms = PREPARE_TIMEOUT_MS,
			   .output_max = PREPARE_OUTPUT_MAX };
	int status = 0, r;
	size_t len;

	r = libexec_open(EGRESS_PREPARE_PROGRAM, &exe, err);
	if (r < 0)
		return r;
	/* the descriptor is closed at the exec that it names */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", exe);
	r = spawn_run(&s, &status, &out, &said, err);
	if (r < 0)
		return error_prefix(err, "load the egress programs");
	if (r == SPAWN_E_TIMEOUT)
		return error_text(err, -ETIMEDOUT, "load the egress programs: %s takes too long",
				  EGRESS_PREPARE_PROGRAM);
	len = said ? strlen(said) : 0;
	while (len > 0 && said[len - 1] == '\n')
		said[--len] = '\0';
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_text(err, -EIO, "load the egress programs: %s",
				  len > 0 ? said : EGRESS_PREPARE_PROGRAM " failed");
	return 0;
}

int egress_deny(int cgroup_fd, unsigned flags, struct error *err)
{
	int r = egress_deny_attach(cgroup_fd, flags, err);

	if (r != EGRESS_E_NOT_LOADED)
		return r;
	r = run_prepare(err);
	if (r < 0)
		return r;
	r = egress_deny_attach(cgroup_fd, flags, err);
	if (r == EGRESS_E_NOT_LOADED)
		return error_text(err, -ENOENT,
				  "%s is not there after loading the egress programs: is /run/agentrun another one for %s?",
				  egress_pin_dir, EGRESS_PREPARE_PROGRAM);
	return r;
}

int egress_off(int cgroup_fd, struct error *err)
{
	int r = egress_set_detach(cgroup_fd, EGRESS_PRIVATE_PREFIX, err);

	return r < 0 ? r : egress_set_detach(cgroup_fd, EGRESS_SHARED_PREFIX, err);
}
