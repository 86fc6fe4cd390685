/* ClientHellos: whole, in pieces, in small records, with names that are none, and what is no TLS.
 */
#include "egress/egress_tls.h"
#include "tap.h"
#include "util/cleanup.h"

struct bytes {
	uint8_t b[TLS_STREAM_MAX + 100];
	size_t len;
};

static uint8_t scratch[TLS_HELLO_MAX];
static struct tls_hello hello;
static struct bytes ext, msg, stream;

static void add(struct bytes *t, const void *data, size_t n)
{
	memcpy(t->b + t->len, data, n);
	t->len += n;
}

static void add16(struct bytes *t, size_t v)
{
	uint8_t b[2] = { (uint8_t)(v >> 8), (uint8_t)v };

	add(t, b, 2);
}

static void add_ext(unsigned type, const void *data, size_t n)
{
	add16(&ext, type);
	add16(&ext, n);
	add(&ext, data, n);
}

static void add_name(const char *name)
{
	struct bytes *t = &ext;
	size_t n = strlen(name);

	add16(t, 0);
	add16(t, n + 5);
	add16(t, n + 3);
	add(t, "", 1);
	add16(t, n);
	add(t, name, n);
}

/* A message of the extensions in ext. */
static void make(void)
{
	msg.len = 0;
	add(&msg, "\1\0\0\0\3\3", 6);
	add(&msg, "0123456789abcdef0123456789abcdef", 32);
	add(&msg, "\4sess", 5);
	add(&msg, "\0\4\x13\x01\x13\x02", 6);
	add(&msg, "\1\0", 2);
	add16(&msg, ext.len);
	add(&msg, ext.b, ext.len);
	msg.b[2] = (uint8_t)((msg.len - 4) >> 8);
	msg.b[3] = (uint8_t)(msg.len - 4);
}

/* The message in records of at most that many bytes. */
static void cut(size_t record)
{
	size_t at, n;

	stream.len = 0;
	for (at = 0; at < msg.len; at += n) {
		n = MIN(record, msg.len - at);
		add(&stream, "\x16\3\1", 3);
		add16(&stream, n);
		add(&stream, msg.b + at, n);
	}
}

static enum tls_verdict verdict(void)
{
	return tls_hello_read(stream.b, stream.len, scratch, &hello);
}

static enum tls_verdict whole(void)
{
	make();
	cut(TLS_HELLO_MAX);
	return verdict();
}

static void test_good(void)
{
	uint8_t grease[8 + 32 + 2 + 144] = { 0 };
	char text[DNS_TEXT_SIZE];

	ext.len = 0;
	is_int(whole(), TLS_NONE, "no extensions");
	add_ext(0x0a0a, "", 0);
	add_name("WWW.example.org");
	add_ext(43, "\4\x7a\x7a\3\4", 5);
	add_ext(16, "\0\x0c\2h2\x08http/1.1", 14);
	is_int(whole(), TLS_SNI, "a name");
	is_str(dns_name_text(&hello.name, text), "www.example.org", "the name");
	is_str(hello.alpn, "h2,http/1.1", "protocols");
	is_int(hello.version, 0x0304, "version");
	add(&stream, "\x14\3\3\0\1\1", 6);
	is_int(verdict(), TLS_SNI, "early data behind it");
	add_ext(0xfe0d, "\0\1", 2);
	is_int(whole(), TLS_ECH, "an encrypted one as well");
	is_str(dns_name_text(&hello.name, text), "www.example.org", "the outer name");
	ext.len = 0;
	add_name("www.example.org");
	/* as browsers send it to everybody: outer form, a suite, any id, a key of 32 bytes, a sealed message */
	memcpy(grease, "\0\0\1\0\1\x42\0\x20", 8);
	memcpy(grease + 40, "\0\x90", 2);
	add_ext(0xfe0d, grease, sizeof(grease));
	is_int(whole(), TLS_ECH, "a placeholder cannot be told from an encrypted name");
	ext.len = 0;
	add_ext(0xffce, "\0", 1);
	is_int(whole(), TLS_ECH, "in its earlier form");
	/* before extensions were invented */
	ext.len = 0;
	make();
	msg.len -= 2;
	msg.b[3] = (uint8_t)(msg.len - 4);
	cut(TLS_HELLO_MAX);
	is_int(verdict(), TLS_NONE, "no room for extensions");
}

