/*
 * Reads backwards. Knows only the two ends of a line: its number at the begin and its
 * hash at the end.
 */
#include "audit/audit_tail.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/parse.h"

#define SEQ_MEMBER  "{\"seq\":"
#define HASH_MEMBER ",\"hash\":\""
#define SEAL_LEN    (strlen(HASH_MEMBER) + SHA256_HEX_SIZE - 1 + strlen("\"}"))

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool audit_tail_seal(const char *line, size_t len, uint64_t *ret_seq, uint8_t ret_hash[SHA256_BYTES])
{
	char digits[24];
	const char *p;
	size_t i, n;
	int high, low;

	if (len < strlen(SEQ_MEMBER) + SEAL_LEN || memcmp(line, SEQ_MEMBER, strlen(SEQ_MEMBER)) != 0)
		return false;
	p = line + strlen(SEQ_MEMBER);
	for (n = 0; n < sizeof(digits) - 1 && p[n] >= '0' && p[n] <= '9'; n++)
		digits[n] = p[n];
	digits[n] = '\0';
	if (p[n] != ',' || parse_u64(digits, ret_seq) < 0 || digits[0] == '0')
		return false;
	p = line + len - SEAL_LEN;
	if (memcmp(p, HASH_MEMBER, strlen(HASH_MEMBER)) != 0 || memcmp(line + len - 2, "\"}", 2) != 0)
		return false;
	p += strlen(HASH_MEMBER);
	for (i = 0; i < SHA256_BYTES; i++) {
		high = hex_digit(p[2 * i]);
		low = hex_digit(p[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		ret_hash[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* The last max bytes, and whether there are more before them. */
static int read_end(int fd, size_t max, char **ret, size_t *ret_len, bool *ret_more, uint64_t *ret_size)
{
	_cleanup_free_ char *text = NULL;
	size_t len, got = 0;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	len = (size_t)MIN((uint64_t)st.st_size, (uint64_t)max);
	text = malloc(len + 1);
	if (!text)
		return -ENOMEM;
	while (got < len) {
		n = pread(fd, text + got, len - got, st.st_size - (off_t)(len - got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		got += (size_t)n;
	}
	text[len] = '\0';
	*ret_more = (uint64_t)st.st_size > len;
	*ret_size = (uint64_t)st.st_size;
	*ret_len = len;
	*ret = take_ptr(text);
	return 0;
}

int audit_tail_text(int fd, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	uint64_t size;
	size_t len;
	char *begin;
	bool more;
	int r = read_end(fd, max, &text, &len, &more, &size);

	if (r < 0)
		return r;
	begin = more ? memchr(text, '\n', len) : NULL;
	if (begin) {
		len -= (size_t)(begin + 1 - text);
		memmove(text, begin + 1, len + 1);
	}
	*ret = take_ptr(text);
	*ret_len = len;
	return 0;
}

int audit_tail_read(int fd, struct audit_head *ret, bool *ret_torn)
{
	_cleanup_free_ char *text = NULL;
	struct audit_head head = { 0 };
	char *end, *begin;
	size_t len = 0;
	bool more = false;
	/* Room for the last record behind a torn one. */
	int r = read_end(fd, 2 * AUDIT_RECORD_MAX + 2, &text, &len, &more, &head.part_bytes);

	if (r < 0)
		return r;
	*ret_torn = len && text[len - 1] != '\n';
	end = len ? memrchr(text, '\n', len) : NULL;
	while (end) {
		begin = end > text ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
		if (!begin && more)
			break;
		begin = begin ? begin + 1 : text;
		if (audit_tail_seal(begin, (size_t)(end - begin), &head.records, head.hash))
			break;
		head.records = 0;
		end = begin > text ? begin - 1 : NULL;
	}
	*ret = head;
	return 0;
}
