/*
 * Owns what of the audit log needs privilege: the folder, each new part, the index, the
 * total size. The records themselves are the monitor's, which gets one descriptor to
 * append to; here nothing is written but its loss.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit_trace.h"
#include "cgroup/cgroup_host.h"
#include "monitor/monitor_ebpf.h"
#include "monitor/supervisor.h"

/* The monitor that held the log's lock is dead or dying. */
#define LOST_TIMEOUT_MS 2000

/* The first of them say what is wrong. */
#define WARNINGS_MAX 32

/* A part ends with the record that makes it full. */
#define PARTS_SPARE 2

/* A record of it may be what cannot be written: then it is warned of once. */
void sup_warn(struct sup *s, const char *what, const struct error *why)
{
	struct link_msg msg = { .type = LINK_WARNING };
	const struct audit_event event = { .type = AUDIT_WARNING, .process = -1, .detail = msg.text };
	struct error ignored;

	(void)snprintf(msg.text, sizeof(msg.text), "%s: %.900s", what, why->text);
	if (s->log_dir < 0 || s->n_warnings >= WARNINGS_MAX || (s->warning && strcmp(s->warning, msg.text) == 0))
		return;
	free(s->warning);
	s->warning = strdup(msg.text);
	s->n_warnings++;
	if (s->monitor.fd >= 0 && !s->end_sent)
		sup_monitor_tell(s, &msg);
	else
		(void)audit_store_append_event(s->log_dir, s->log_index, s->log_name, LOST_TIMEOUT_MS, &event, &ignored);
}

static int hand_over(struct sup *s, int *fd, struct error *err)
{
	struct link_msg msg = { .type = LINK_LOG };
	int r = sup_monitor_send(s, &msg, fd, 1, err);

	(void)close(take_fd(fd));
	return r;
}

int sup_log_open(struct sup *s, bool rootless, uint64_t log_max, struct error *err)
{
	uint64_t most = log_max / AUDIT_PART_BYTES + PARTS_SPARE;
	int fd = -EBADF, r;

	s->log_part = 1;
	s->log_parts_max = log_max > 0 && most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;

	r = audit_store_open(NULL, rootless, true, &s->log_dir, err);
	if (r == 0)
		r = audit_index_open(rootless, true, &s->log_index, err);
	if (r == 0)
		r = audit_store_create(s->log_dir, s->record->id, s->root, s->log_name, &fd, err);
	return r < 0 ? error_prefix(err, "audit log") : hand_over(s, &fd, err);
}

/* Who took the monitor over could otherwise fill the disk with files, since each may grow. */
bool sup_log_wants(const struct sup *s, uint32_t part)
{
	uint64_t bytes;

	if (s->log_dir < 0)
		return true;
	if (part != s->log_part + 1 || part > s->log_parts_max)
		return false;
	/* What a disk that is full did not take is still in the monitor's memory. */
	return audit_store_part_bytes(s->log_dir, s->log_name, s->log_part, &bytes) == 0 && bytes >= AUDIT_PART_BYTES / 2;
}

int sup_log_next(struct sup *s, uint32_t part, struct error *err)
{
	struct error why = ERROR_NULL;
	int fd = -EBADF, r;

	if (s->log_dir < 0)
		return 0;
	/* Unable to go on in a new part, the monitor goes on in the old one, or stops: its policy. */
	r = audit_store_next(s->log_dir, s->log_name, part, &fd, &why);
	if (r < 0) {
		sup_warn(s, "audit log", &why);
		return 0;
	}
	s->log_part = part;
	/* A monitor that is lost by this has ended the container already. */
	(void)hand_over(s, &fd, &why);
	return 0;
}

bool sup_log_head(struct sup *s, const struct audit_head *head, bool closed)
{
	struct error err = ERROR_NULL;

	/* The log only grows: what the index said once stays true. */
	if (head->records < s->log_head.records || head->part < s->log_head.part || s->log_closed)
		return false;
	s->log_head = *head;
	s->log_closed = closed;

	if (s->log_dir >= 0 && audit_index_write(s->log_dir, s->log_index, s->log_name, head, closed, &err) < 0)
		sup_warn(s, "audit log", &err);
	return true;
}

void sup_log_lost(struct sup *s, const char *why)
{
	const struct audit_event event = { .type = AUDIT_MONITOR_LOST, .process = -1, .detail = why };
	struct error err = ERROR_NULL;

	if (s->log_dir >= 0 &&
	    audit_store_append_event(s->log_dir, s->log_index, s->log_name, LOST_TIMEOUT_MS, &event, &err) < 0)
		sup_warn(s, "audit log", &err);
}

static const char *unified_mount(const struct sup *s)
{
	switch (s->cgroup.layout) {
	case CGROUP_LAYOUT_UNIFIED:
		return CGROUP_MOUNT_POINT;
	case CGROUP_LAYOUT_HYBRID:
		return CGROUP_MOUNT_POINT "/unified";
	default:
		return NULL;
	}
}

int sup_log_prove(struct sup *s, struct error *err)
{
	if (s->ring.cgroup == 0)
		return 0;
	return audit_trace_prove(MONITOR_BPF_DIR, s->ring.cgroup, s->ring.slot, s->ring.generation, err);
}

static void give_ring_back(struct sup *s)
{
	_cleanup_audit_trace_ struct audit_trace_set set = AUDIT_TRACE_SET_NULL;
	struct error err = ERROR_NULL;
	int r;

	r = audit_trace_open(MONITOR_BPF_DIR, &set, &err);
	if (r == 0)
		r = audit_trace_release(&set, s->ring.cgroup, s->ring.slot, s->ring.generation, NULL, &err);
	/* The next containers find it ready, and what others left behind in a crash. */
	if (r == 0)
		r = audit_trace_refill(&set, AUDIT_RING_NORMAL, 0, unified_mount(s), &err);
	if (r < 0)
		sup_warn(s, "exec audit", &err);
}

void sup_log_tidy(struct sup *s)
{
	struct error err = ERROR_NULL;

	if (s->ring.cgroup > 0)
		give_ring_back(s);
	if (s->log_dir >= 0 &&
	    audit_store_prune_due(s->log_dir, s->log_index, s->log_name, s->log_head.part, AUDIT_TOTAL_BYTES) &&
	    audit_store_prune(s->log_dir, s->log_index, AUDIT_TOTAL_BYTES, s->log_name, NULL, &err) < 0)
		sup_warn(s, "audit log", &err);
}