static void test_pieces(void)
{
	static const size_t records[] = { 1, 2, 3, 4, 5, 7, 50, 150, 16384 };
	char pad[1500] = "";
	size_t i, at, calls, bad = 0, lag = 0;
	enum tls_verdict v;

	ext.len = 0;
	add_ext(0x0a0a, pad, sizeof(pad));
	add_name("www.example.org");
	make();
	for (i = 0; i < ELEMENTSOF(records); i++) {
		cut(records[i]);
		/* Every shorter beginning must ask for more, for no more than there is. */
		for (at = 0; at < stream.len; at++) {
			bad += tls_hello_read(stream.b, at, scratch, &hello) != TLS_MORE;
			lag += hello.need <= at || hello.need > stream.len;
		}
		/* A caller who waits for what was asked comes to the end soon. */
		for (at = 0, calls = 0;
		     (v = tls_hello_read(stream.b, at, scratch, &hello)) == TLS_MORE; calls++)
			at = hello.need;
		is_int(v, TLS_SNI, "in records");
		is_int(at, stream.len, "asks for all and nothing beyond");
		ok(calls < 120, "in %zu steps for records of %zu", calls, records[i]);
	}
	is_int(bad, 0, "each part of it asks for more");
	is_int(lag, 0, "for what can come");
}

static void expect_other(const char *what)
{
	is_int(verdict(), TLS_OTHER, what);
}

static void set_stream(const void *data, size_t n)
{
	stream.len = 0;
	add(&stream, data, n);
}

static void test_other(void)
{
	set_stream("GET / HTTP/1.1\r\n", 16);
	expect_other("HTTP");
	set_stream("S", 1);
	expect_other("one byte of SSH");
	set_stream("\x80\x2e\1\3\1", 5);
	expect_other("SSL 2");
	set_stream("\x16\2\0\0\5", 5);
	expect_other("version 2");
	set_stream("\x16\3\1\0\0", 5);
	expect_other("an empty record");
	set_stream("\x16\3\1\x40\1", 5);
	expect_other("a record above 16 KiB");
	set_stream("\x16\3\1\0\4\2", 6);
	expect_other("a ServerHello");
	set_stream("\x16\3\1\0\4\1\1\0\0", 9);
	expect_other("a message of 64 KiB");
	set_stream("\x16\3\1\0\4\1\0\0\0", 9);
	expect_other("an empty message");
	ext.len = 0;
	add_name("a.example");
	make();
	cut(20);
	stream.b[25] = 23;
	expect_other("data in the middle");
	cut(TLS_HELLO_MAX);
	stream.b[4]++;
	add(&stream, "x", 1);
	expect_other("a byte behind the message in its record");
}

static void test_malformed(void)
{
	static const char *const names[] = {
		"",
		"a.example.",
		".",
		"a b",
		"a..b",
		".a",
		"*.example",
		"a/b",
		"[::1]",
		"a:443",
		"m\xc3\xbcller.example",
	};
	size_t i, n;

	for (i = 0; i < ELEMENTSOF(names); i++) {
		ext.len = 0;
		add_name(names[i]);
		is_int(whole(), TLS_OTHER, names[i]);
	}
	ext.len = 0;
	add_ext(0,
		"\0\x0c\0\0\x09"
		"a\0example",
		14);
	is_int(whole(), TLS_OTHER, "NUL in the name");
	ext.len = 0;
	add_name("a.example");
	add_name("b.example");
	is_int(whole(), TLS_OTHER, "two names");
	ext.len = 0;
	add_ext(0, "\0\x0a\0\0\2ab\0\0\2cd", 12);
	is_int(whole(), TLS_OTHER, "two names in one list");
	ext.len = 0;
	add_ext(0, "\0\5\1\0\2ab", 7);
	is_int(whole(), TLS_OTHER, "a name of another kind");
	ext.len = 0;
	add_ext(0, "\0\5\0\0\3ab", 7);
	is_int(whole(), TLS_OTHER, "a name longer than its list");
	ext.len = 0;
	add_ext(0, "\0\5\0\0\2abc", 8);
	is_int(whole(), TLS_OTHER, "a list shorter than its extension");
	ext.len = 0;
	add_ext(0, "", 0);
	is_int(whole(), TLS_OTHER, "an empty one");
	ext.len = 0;
	add16(&ext, 0x0a0a);
	add16(&ext, 50);
	is_int(whole(), TLS_OTHER, "an extension beyond the end");
	ext.len = 0;
	add(&ext, "\0", 1);
	is_int(whole(), TLS_OTHER, "half a type");
	ext.len = 0;
	add_name("a.example");
	make();
	/* each length field in front of the extensions, one too high and one too low */
	static const size_t lengths[] = { 3, 38, 44, 49, 52 };

	for (i = 0; i < ELEMENTSOF(lengths); i++)
		for (n = 0; n < 2; n++) {
			make();
			msg.b[lengths[i]] = (uint8_t)(msg.b[lengths[i]] + (n ? 1 : -1));
			cut(TLS_HELLO_MAX);
			ok(verdict() == TLS_OTHER || verdict() == TLS_MORE, "length at %zu, %s",
			   lengths[i], n ? "too high" : "too low");
		}
}

