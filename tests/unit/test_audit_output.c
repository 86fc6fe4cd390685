/*
 * Output of streams: all of it when it fits, head and tail when not, whatever the sizes in
 * which it comes; bytes that are no text; secrets over borders; and how much memory it takes.
 */
#include "audit_world.h"

#include <malloc.h>

#define RECORDS 20000

static struct error err;

/* What the log holds of a stream, decoded; and its records. */
struct heard {
	struct arena arena;
	struct json *lines[RECORDS];
	size_t n;
	struct buf head, tail;
	uint64_t tail_offset;
	const struct json *end;
};

static int base64_value(char c)
{
	const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = strchr(digits, c);

	return p && c ? (int)(p - digits) : -1;
}

static void add_data(struct buf *b, const struct json *v)
{
	const char *s;
	unsigned bits = 0, have = 0;

	if (v->type == JSON_STRING) {
		buf_adds(b, v->text);
		return;
	}
	if (json_member(v, "text")) {
		buf_adds(b, json_member(v, "text")->text);
		return;
	}
	for (s = json_member(v, "base64")->text; base64_value(*s) >= 0; s++) {
		bits = bits << 6 | (unsigned)base64_value(*s);
		have += 6;
		if (have >= 8) {
			have -= 8;
			buf_add(b, &(char){ (char)(bits >> have) }, 1);
		}
	}
}

static struct heard *hear(const char *name, const char *stream)
{
	struct heard *h = calloc(1, sizeof(*h));
	uint64_t offset = 0, at;
	size_t i;
	bool good = true;

	h->n = world_log(&h->arena, name, h->lines, RECORDS);
	for (i = 0; i < h->n; i++) {
		struct json *l = h->lines[i];
		bool tail = json_member(l, "tail");

		if (!world_string(l, "stream") || strcmp(world_string(l, "stream"), stream) != 0)
			continue;
		if (strcmp(world_string(l, "type"), "output-end") == 0) {
			h->end = l;
			continue;
		}
		json_to_u64(json_member(l, "offset"), &at);
		if (tail && !h->tail.len)
			h->tail_offset = offset = at;
		good = good && at == offset;
		json_to_u64(json_member(l, "bytes"), &at);
		offset += at;
		add_data(tail ? &h->tail : &h->head, json_member(l, "data"));
	}
	ok(good, "offsets follow each other");
	return h;
}

static void heard_free(struct heard *h)
{
	arena_done(&h->arena);
	buf_done(&h->head);
	buf_done(&h->tail);
	free(h);
}

/* Writes data in pieces of the size and reads it back. */
static struct heard *round_trip(const char *data, size_t len, size_t piece, uint64_t cap)
{
	struct audit_sink_options opt = { 0 };
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_output *o = NULL;
	size_t at, n;

	audit_output_open(s, 0, AUDIT_STDOUT, cap, &o, &err);
	for (at = 0; at < len; at += n) {
		n = MIN(piece, len - at);
		if (audit_output_add(o, data + at, n, &err))
			printf("# %s\n", err.text);
	}
	audit_output_close(o, "eof", &err);
	audit_sink_close(s, NULL, &err);
	return hear(name, "stdout");
}

static bool same(const struct buf *b, const char *data, size_t len)
{
	return b->len == len && (len == 0 || memcmp(b->data, data, len) == 0);
}

static void fill(char *data, size_t len)
{
	uint32_t x = 1;
	size_t i;

	for (i = 0; i < len; i++) {
		x = x * 1103515245 + 12345;
		data[i] = (char)(x >> 16);
	}
}

