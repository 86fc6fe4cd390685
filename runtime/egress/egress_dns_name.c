/*
 * Owns names: their wire form, text and comparison. Knows nothing of messages beyond the
 * compression of names in them.
 */
#include <errno.h>
#include <string.h>

#include "egress/egress_dns.h"

#define POINTER_BITS 0xc0
#define POINTER_MASK 0x3fff

static uint8_t fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static bool plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Room for the root's zero byte is kept. */
static bool add_label(struct dns_name *name, const uint8_t *label, size_t n)
{
	size_t i;

	if (n < 1 || n > DNS_LABEL_MAX || name->len + 1 + n + 1 > DNS_NAME_MAX)
		return false;
	name->wire[name->len++] = (uint8_t)n;
	for (i = 0; i < n; i++)
		name->wire[name->len++] = fold(label[i]);
	return true;
}

int dns_name_from_bytes(const uint8_t *text, size_t len, struct dns_name *ret)
{
	struct dns_name name = { .len = 0 };
	size_t start = 0, i;

	if (len && text[len - 1] == '.')
		len--;
	if (!len)
		return -EINVAL;
	for (i = 0; i <= len; i++) {
		if (i < len && text[i] != '.') {
			if (text[i] <= ' ' || text[i] == 0x7f)
				return -EINVAL;
			continue;
		}
		if (!add_label(&name, text + start, i - start))
			return -EINVAL;
		start = i + 1;
	}
	name.wire[name.len++] = 0;
	*ret = name;
	return 0;
}

int dns_name_from_text(const char *text, struct dns_name *ret)
{
	return dns_name_from_bytes((const uint8_t *)text, strlen(text), ret);
}

const char *dns_name_text(const struct dns_name *name, char buf[DNS_TEXT_SIZE])
{
	size_t at = 0, i, n;
	char *p = buf;
	uint8_t c;

	while (at < name->len && (n = name->wire[at++]) > 0) {
		if (p > buf)
			*p++ = '.';
		for (i = 0; i < n; i++) {
			c = name->wire[at++];
			if (c <= ' ' || c >= 0x7f) {
				*p++ = '\\';
				*p++ = (char)('0' + c / 100);
				*p++ = (char)('0' + c / 10 % 10);
				*p++ = (char)('0' + c % 10);
				continue;
			}
			if (c == '.' || c == '\\')
				*p++ = '\\';
			*p++ = (char)c;
		}
	}
	if (p == buf && name->len)
		*p++ = '.';
	*p = '\0';
	return buf;
}

bool dns_name_equal(const struct dns_name *a, const struct dns_name *b)
{
	return a->len == b->len && memcmp(a->wire, b->wire, a->len) == 0;
}

bool dns_name_is_host(const struct dns_name *name)
{
	size_t at = 0, i, n;

	if (name->len <= 1)
		return false;
	while ((n = name->wire[at++]) > 0)
		for (i = 0; i < n; i++)
			if (!plain(name->wire[at++]))
				return false;
	return true;
}

int dns_name_read(const uint8_t *msg, size_t len, size_t *offset, struct dns_name *ret)
{
	struct dns_name name = { .len = 0 };
	size_t at = *offset, barrier = *offset, end = 0, n;

	for (;;) {
		if (at >= len)
			return -EBADMSG;
		n = msg[at];
		if ((n & POINTER_BITS) == POINTER_BITS) {
			if (at + 1 >= len)
				return -EBADMSG;
			if (!end)
				end = at + 2;
			at = (n << 8 | msg[at + 1]) & POINTER_MASK;
			/* Strictly before all that was read: no loop, and no name made of a header.
			 */
			if (at >= barrier || at < DNS_HEADER)
				return -EBADMSG;
			barrier = at;
			continue;
		}
		at++;
		if (n == 0)
			break;
		if (n > DNS_LABEL_MAX || n > len - at || !add_label(&name, msg + at, n))
			return -EBADMSG;
		at += n;
	}
	name.wire[name.len++] = 0;
	*offset = end ? end : at;
	*ret = name;
	return 0;
}