static void test_limits(void)
{
	static char pad[TLS_HELLO_MAX];
	enum tls_verdict v;
	size_t at = 0, calls = 0;

	ext.len = 0;
	add_ext(0x0a0a, pad, 16200);
	add_name("a.example");
	is_int(whole(), TLS_SNI, "nearly 16 KiB");
	ext.len = 0;
	add_ext(0x0a0a, pad, 16330);
	add_name("a.example");
	is_int(whole(), TLS_OTHER, "more than 16 KiB");
	/* 16,000 records of one byte would be 96 KiB. */
	ext.len = 0;
	add_ext(0x0a0a, pad, 5300);
	add_name("a.example");
	make();
	cut(1);
	for (; (v = tls_hello_read(stream.b, at, scratch, &hello)) == TLS_MORE; calls++)
		at = MIN(hello.need, stream.len);
	is_int(v, TLS_SNI, "5 KiB in records of a byte");
	ok(calls < 200, "in %zu steps", calls);
	ext.len = 0;
	add_ext(0x0a0a, pad, 5600);
	make();
	cut(2);
	is_int(tls_hello_read(stream.b, 16000, scratch, &hello), TLS_MORE, "records of two bytes");
	stream.len = TLS_STREAM_MAX - 3;
	memset(stream.b, 0, stream.len);
	for (at = 0; at + 6 <= stream.len; at += 6)
		memcpy(stream.b + at, "\x16\3\1\0\1\0", 6);
	stream.b[5] = 1;
	stream.b[17] = 0x20;
	is_int(verdict(), TLS_OTHER, "what cannot end within 32 KiB");
}

static void test_answer(void)
{
	static const uint8_t magic[] =
		"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
		"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
	size_t need, at, early = 0;

	set_stream("\x16\3\3\0\x40\2\0\0\x3c\3\3", 11);
	add(&stream, magic, 32);
	for (at = 0; at < stream.len; at++) {
		early += tls_answer_read(stream.b, at, &need) != TLS_ANSWER_MORE;
		early += need <= at || need > stream.len;
	}
	is_int(early, 0, "each part of a request asks for more");
	is_int(tls_answer_read(stream.b, stream.len, &need), TLS_ANSWER_RETRY,
	       "a request for another hello");
	stream.b[30] ^= 1;
	is_int(tls_answer_read(stream.b, stream.len, &need), TLS_ANSWER_FINAL, "a ServerHello");
	is_int(tls_answer_read((const uint8_t *)"\x15", 1, &need), TLS_ANSWER_FINAL, "an alert");
	is_int(tls_answer_read((const uint8_t *)"\x16\3\3\0\4\0", 6, &need), TLS_ANSWER_FINAL,
	       "another message");
	is_int(tls_answer_read((const uint8_t *)"\x16\3\3\0\4\2", 6, &need), TLS_ANSWER_BAD,
	       "one in pieces");
}

static void test_second(void)
{
	enum tls_verdict v;
	size_t at, bad = 0;

	ext.len = 0;
	add_name("a.example");
	make();
	cut(50);
	memmove(stream.b + 6, stream.b, stream.len);
	memcpy(stream.b, "\x14\3\3\0\1\1", 6);
	stream.len += 6;
	add(&stream, "rest", 4);
	is_int(tls_hello_read_second(stream.b, stream.len, scratch, &hello), TLS_SNI,
	       "behind a change of cipher");
	is_int(hello.length, (long long)stream.len - 4, "its end");
	is_int(verdict(), TLS_OTHER, "which a first one has not got");
	for (at = 0; at < stream.len - 4; at++) {
		v = tls_hello_read_second(stream.b, at, scratch, &hello);
		bad += v != TLS_MORE || hello.need <= at || hello.need > stream.len - 4;
	}
	is_int(bad, 0, "each part of it asks for more");
	stream.b[5] = 2;
	is_int(tls_hello_read_second(stream.b, stream.len, scratch, &hello), TLS_OTHER,
	       "another change");
	cut(50);
	is_int(tls_hello_read_second(stream.b, stream.len, scratch, &hello), TLS_SNI,
	       "without one");
	is_int(hello.length, (long long)stream.len, "its end");
}

int main(void)
{
	TAP_BEGIN();
	test_good();
	test_pieces();
	test_other();
	test_malformed();
	test_limits();
	test_answer();
	test_second();
	return TAP_END();
}
