/*
 * agentrun-supervisor [apart]: started by `create` with descriptor 3 as their conversation, it
 * leaves the engine's cgroup, meets the monitor, takes the container over, and lives as
 * long as that does. Everything it knows of the container comes from the state folder.
 */
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/monitor_config.h"
#include "monitor/supervisor.h"
#include "os/oom_notes.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/str.h"

#define CREATOR_FD 3

static void use_record(struct sup *s)
{
	const struct state_record *rec = s->record;
	size_t i;

	s->cgroup = (struct cgroup){ .layout = (enum cgroup_layout)rec->cgroup_layout,
				     .manager = (enum cgroup_manager)rec->cgroup_manager,
				     .scope = rec->cgroup_scope };
	for (i = 0; i < rec->n_cgroup_dirs && i < CGROUP_DIRS_MAX; i++)
		s->cgroup.dirs[s->cgroup.n_dirs++] = (struct cgroup_dir){
			.controllers = rec->cgroup_dirs[i].controllers,
			.path = rec->cgroup_dirs[i].path,
			.created = rec->cgroup_dirs[i].created,
		};
}

static int on_setup(struct sup *s, int fds[LINK_FDS_MAX], struct error *err)
{
	struct monitor_config *config = NULL;
	int r;

	s->dir_fd = take_fd(&fds[0]);
	r = sup_monitor_meet(s, &fds[1], &fds[2], err);
	if (r < 0)
		return r;
	r = state_read(s->dir_fd, &s->record, err);
	if (r == STATE_E_NOT_FOUND)
		return error_text(err, -ENOENT, "the container has no record");
	if (r < 0)
		return r;
	use_record(s);
	r = monitor_config_read(s->dir_fd, &config, err);
	if (r < 0)
		return r;
	s->root = arena_strdup(&s->record->arena, config->root);
	r = s->root ? 0 : error_oom(err);
	if (r == 0)
		r = sup_log_open(s, config->rootless, config->audit.log_max, err);
	(void)monitor_config_free(config);
	return r < 0 ? r : sup_listen(s, err);
}

static int on_container(struct sup *s, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct sup_process *p;
	int r;

	if (!s->record || s->init || msg->pid <= 1)
		return error_text(err, -EPROTO, "CONTAINER out of turn");
	p = s->init = sup_process_new(s, 0, err);
	if (!p)
		return err->code;
	p->pid = msg->pid;
	p->pidfd = take_fd(&fds[0]);
	s->oom_notes = oom_notes_open();
	p->expect = s->record->expect;
	p->left_ns = s->record->time_limit > 0 ? s->record->time_limit : UINT64_MAX;
	r = sup_seize(s, p, err);
	if (r == 0)
		r = sup_monitor_adopt(s, p->pid, fds[1], err);
	return r < 0 ? r : sup_monitor_listener(p, fds[2], err);
}

static int on_commit(struct sup *s, struct error *err)
{
	int r;

	if (!s->monitor_ready || !s->init)
		return error_text(err, -EPROTO, "COMMIT out of turn");
	s->committed = true;
	r = link_send_type(&s->creator, LINK_OK, 0, err);
	/* All is mounted, and START comes after this. */
	if (r == 0)
		sup_spaces_open(s);
	return r;
}

static int creator_dispatch(struct sup *s, struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	switch (msg->type) {
	case LINK_SETUP:
		return on_setup(s, fds, err);
	case LINK_CONTAINER:
		return on_container(s, msg, fds, err);
	case LINK_STREAMS:
		return s->init && msg->number == 0 ? sup_monitor_streams(s->init, msg, fds, err) :
						     error_text(err, -EPROTO, "STREAMS out of turn");
	case LINK_COMMIT:
		return on_commit(s, err);
	default:
		return error_text(err, -EPROTO, "%s is no word of a creator", link_type_name(msg->type));
	}
}

/* Before COMMIT its end is ours: what was made is taken back by itself, or by `delete`. */
static int on_creator(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct sup *s = src->arg;
	struct error refused = ERROR_NULL;
	int fds[LINK_FDS_MAX];
	struct link_msg msg;
	int r;

	r = link_recv(&s->creator, &msg, fds, &refused);
	if (r == 0) {
		r = creator_dispatch(s, &msg, fds, &refused);
		link_close_fds(fds);
		if (r == 0)
			return 0;
	}
	if (r < 0)
		link_send_error(&s->creator, LINK_ERROR, 0, &refused);
	ev_del(l, &s->creator_source);
	(void)close(take_fd(&s->creator.fd));
	if (!s->committed)
		evloop_stop(l);
	return 0;
}

