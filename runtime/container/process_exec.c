/*
 * The privileged drop: everything between the start gate and the first
 * instruction of the container's own program. Two arrays, because without
 * no_new_privs the filter can only be loaded while CAP_SYS_ADMIN is still there.
 */
#include "container/process_exec.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/proto.h"
#include "hooks/hooks.h"
#include "os/creds.h"
#include "os/procattr.h"
#include "util/fd.h"
#include "util/log.h"

int process_labels(struct process *p, struct error *err)
{
	int r;

	if (p->plan->apparmor_profile && *p->plan->apparmor_profile) {
		r = lsm_apparmor_exec(p->proc_fd, p->plan->apparmor_profile, err);
		if (r < 0)
			return r;
	}
	if (p->plan->selinux_label && *p->plan->selinux_label)
		return lsm_selinux_exec(p->proc_fd, p->plan->selinux_label, err);
	return 0;
}

static int do_labels(void *ctx, struct error *err)
{
	return process_labels(ctx, err);
}

/*
 * The kernel looks up the program, a script's interpreter and an ELF file's while close-on-exec
 * descriptors are still open: /proc/self/fd/N/../bin/sh, or a link to it in the image, would be the
 * host's (CVE-2024-21626). So nothing of the host may be open at all.
 */
static int do_let_go(void *ctx, struct error *err)
{
	struct process *p = ctx;
	const int keep[] = { p->error_sock, p->listener_sock };
	int r;

	r = fd_close_others(3 + p->keep_fds, keep, ELEMENTSOF(keep));
	if (r < 0)
		return error_set(err, r, "close the host's descriptors");
	p->proc_fd = p->rootfs_fd = -EBADF;
	return 0;
}

static int do_bounding(void *ctx, struct error *err)
{
	return creds_drop_bounding(&((struct process *)ctx)->plan->creds, err);
}

static int do_ids(void *ctx, struct error *err)
{
	return creds_set_ids(&((struct process *)ctx)->plan->creds, err);
}

static int do_caps(void *ctx, struct error *err)
{
	return creds_set_caps(&((struct process *)ctx)->plan->creds, err);
}

static int do_no_new_privs(void *ctx, struct error *err)
{
	return creds_set_no_new_privs(err);
}

/*
 * The listener is left to close-on-exec: a close(2) of ours may already be one of the calls
 * that the container's filter kills or notifies about.
 */
static int do_filter(void *ctx, struct error *err)
{
	static const char monitor_text[] = "L";
	struct process *p = ctx;
	const struct process_filters *f = p->filters;
	const char *text = f->reports ? monitor_text : p->listener_state;
	int listener = -EBADF;
	int r;

	if (f->spec.count == 0 && f->agent.count == 0)
		return 0;
	if (!f->spec.notify && !f->reports)
		return filter_pair_load(&f->pair, &listener, err);
	assert(p->listener_sock >= 0 && text);
	/* Mostly both filters let it be sent from here, which takes no second thread. */
	if (f->reports && filter_pair_permits_sending(&f->pair, p->listener_sock)) {
		r = filter_pair_load(&f->pair, &listener, err);
		return r < 0 ? r : filter_listener_send(p->listener_sock, listener, text, err);
	}
	r = filter_courier_start(p->listener_sock, text, strlen(text), &p->courier, err);
	if (r < 0)
		return r;
	r = filter_pair_load(&f->pair, &listener, err);
	return filter_courier_send(p->courier, r < 0 ? r : listener, err);
}

static int do_start_hooks(void *ctx, struct error *err)
{
	struct process *p = ctx;
	struct hook_env env = {
		.kind = "startContainer",
		.swept = true,
		.state_json = p->hook_state,
		.default_env = p->env,
		.stdout_file = p->hook_stdout,
		.stderr_file = p->hook_stderr,
	};

	if (p->n_start_hooks == 0)
		return 0;
	return hooks_run(p->start_hooks, p->n_start_hooks, &env, err);
}

static int do_umask(void *ctx, struct error *err)
{
	(void)umask(((struct process *)ctx)->plan->umask);
	return 0;
}

