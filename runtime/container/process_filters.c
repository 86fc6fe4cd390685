/*
 * The system call filters of a process: the configuration's and the policy's.
 */
#include "container/create_steps.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/str.h"

#define FILTER_CACHE_DIR "/run/agentrun/filters"

/* The cache's folder is ours alone, whatever --root is; without it compiling is only slower. */
static int cache_open(bool rootless)
{
	struct stat st;
	int fd;

	if (rootless)
		return -EBADF;
	if ((mkdir("/run/agentrun", 0700) < 0 && errno != EEXIST) || (mkdir(FILTER_CACHE_DIR, 0700) < 0 && errno != EEXIST))
		return -EBADF;
	fd = open(FILTER_CACHE_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -EBADF;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		(void)close(fd);
		return -EBADF;
	}
	return fd;
}

static int spec_filter(const struct spec *spec, int cache_fd, struct filter *ret, struct error *err)
{
	const char *strict = spec_annotation(spec, "run.oci.seccomp_fail_unknown_syscall");
	int r;

	if (!spec->linux_cfg->seccomp)
		return 0;
	r = filter_compile(spec->linux_cfg->seccomp, strict && !str_eq(strict, "0"), cache_fd, ret, err);
	return r < 0 ? error_prefix(err, "seccomp profile of the configuration") : 0;
}

/* Who denies a call is who must ask about it: the specification's filter leaves those to the agent's. */
static int open_reporting(const char *profile, int cache_fd, struct process_filters *f, struct error *err)
{
	int r;

	if (f->spec.notify) {
		f->unreported = "the specification's filter has a listener of its own, and a process can have only one";
		return 0;
	}
	filter_done(&f->agent);
	r = filter_agent_open_reporting(profile, cache_fd, &f->agent, err);
	if (r == 0)
		r = filter_agent_yield(profile, cache_fd, &f->spec, err);
	if (r < 0)
		return r;
	f->reports = f->agent.notify;
	if (!f->reports)
		f->unreported = "this seccomp profile has none reported";
	else if (r == FILTER_E_FULL)
		f->unreported = "not those that the specification's filter denies as well: it is too long to be changed";
	return 0;
}

/*
 * The files of a container's cgroup belong to us, who made it: to root, or without root to the user. Whoever is that
 * inside, or can become it, would lift his own limits in a cgroup namespace of his own.
 */
static bool may_own_cgroup(const struct spec *spec, const struct creds *c)
{
	const struct spec_id_maps *maps = &spec->linux_cfg->uid_mappings;
	bool mapped = spec_namespace_find(spec, CLONE_NEWUSER) != NULL, covered = !mapped || maps->count == 0, is_owner = covered;
	uid_t owner = geteuid();
	size_t i;

	for (i = 0; i < maps->count && mapped; i++) {
		const struct spec_id_map *m = &maps->items[i];

		covered |= owner >= m->host_id && owner - m->host_id < m->size;
		is_owner |= c->uid >= m->container_id && c->uid - m->container_id < m->size &&
			    m->host_id + (c->uid - m->container_id) == owner;
	}
	if (!mapped)
		is_owner = c->uid == owner;
	return covered && (is_owner || !c->no_new_privs || !c->set_caps || c->caps.bounding || c->caps.permitted);
}

int process_filters_open(const struct spec *spec, const struct policy_profile *policy, const struct creds *creds, bool rootless,
			 bool reports, struct process_filters *ret, struct error *err)
{
	_cleanup_close_ int cache_fd = cache_open(rootless);
	int r;

	r = spec_filter(spec, cache_fd, &ret->spec, err);
	if (r < 0)
		return r;
	if (!policy->passthrough) {
		const char *profile = policy->seccomp.profile.text;

		r = filter_agent_open(profile, cache_fd, &ret->agent, err);
		if (r == 0 && reports)
			r = open_reporting(profile, cache_fd, ret, err);
		if (r == 0 && may_own_cgroup(spec, creds))
			r = filter_agent_keep_cgroup(&ret->agent, profile[0] != '/', err);
		if (r < 0)
			return error_prefix(err, "seccomp profile %s of the policy", profile);
	}
	return filter_pair_order(&ret->spec, &ret->agent, &ret->pair, err);
}

void process_filters_done(struct process_filters *f)
{
	filter_done(&f->spec);
	filter_done(&f->agent);
}
