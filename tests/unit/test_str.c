/*
 * The growable buffer and the judge of UTF-8.
 */
#include <stdint.h>

#include "tap.h"
#include "util/str.h"

static void test_buf(void)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	_cleanup_free_ char *s = NULL, *empty = NULL, *made = NULL;
	size_t i;

	empty = buf_take(&b);
	is_str(empty, "", "an empty buffer gives an empty string");
	buf_addf(&b, "%s-%d", "a", 7);
	buf_adds(&b, "/");
	buf_add(&b, "x\0y", 3);
	ok(b.len == 7 && memcmp(b.data, "a-7/x\0y", 8) == 0, "bytes are kept and terminated");
	buf_done(&b);
	ok(!b.data && b.len == 0, "done empties");

	for (i = 0; i < 10000; i++)
		buf_addf(&b, "%04zu", i);
	ok(buf_ok(&b) && b.len == 40000, "grows");
	ok(memcmp(b.data + 39996, "9999", 5) == 0, "the last piece is in place");
	s = buf_take(&b);
	ok(s && strlen(s) == 40000 && !b.data, "take moves the string out");

	buf_adds(&b, "x");
	buf_add(&b, "y", SIZE_MAX / 2);
	ok(!buf_ok(&b), "an impossible size is a failure");
	buf_adds(&b, "z");
	ok(buf_take(&b) == NULL, "a failed buffer gives nothing");
	ok(buf_ok(&b), "and may be used again");

	made = str_printf("%d %s", 5, "five");
	is_str(made, "5 five", "printf");
	is_str(str_after("file:/x", "file:"), "/x", "the rest after a prefix");
	ok(!str_after("fil", "file:"), "no prefix, no rest");
}

static void test_utf8(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} rows[] = {
		{ "a", 1, "ASCII" },
		{ "\x7f", 1, "DEL" },
		{ "\xc3\xa9", 2, "two bytes" },
		{ "\xe2\x82\xac", 3, "three bytes" },
		{ "\xf0\x9f\x98\x80", 4, "four bytes" },
		{ "\xf4\x8f\xbf\xbf", 4, "U+10FFFF" },
		{ "\xef\xbf\xbf", 3, "U+FFFF" },
		{ "\x80", 0, "a lone continuation" },
		{ "\xc0\x80", 0, "an overlong NUL" },
		{ "\xc1\xbf", 0, "overlong in two" },
		{ "\xe0\x9f\xbf", 0, "overlong in three" },
		{ "\xf0\x8f\xbf\xbf", 0, "overlong in four" },
		{ "\xed\xa0\x80", 0, "a surrogate" },
		{ "\xf4\x90\x80\x80", 0, "beyond U+10FFFF" },
		{ "\xf5\x80\x80\x80", 0, "F5" },
		{ "\xff", 0, "FF" },
		{ "\xe2\x82", 0, "cut short" },
		{ "\xe2\x28\xa1", 0, "a bad second byte" },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(rows); i++)
		ok(str_utf8_len(rows[i].bytes, strlen(rows[i].bytes)) == rows[i].len, "UTF-8: %s",
		   rows[i].what);
	is_int(str_utf8_len("", 0), 0, "UTF-8: nothing there");
}

int main(void)
{
	TAP_BEGIN();
	test_buf();
	test_utf8();
	return TAP_END();
}