/*
 * What the process inherits: 0-2 and the descriptors its engine asked to pass. All
 * else goes at execve, whoever opened it (CVE-2024-21626).
 */
static int do_descriptors(void *ctx, struct error *err)
{
	int r = fd_cloexec_from(3);

	return r < 0 ? error_set(err, r, "mark descriptors close-on-exec") : 0;
}

static int do_keep_descriptors(void *ctx, struct error *err)
{
	struct process *p = ctx;
	unsigned i;
	int r;

	for (i = 0; i < p->keep_fds; i++) {
		r = fd_set_cloexec((int)(3 + i), 0);
		if (r < 0)
			return error_set(err, r, "keep descriptor %u for the process (--preserve-fds)", 3 + i);
	}
	return 0;
}

static int do_signals(void *ctx, struct error *err)
{
	int r = signals_reset();

	return r < 0 ? error_set(err, r, "reset signal handlers and the signal mask") : 0;
}

static const struct phase nnp_phases[] = {
	{ "labels", do_labels, "before the drop: writing attr/exec may need privilege" },
	{ "let-go", do_let_go, "after the last use of the proc handle, before the program is looked up" },
	{ "bounding-set", do_bounding, "needs CAP_SETPCAP, which the next steps remove" },
	{ "ids", do_ids, "after the bounding set, before the capability sets that a change of uid would clear" },
	{ "capabilities", do_caps, "after the ids: the sets that execve will see" },
	{ "no-new-privs", do_no_new_privs, "before the filter, which an unprivileged process may only load with it" },
	{ "umask", do_umask, "any time; with the process's own attributes" },
	{ "signals", do_signals, "before hooks and the program: both expect default handlers" },
	{ "descriptors", do_descriptors, "before the filter, which may know no close_range; all that is opened later is close-on-exec" },
	{ "filter", do_filter, "as late as possible: everything above needs calls it may deny" },
	{ "start-container-hooks", do_start_hooks, "with the container's own rights and filter, as runc does" },
	{ "keep-descriptors", do_keep_descriptors, "after the hooks, which must not get them" },
};

static const struct phase no_nnp_phases[] = {
	{ "labels", do_labels, "before the drop: writing attr/exec may need privilege" },
	{ "let-go", do_let_go, "after the last use of the proc handle, before the program is looked up" },
	{ "umask", do_umask, "any time; with the process's own attributes" },
	{ "signals", do_signals, "before hooks and the program: both expect default handlers" },
	{ "descriptors", do_descriptors, "before the filter, which may know no close_range; all that is opened later is close-on-exec" },
	{ "filter", do_filter, "without no_new_privs loading needs CAP_SYS_ADMIN, so before the drop; the profile must allow the drop's calls" },
	{ "bounding-set", do_bounding, "needs CAP_SETPCAP, which the next steps remove" },
	{ "ids", do_ids, "after the bounding set, before the capability sets that a change of uid would clear" },
	{ "capabilities", do_caps, "after the ids: the sets that execve will see" },
	{ "start-container-hooks", do_start_hooks, "with the container's own rights and filter, as runc does" },
	{ "keep-descriptors", do_keep_descriptors, "after the hooks, which must not get them" },
};

const struct phase_list process_phases_nnp = { "process with no_new_privs", nnp_phases, ELEMENTSOF(nnp_phases) };
const struct phase_list process_phases_no_nnp = { "process without no_new_privs", no_nnp_phases,
						  ELEMENTSOF(no_nnp_phases) };

int process_execute(struct process *p, struct error *err)
{
	const struct phase_list *list = p->plan->creds.no_new_privs ? &process_phases_nnp : &process_phases_no_nnp;
	int r;

	assert(p->path);
	assert(p->env);

	/* The log belongs to the host; from here on the process is the container's. */
	log_forget();
	r = phases_run(list->phases, list->count, p, err);
	if (r < 0)
		return r;
	(void)execve(p->path, p->plan->argv, p->env);
	(void)error_set(err, -errno, "exec %s", p->path);
	return PROCESS_E_EXEC;
}
