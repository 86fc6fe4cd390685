/*
 * Owns the account of egress: the programs on the cgroup and their counters, the rules as they
 * are now, and the denials in the log with the line that would have allowed each.
 */
#include "container/explain_egress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "audit/audit_store.h"
#include "container/suggest.h"
#include "egress/egress.h"
#include "monitor/monitor_config.h"

/* A log with the output of days is read by `policy suggest`. */
#define RECORDS_MAX 100000

static void config_freep(struct monitor_config **c)
{
	*c = monitor_config_free(*c);
}

/* False: gone with the container, or not to be read without the host's root. */
static bool read_status(const struct container_handle *h, struct egress_status *ret)
{
	struct error ignored;
	size_t i;

	for (i = 0; i < h->cgroup.n_dirs; i++) {
		_cleanup_close_ int fd = -EBADF;

		if (*h->cgroup.dirs[i].controllers)
			continue;
		fd = open(h->cgroup.dirs[i].path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return fd >= 0 && egress_status(fd, ret, &ignored) == 0 && (ret->shared || ret->private);
	}
	return false;
}

static void rules_text(const struct monitor_config *c, struct buf *b)
{
	const struct monitor_rule *r = c->egress.rules.items;
	size_t i;

	for (i = 0; i < c->egress.rules.count; i++)
		buf_addf(b, "egress:    %s%s%s%s%s%s\n", r[i].host ? r[i].host : r[i].cidr, r[i].ports ? " ports " : "",
			 r[i].ports ? r[i].ports : "",
			 r[i].protocol == IPPROTO_TCP ? " tcp" :
			 r[i].protocol == IPPROTO_UDP ? " udp" :
							"",
			 r[i].verify ? ", checked by " : "", r[i].verify ? r[i].verify : "");
}

static void rules_json(const struct monitor_config *c, struct json_writer *w)
{
	const struct monitor_rule *r = c->egress.rules.items;
	size_t i;

	json_array_begin(w, "rules");
	for (i = 0; i < c->egress.rules.count; i++) {
		json_object_begin(w, NULL);
		json_string(w, r[i].host ? "host" : "cidr", r[i].host ? r[i].host : r[i].cidr);
		if (r[i].ports)
			json_string(w, "ports", r[i].ports);
		if (r[i].protocol)
			json_string(w, "protocol", r[i].protocol == IPPROTO_TCP ? "tcp" : "udp");
		if (r[i].verify)
			json_string(w, "verify", r[i].verify);
		json_object_end(w);
	}
	json_array_end(w);
}

static int in_force(const struct container_handle *h, struct buf *text, struct json_writer *json, struct error *err)
{
	_cleanup_(config_freep) struct monitor_config *config = NULL;
	struct egress_status status = { .shared = false };
	bool known = read_status(h, &status);
	int r = 0;

	/* A pod's sandbox has nobody beside it. */
	if (h->view.record->supervisor_pid > 0)
		r = monitor_config_read(h->dir_fd, &config, err);
	if (r < 0)
		return r;
	if (text) {
		if (known)
			buf_addf(text, "egress:    bpf, %s programs on the cgroup, proved before the start; denied %" PRIu64 "\n",
				 status.private ? "its own" : "the shared", status.counters.denied);
		if (config && config->egress.rules.count == 0)
			buf_adds(text, "egress:    nothing may leave\n");
		if (config)
			rules_text(config, text);
	}
	if (!json)
		return 0;
	if (known) {
		json_string(json, "mode", "bpf");
		json_string(json, "programs", status.private ? "private" : "shared");
		json_u64(json, "generation", status.generation);
		json_u64(json, "denied", status.counters.denied);
	}
	if (config)
		rules_json(config, json);
	return 0;
}

static void denied(const struct container_handle *h, const struct policy_profile *profile, struct buf *text,
		   struct json_writer *json)
{
	_cleanup_suggestions_ struct suggestions s = SUGGESTIONS_NULL;
	_cleanup_close_ int dir = -EBADF;
	struct error gone;

	/* A log that was removed meanwhile takes nothing from the rest. */
	if (!h->view.record->audit_log || audit_store_open(NULL, h->view.record->rootless, false, &dir, &gone) != 0 ||
	    suggest_read(dir, h->view.record->audit_log, profile, RECORDS_MAX, &s, &gone) < 0)
		return;
	suggest_explain(&s, text, json);
}

int explain_egress(const struct container_handle *h, const struct policy_profile *profile, struct buf *text,
		   struct json_writer *json, struct error *err)
{
	int r = 0;

	if (h->view.record->egress) {
		if (json)
			json_object_begin(json, "egress");
		r = in_force(h, text, json, err);
		if (json)
			json_object_end(json);
	}
	if (r == 0)
		denied(h, profile, text, json);
	return r;
}
