/*
 * The primitives that the tables name, judged by what a process's probes gave.
 */
#include "score_row.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>

#include "score.h"

const struct probe *probe_at(int n)
{
	const struct probe *p;
	size_t i;

	for (i = 0; i < PROBE_LISTS; i++)
		for (p = probe_lists[i]; p->name; p++)
			if (n-- == 0)
				return p;
	return NULL;
}

int probe_place(const char *name)
{
	const struct probe *p;
	int n;

	for (n = 0; (p = probe_at(n)); n++)
		if (str_eq(p->name, name))
			return n;
	return -1;
}

static bool call_refused(const struct score_results *r, const char *name)
{
	int n = probe_place(name);

	if (n < 0) {
		/* A name of the tables that nobody probes would count as closed or open by accident. */
		printf("Bail out! no probe for %s\n", name);
		_exit(1);
	}
	return r->got[n] == SCORE_MARK || r->got[n] == PROBE_KILLED;
}

/* The primitives of the tables: probes, and facts about the process. */
static bool refused(const char *name, void *ctx)
{
	const struct score_process *s = ctx;
	const struct score_results *r = s->marked;
	bool userns = call_refused(r, "unshare_userns") && call_refused(r, "clone_userns") &&
		      call_refused(r, "clone3_userns");
	uint64_t caps = s->caps;

	if (str_eq(name, "USERNS"))
		return userns;
	if (str_eq(name, "NETADMIN"))
		return userns && !(caps >> CAP_NET_ADMIN & 1);
	if (str_eq(name, "SYSADMIN"))
		return userns && !(caps >> CAP_SYS_ADMIN & 1);
	if (str_eq(name, "NETRAW"))
		return userns && !(caps >> CAP_NET_RAW & 1);
	if (str_eq(name, "SUID"))
		return s->no_new_privs;
	/* The kernel refuses raw sockets to a process without the capability. */
	if (str_eq(name, "SOCK_RAW") && userns && !(caps >> CAP_NET_RAW & 1))
		return true;
	return call_refused(r, name);
}

char *score_data_path(const char *rest)
{
	const char *srcdir = getenv("srcdir");

	return str_printf("%s/tests/%s", srcdir ? srcdir : ".", rest);
}

bool score_row(const struct score_process *p, struct buf *table)
{
	struct score_process s = *p;
	_cleanup_free_ char *hand_path = score_data_path("data/cve-primitives.tsv");
	_cleanup_free_ char *ctf_path = score_data_path("data/kernelctf.tsv");
	struct score hand, ctf;

	if (!score_table(hand_path, 3, 4, refused, &s, &hand) ||
	    !score_table(ctf_path, 1, -1, refused, &s, &ctf))
		return false;
	buf_addf(table, "| %s | %d of %d | %d | %d of %d | %s |\n", p->title, hand.closed, hand.rows,
		 hand.strict, ctf.closed, ctf.rows, hand.rows - hand.closed > 20 ? "…" : hand.open);
	return true;
}
