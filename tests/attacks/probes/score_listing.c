/*
 * The score of a process somewhere else, from what `probe` printed there:
 *
 *	probe | score-listing TITLE
 *
 * The filter there must answer every denial with the marker's errno.
 */
#include <stdio.h>
#include <stdlib.h>

#include "score_row.h"

static int answer_of(const char *text)
{
	return str_eq(text, "killed")		   ? PROBE_KILLED :
	       str_eq(text, "Unknown error 177") ? SCORE_MARK :
						     0;
}

static bool read_listing(struct score_results *r, struct score_process *p)
{
	char name[64], text[128];
	int place;

	while (scanf("%63[^\t]\t%127[^\n]\n", name, text) == 2) {
		if (str_eq(name, "CapEff")) {
			p->caps = strtoull(text, NULL, 16);
		} else if (str_eq(name, "NoNewPrivs")) {
			p->no_new_privs = str_eq(text, "1");
		} else {
			place = probe_place(name);
			if (place < 0)
				return false;
			r->got[place] = answer_of(text);
			r->count++;
		}
	}
	return probe_at(r->count) == NULL;
}

int main(int argc, char **argv)
{
	struct score_results results = { 0 };
	struct score_process p = { .title = argc == 2 ? argv[1] : "?", .marked = &results };
	_cleanup_buf_ struct buf table = BUF_NULL;

	if (!read_listing(&results, &p) || !score_row(&p, &table) || !buf_ok(&table)) {
		fprintf(stderr, "score-listing: not a whole listing: %d probes\n", results.count);
		return 1;
	}
	fputs(table.data, stdout);
	return 0;
}