static void test_whole(void)
{
	static char bytes[100000];
	const char *text = "one\ntwo\n\xc3\xa9t\xc3\xa9\n\x1b[31mred\x1b[0m\nno end";
	static const size_t pieces[] = { 1, 7, 4095, 4096, 4097, 65536 };
	struct heard *h;
	size_t i;

	for (i = 0; i < ELEMENTSOF(pieces); i++) {
		h = round_trip(text, strlen(text), pieces[i], 1 << 20);
		ok(same(&h->head, text, strlen(text)), "text in pieces of %zu", pieces[i]);
		heard_free(h);
		fill(bytes, sizeof(bytes));
		h = round_trip(bytes, sizeof(bytes), pieces[i], 1 << 20);
		ok(same(&h->head, bytes, sizeof(bytes)), "bytes in pieces of %zu", pieces[i]);
		ok(h->end && strcmp(world_string(h->end, "kept"), "100000") == 0, "all are counted as kept");
		heard_free(h);
	}
	h = round_trip("", 0, 1, 1000);
	ok(h->head.len == 0 && h->end && strcmp(world_string(h->end, "bytes"), "0") == 0, "nothing at all");
	heard_free(h);
	/* Between head and cap: the tail goes on where the head ends. */
	fill(bytes, sizeof(bytes));
	h = round_trip(bytes, 9999, 333, 10000);
	ok(same(&h->head, bytes, 9999), "all that fits into the cap is kept");
	heard_free(h);
}

static void test_caps(void)
{
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct heard *h;
	uint64_t kept;
	int i;

	for (i = 0; i < 100000; i++)
		buf_addf(&text, "line %d\n", i);
	h = round_trip(text.data, text.len, 5000, 16384);
	ok(h->head.len > 10000 && h->head.len <= 12288 && memcmp(h->head.data, text.data, h->head.len) == 0,
	   "the head: %zu bytes", h->head.len);
	ok(h->tail.len > 3000 && h->tail.len <= 4096 &&
		   memcmp(h->tail.data, text.data + text.len - h->tail.len, h->tail.len) == 0,
	   "the tail: %zu bytes", h->tail.len);
	is_int((long long)h->tail_offset, (long long)(text.len - h->tail.len), "...from where it is");
	json_to_u64(json_member(h->end, "kept"), &kept);
	is_int((long long)kept, (long long)(h->head.len + h->tail.len), "what is kept is counted");
	is_int((long long)strtoull(world_string(h->end, "bytes"), NULL, 10), (long long)text.len, "...and all");
	heard_free(h);
	h = round_trip(text.data, text.len, 5000, 0);
	ok(h->head.len == 0 && h->tail.len == 0 && h->end, "cap 0: counts only");
	heard_free(h);
}

#define TOKEN "ghp_" "0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll"

static void test_secrets(void)
{
	_cleanup_buf_ struct buf text = BUF_NULL;
	size_t bad = 0, cap;
	struct heard *h;
	int i;

	for (i = 0; i < 400; i++)
		buf_addf(&text, "%*s" TOKEN "%s", i % 41, "", i % 3 ? "\n" : " ");
	/* Wherever the head ends and the tail begins, no half of a token may stand there. */
	for (cap = 3000; cap < 3200; cap++) {
		h = round_trip(text.data, text.len, 1000, cap);
		if ((h->head.len && memmem(h->head.data, h->head.len, "0Aa1", 4)) ||
		    (h->tail.len && memmem(h->tail.data, h->tail.len, "Kk1Ll", 5)) || !h->tail.len) {
			if (!bad++)
				printf("# cap %zu: %.*s ... %.*s\n", cap, (int)h->head.len, h->head.data,
				       (int)h->tail.len, h->tail.data);
		}
		heard_free(h);
	}
	is_int((long long)bad, 0, "no half of a secret at a cap");
}

static void test_skip(void)
{
	struct audit_sink_options opt = { 0 };
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_output *o = NULL;
	struct heard *h;

	audit_output_open(s, 0, AUDIT_STDOUT, 100, &o, &err);
	audit_output_add(o, "begin ", 6, &err);
	audit_output_add(o, "and no en", 9, &err);
	audit_output_skip(o, 1000, &err);
	audit_output_add(o, "half end\n", 9, &err);
	audit_output_close(o, "eof", &err);
	audit_sink_close(s, NULL, &err);
	h = hear(name, "stdout");
	is_str(h->head.data, "begin and no ", "the head without half a word");
	is_str(h->tail.data, " end\n", "the tail without half a word");
	is_str(world_string(h->end, "unread"), "1000", "what went by is counted");
	is_str(world_string(h->end, "bytes"), "1024", "...and all");
	heard_free(h);
}

