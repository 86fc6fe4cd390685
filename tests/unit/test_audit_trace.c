/*
 * The exec audit on the real kernel: what a record says.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "audit_trace_world.h"

static void dump(const struct world_container *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct world_record *r = &c->records[i];

		if (r->type == AUDIT_REC_EXEC)
			printf("# %2llu exec pid %u (%u) ppid %u (%u) uid %u flags %#x file %s argv [%s] cwd %s comm %s\n",
			       (unsigned long long)r->seq, r->pid, r->host_pid, r->ppid, r->host_ppid,
			       r->uid, r->flags, r->file, r->argv, r->cwd, r->comm);
		else
			printf("# %2llu exit pid %u (%u) of %llu code %d signal %d after %llu us flags %#x comm %s\n",
			       (unsigned long long)r->seq, r->pid, r->host_pid,
			       (unsigned long long)r->exec_seq, r->status.code, r->status.signal,
			       (unsigned long long)r->duration_ns / 1000, r->flags, r->comm);
	}
}

int main(void)
{
	struct world_container c;
	const char *why;
	struct world w;

	if (!world_begin(&w, &why))
		return TAP_SKIP_ALL(why);
	TAP_BEGIN();
	if (!is_int(audit_trace_prepare(w.bpffs, 2, &w.err), 0, "prepare")) {
		printf("# %s\n", w.err.text);
		world_end(&w);
		return 1;
	}
	is_int(audit_trace_open(w.bpffs, &w.set, &w.err), 0, "open");
	ok(world_cgroup(&w, NULL, "a", &c), "cgroup");
	is_int(world_bind(&w, &c, (struct audit_trace_request){ .class = AUDIT_RING_NORMAL }), 0, "bind");
	if (!c.reader.fn) {
		printf("# %s\n", w.err.text);
		world_release(&w, &c);
		world_end(&w);
		return 1;
	}
	world_run(&c, "cd /usr/share/doc; ls / >/dev/null; (exit 3); sh -c 'kill -9 $$'; exit 7");
	is_int(audit_trace_drain(&c.reader, &w.err), 0, "drain");
	dump(&c);
	printf("# %s\n", w.err.text);
	world_release(&w, &c);
	world_end(&w);
	return TAP_END();
}
