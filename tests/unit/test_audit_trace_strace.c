/*
 * The exec audit beside strace -f: of a session with scripts, pipes, failures and background
 * programs both must have seen the same, once, and in the same order where there is one.
 */
#include "audit_trace_world.h"
#include "util/fd.h"

#define LINES_MAX 2000

static struct world world;

/* file ["arg", "arg"] of each execve that succeeded, in the order in which it was finished. */
struct lines {
	char *text[LINES_MAX];
	size_t n;
};

static void lines_add(struct lines *l, char *text)
{
	if (l->n < LINES_MAX && text)
		l->text[l->n++] = text;
}

static void lines_done(struct lines *l)
{
	while (l->n > 0)
		free(l->text[--l->n]);
}

/* One line of strace's: PID execve("FILE", ["ARG", ...], 0x... [slash-star] 20 vars) = 0 */
static char *call_of(const char *line)
{
	const char *begin = strstr(line, "execve(\""), *args, *end;

	if (!begin)
		return NULL;
	begin += strlen("execve(");
	args = strstr(begin, ", [");
	end = args ? strstr(args, "], 0x") : NULL;
	if (!end)
		return NULL;
	return str_printf("%.*s%.*s", (int)(args - begin), begin, (int)(end - args), args + 1);
}

struct pending {
	long pid;
	char *call;
};

static bool parse_strace(char *text, struct lines *ret)
{
	struct pending pending[256];
	size_t n = 0, i;
	char *line, *save = NULL, *call;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		long pid = 0;

		(void)sscanf(line, "%ld", &pid);
		if (strstr(line, "execve(\"") && strstr(line, "<unfinished ...>")) {
			if (n == ELEMENTSOF(pending))
				return false;
			/* It ends in what the end of the arguments is looked for by. */
			pending[n++] = (struct pending){ pid, call_of(line) };
			continue;
		}
		for (i = 0; strstr(line, "execve resumed>") && i < n && pending[i].pid != pid; i++)
			;
		if (strstr(line, "execve resumed>")) {
			if (i == n)
				return false;
			call = pending[i].call;
			pending[i] = pending[--n];
		} else {
			call = call_of(line);
		}
		if (strstr(line, " = 0"))
			lines_add(ret, call);
		else
			free(call);
	}
	while (n > 0)
		free(pending[--n].call);
	return true;
}

static void add_quoted(struct buf *b, const char *s)
{
	buf_adds(b, "\"");
	for (; *s; s++) {
		if (*s == '\n')
			buf_adds(b, "\\n");
		else
			buf_addf(b, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	}
	buf_adds(b, "\"");
}

/* The same form from a record. strace shows what was called, the audit what an interpreter got. */
static char *call_of_record(const struct world_record *r)
{
	size_t at = r->flags & AUDIT_REC_SCRIPT ? strlen(r->argv_raw) + 1 : 0;
	struct buf b = BUF_NULL;
	bool first = true;

	add_quoted(&b, r->file);
	buf_adds(&b, " [");
	for (; at < r->argv_len; at += strlen(r->argv_raw + at) + 1) {
		buf_adds(&b, first ? "" : ", ");
		first = false;
		add_quoted(&b, r->argv_raw + at);
	}
	buf_adds(&b, "]");
	return buf_take(&b);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t differences(const struct lines *want, const struct lines *got)
{
	size_t i, bad = 0;

	for (i = 0; i < want->n || i < got->n; i++) {
		const char *w = i < want->n ? want->text[i] : "(nothing)";
		const char *g = i < got->n ? got->text[i] : "(nothing)";

		if (!str_eq(w, g) && bad++ < 5)
			printf("# strace %s\n# audit  %s\n", w, g);
	}
	return bad;
}

static void session(const char *name, const char *script, bool ordered)
{
	char log[64], command[8192];
	_cleanup_free_ char *text = NULL;
	struct lines want = { .n = 0 }, got = { .n = 0 };
	struct world_container c;
	struct error *err = &world.err;
	size_t i, ends = 0;

	if (!ok(world_cgroup(&world, NULL, name, &c) &&
			world_bind(&world, &c, (struct audit_trace_request){ .class = AUDIT_RING_LARGE }) == 0,
		"%s: bound", name))
		return;
	(void)snprintf(log, sizeof(log), "/tmp/agentrun-trace-%d.strace", (int)getpid());
	/* The shell puts itself in place of strace's own record. */
	(void)snprintf(command, sizeof(command),
		       "cd /tmp && exec strace -f -qq -s 5000 -e trace=execve -e signal=none -o %s "
		       "/bin/sh -ec '%s' >/dev/null 2>&1", log, script);
	is_int(world_run(&c, command), 0, "the session ran");
	if (!is_int(world_drain(&c.reader, err), 0, "all records are here"))
		printf("# %s\n", err->text);
	if (!ok(file_read_all(AT_FDCWD, log, 1 << 24, &text, NULL, err) == 0 && parse_strace(text, &want),
		"strace's records are here"))
		return;
	(void)unlink(log);
	for (i = 0; i < c.n; i++) {
		if (c.records[i].type == AUDIT_REC_EXIT)
			ends++;
		else if (!str_eq(c.records[i].file, "/bin/sh") || strstr(c.records[i].argv, "exec strace") == NULL)
			if (!strstr(c.records[i].argv, "strace -f -qq"))
				lines_add(&got, call_of_record(&c.records[i]));
	}
	printf("# %zu programs by strace, %zu by the audit, %zu ends\n", want.n, got.n, ends);
	ok(want.n > 5, "there is something to compare");
	if (!ordered) {
		qsort(want.text, want.n, sizeof(want.text[0]), compare);
		qsort(got.text, got.n, sizeof(got.text[0]), compare);
	}
	is_int((long long)differences(&want, &got), 0, ordered ? "the same, once, in order" : "the same, once");
	lines_done(&want);
	lines_done(&got);
	world_release(&world, &c);
}

int main(void)
{
	struct world_container first;
	const char *why;

	if (!world_begin(&world, &why))
		return TAP_SKIP_ALL(why);
	if (world_run_outside("command -v strace >/dev/null") != 0) {
		world_end(&world);
		return TAP_SKIP_ALL("needs strace");
	}
	TAP_BEGIN();
	if (world_ready(&world, 2, &first, AUDIT_RING_NORMAL, false)) {
		world_release(&world, &first);
		session("ordered",
			"d=$(mktemp -d); cd $d; printf \"#!/bin/sh\\necho script\\nexit 3\\n\" >s; chmod +x s; ./s one two || :; "
			"ls -la /; nosuchcommand || :; ./s || :; for i in 1 2 3 4 5 6 7 8 9 10; do /bin/echo $i; done; "
			"env -i /usr/bin/env A=1 sh -c \"exec true\"; printf x >notexec; ./notexec || :; "
			"head -c 3000 /dev/zero | tr \"\\0\" a >big; /bin/echo $(cat big); timeout 5 sleep 0.01; rm -r $d",
			true);
		session("parallel",
			"for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.02 & (/bin/true; /bin/echo $i | cat | wc -l) & done; "
			"seq 1 200 | xargs -P 4 -n 1 /bin/echo; wait",
			false);
	}
	world_end(&world);
	return TAP_END();
}