static void test_terminal(void)
{
	struct audit_sink_options opt = { 0 };
	struct timespec step = { .tv_nsec = 120000000 };
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_output *o = NULL;
	struct heard *h;
	int i;

	audit_output_open(s, 0, AUDIT_TERMINAL, 10000, &o, &err);
	ok(!audit_output_pending(o), "nothing waits");
	for (i = 0; i < 3; i++) {
		audit_output_add(o, "$ ls\r\n", 6, &err);
		nanosleep(&step, NULL);
	}
	ok(audit_output_pending(o), "the last piece waits");
	audit_output_flush(o, &err);
	ok(!audit_output_pending(o), "...until it is asked for");
	audit_output_close(o, "eof", &err);
	audit_sink_close(s, NULL, &err);
	h = hear(name, "terminal");
	is_int((long long)h->n, 6, "a record for each moment"); /* open, 3, end, close */
	is_str(h->head.data, "$ ls\r\n$ ls\r\n$ ls\r\n", "...with what was shown");
	heard_free(h);
}

/* Key by key, with a look at each: neither the name nor the value of a secret goes alone. */
static void test_typed(void)
{
	static const char keys[] = "ls -l\rexport API_TOKEN=abcdefabcdef\r# end";
	struct audit_sink_options opt = { 0 };
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct audit_output *o = NULL;
	struct heard *h;
	size_t i;

	audit_output_open(s, 0, AUDIT_STDIN, 10000, &o, &err);
	for (i = 0; keys[i]; i++) {
		audit_output_add(o, &keys[i], 1, &err);
		audit_output_flush(o, &err);
	}
	audit_output_close(o, "eof", &err);
	audit_sink_close(s, NULL, &err);
	h = hear(name, "stdin");
	is_int((long long)h->n, 6, "a record for each line"); /* open, 3, end, close */
	ok(h->head.data && !strstr(h->head.data, "abcdef") && strstr(h->head.data, "API_TOKEN=[redacted:"),
	   "a secret is seen whole: %s", h->head.data);
	heard_free(h);
}

static void test_memory(void)
{
	struct audit_sink_options opt = { .on_failure = AUDIT_CONTINUE };
	struct audit_output *o[400];
	char name[AUDIT_NAME_SIZE];
	struct audit_sink *s = world_sink(name, &opt);
	struct mallinfo2 before = mallinfo2(), idle, busy;
	static char data[65536];
	size_t i, k;

	memset(data, 'x', sizeof(data));
	for (i = 0; i < ELEMENTSOF(o); i++)
		audit_output_open(s, (int)i, AUDIT_STDOUT, 1 << 16, &o[i], &err);
	idle = mallinfo2();
	ok(idle.uordblks - before.uordblks < 100000, "400 idle streams take %zu bytes",
	   (size_t)(idle.uordblks - before.uordblks));
	for (k = 0; k < 2; k++)
		for (i = 0; i < ELEMENTSOF(o); i++)
			audit_output_add(o[i], data, sizeof(data), &err);
	busy = mallinfo2();
	ok(busy.uordblks - before.uordblks < 5000000, "...and after 128 KiB each %zu",
	   (size_t)(busy.uordblks - before.uordblks));
	for (i = 0; i < ELEMENTSOF(o); i++)
		audit_output_close(o[i], "eof", &err);
	audit_sink_close(s, NULL, &err);
}

int main(void)
{
	TAP_BEGIN();
	world_make();
	test_whole();
	test_caps();
	test_secrets();
	test_skip();
	test_terminal();
	test_typed();
	test_memory();
	world_remove();
	return TAP_END();
}