static int on_child_signal(struct evloop *l, struct ev_source *src, uint32_t events, struct error *err)
{
	struct signalfd_siginfo info;
	struct sup *s = src->arg;

	/* Several may have become one: all processes are looked at. */
	while (read(src->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	return sup_reap(s, err);
}

/* All are blocked: who may send us one may also kill us, and then the container dies with us. */
static int watch_signals(struct sup *s, struct error *err)
{
	sigset_t all, child;
	int fd;

	(void)sigfillset(&all);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		return error_set(err, -errno, "block signals");
	fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_set(err, -errno, "open a signal descriptor");
	return ev_add(&s->loop, &s->signal_source, fd, EPOLLIN, on_child_signal, s, err);
}

static int set_up(struct sup *s, bool apart, struct error *err)
{
	struct rlimit files;
	int r;

	/* Three descriptors for each command that runs. */
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return error_set(err, -errno, "read the limit on open files");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return error_set(err, -errno, "raise the limit on open files");
	(void)setsid();
	(void)umask(077);
	if (chdir("/") < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return error_set(err, -errno, "prepare the supervisor");
	r = fd_close_from(CREATOR_FD + 1);
	if (r < 0)
		return error_set(err, r, "close inherited descriptors");
	(void)fd_set_cloexec(CREATOR_FD, 1);
	/* Out of the engine's unit, so that its stop does not end us. A user alone has no such place. */
	r = apart ? cgroup_enter_apart(MONITOR_CGROUP, err) : 0;
	if (r == 0)
		r = procfs_open(&s->proc_fd, err);
	if (r == 0)
		r = evloop_init(&s->loop, err);
	if (r == 0)
		r = watch_signals(s, err);
	if (r == 0)
		r = ev_add(&s->loop, &s->creator_source, s->creator.fd, EPOLLIN, on_creator, s, err);
	return r;
}

/* Whatever ends the loop: the container does not go on without us. The kernel sees to init (EXITKILL). */
static void wind_up(struct sup *s)
{
	if (s->init && s->init->stage < SUP_DRAINING)
		sup_kill_container(s, EXIT_REASON_POLICY, "the supervisor ended");
	if (s->monitor.fd >= 0)
		(void)close(take_fd(&s->monitor.fd));
	if (!s->end_sent)
		sup_monitor_kill(s);
	/* Who waits for our end waits for this: nothing of ours is written to the folder any more. */
	if (s->dir_fd >= 0)
		(void)unlinkat(s->dir_fd, LINK_CONTROL_FILE, 0);
	while (s->clients)
		sup_client_done(s->clients);
	if (s->listen_source.fd >= 0)
		(void)close(take_fd(&s->listen_source.fd));
}

int main(int argc, char **argv)
{
	struct sup s = {
		.proc_fd = -EBADF,
		.dir_fd = -EBADF,
		.monitor_fd = -EBADF,
		.log_dir = -EBADF,
		.log_index = -EBADF,
		.oom_notes = -EBADF,
		.creator = { .fd = CREATOR_FD, .self = LINK_SUPERVISOR, .peer = LINK_CREATOR },
		.monitor = LINK_NULL,
		.creator_source = EV_SOURCE_NULL,
		.monitor_source = EV_SOURCE_NULL,
		.listen_source = EV_SOURCE_NULL,
		.signal_source = EV_SOURCE_NULL,
		.end_timer = EV_TIMER_NULL,
	};
	struct error err = ERROR_NULL;
	int r;

	r = set_up(&s, argc > 1 && str_eq(argv[1], LINK_APART), &err);
	if (r == 0)
		r = evloop_run(&s.loop, &err);
	if (r < 0 && s.creator.fd >= 0)
		link_send_error(&s.creator, LINK_ERROR, 0, &err);
	wind_up(&s);
	sup_log_tidy(&s);
	sup_monitor_outlast(&s);
	return r < 0;
}
