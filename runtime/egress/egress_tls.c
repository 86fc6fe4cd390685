/*
 * Owns the reading of a ClientHello: records to one handshake message, then its extensions.
 */
#include <errno.h>
#include <string.h>

#include "egress/egress_tls.h"
#include "util/cleanup.h"

#define RECORD_HEADER	 5
#define RECORD_HANDSHAKE 22
#define RECORD_CHANGE	 20
#define RECORD_MAX	 16384
#define HANDSHAKE_HEADER 4
#define CLIENT_HELLO	 1
#define SERVER_HELLO	 2
#define SESSION_ID_MAX	 32
#define RANDOM_SIZE	 32

enum extension {
	EXT_SERVER_NAME = 0,
	EXT_ALPN = 16,
	EXT_VERSIONS = 43,
	EXT_ECH = 0xfe0d,
	EXT_ESNI = 0xffce, /* what ECH was before */
};

#define SERVER_NAME_HOST 0

/* What is left to read of a field. A read beyond its end makes it bad for good. */
struct span {
	const uint8_t *p;
	size_t len;
	bool bad;
};

static const uint8_t *take(struct span *s, size_t n)
{
	const uint8_t *p = s->p;

	if (s->bad || n > s->len) {
		s->bad = true;
		return NULL;
	}
	s->p += n;
	s->len -= n;
	return p;
}

static unsigned take8(struct span *s)
{
	const uint8_t *p = take(s, 1);

	return p ? p[0] : 0;
}

static unsigned take16(struct span *s)
{
	const uint8_t *p = take(s, 2);

	return p ? (unsigned)(p[0] << 8 | p[1]) : 0;
}

/* A field of that many bytes; empty and bad when it is not there. */
static struct span take_span(struct span *s, size_t n)
{
	const uint8_t *p = take(s, n);

	return (struct span){ .p = p, .len = p ? n : 0, .bad = !p };
}

static int read_server_name(struct span ext, struct tls_hello *ret)
{
	struct span list = take_span(&ext, take16(&ext)), name;

	/* One entry: RFC 6066 forbids a second name of a type, and there is but one type. */
	if (list.bad || ext.len || take8(&list) != SERVER_NAME_HOST)
		return -EBADMSG;
	name = take_span(&list, take16(&list));
	/* A server may or may not take a last dot off: nobody sends one. */
	if (name.bad || list.len || !name.len || name.p[name.len - 1] == '.')
		return -EBADMSG;
	if (dns_name_from_bytes(name.p, name.len, &ret->name) < 0 || !dns_name_is_host(&ret->name))
		return -EBADMSG;
	return 0;
}

static int read_versions(struct span ext, struct tls_hello *ret)
{
	struct span list = take_span(&ext, take8(&ext));
	unsigned v;

	if (list.bad || ext.len || list.len < 2 || list.len % 2)
		return -EBADMSG;
	while (list.len) {
		v = take16(&list);
		/* Others are grease: values that mean nothing. */
		if (v >> 8 == 3 && v > ret->version)
			ret->version = (uint16_t)v;
	}
	return 0;
}

static int read_alpn(struct span ext, struct tls_hello *ret)
{
	struct span list = take_span(&ext, take16(&ext)), name;
	size_t used = 0, i;

	if (list.bad || ext.len || !list.len)
		return -EBADMSG;
	while (list.len) {
		name = take_span(&list, take8(&list));
		if (name.bad || !name.len)
			return -EBADMSG;
		if (used + (used > 0) + name.len + 1 > sizeof(ret->alpn))
			continue;
		if (used)
			ret->alpn[used++] = ',';
		for (i = 0; i < name.len; i++)
			ret->alpn[used++] =
				name.p[i] > ' ' && name.p[i] < 0x7f ? (char)name.p[i] : '?';
	}
	ret->alpn[used] = '\0';
	return 0;
}

static enum tls_verdict read_extensions(struct span all, struct tls_hello *ret)
{
	bool named = false, versions = false, alpn = false, ech = false;
	struct span ext;
	unsigned type;
	int r = 0;

	while (all.len && r == 0) {
		type = take16(&all);
		ext = take_span(&all, take16(&all));
		if (ext.bad)
			return TLS_OTHER;
		switch (type) {
		case EXT_SERVER_NAME:
			r = named ? -EBADMSG : read_server_name(ext, ret);
			named = true;
			break;
		case EXT_VERSIONS:
			r = versions ? -EBADMSG : read_versions(ext, ret);
			versions = true;
			break;
		case EXT_ALPN:
			r = alpn ? -EBADMSG : read_alpn(ext, ret);
			alpn = true;
			break;
		case EXT_ECH:
		case EXT_ESNI:
			ech = true;
			break;
		default:
			break;
		}
	}
	if (r < 0)
		return TLS_OTHER;
	if (ech)
		return TLS_ECH;
	return named ? TLS_SNI : TLS_NONE;
}

static enum tls_verdict read_hello(const uint8_t *body, size_t len, struct tls_hello *ret)
{
	struct span s = { .p = body, .len = len }, field;

	ret->version = (uint16_t)take16(&s);
	(void)take(&s, RANDOM_SIZE);
	field = take_span(&s, take8(&s));
	if (field.bad || field.len > SESSION_ID_MAX || ret->version >> 8 != 3)
		return TLS_OTHER;
	field = take_span(&s, take16(&s)); /* cipher suites */
	if (field.bad || !field.len || field.len % 2)
		return TLS_OTHER;
	field = take_span(&s, take8(&s)); /* compression methods */
	if (field.bad || !field.len)
		return TLS_OTHER;
	/* Before TLS 1.2 a hello could end here. */
	if (!s.len)
		return TLS_NONE;
	field = take_span(&s, take16(&s));
	if (field.bad || s.len)
		return TLS_OTHER;
	return read_extensions(field, ret);
}

static enum tls_verdict more(size_t need, struct tls_hello *ret)
{
	ret->need = need;
	return need > TLS_STREAM_MAX ? TLS_OTHER : TLS_MORE;
}

/* Type and length of the message, as soon as its first bytes are there. */
static bool message_ok(const uint8_t *message, size_t have, size_t *ret_len)
{
	if (have > 0 && message[0] != CLIENT_HELLO)
		return false;
	*ret_len = HANDSHAKE_HEADER;
	if (have >= HANDSHAKE_HEADER)
		*ret_len += (size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3];
	return *ret_len <= TLS_HELLO_MAX;
}

enum tls_verdict tls_hello_read(const uint8_t *data, size_t len, uint8_t *scratch,
				struct tls_hello *ret)
{
	size_t at = 0, have = 0, want = HANDSHAKE_HEADER, size, n;

	memset(ret, 0, sizeof(*ret));
	for (;;) {
		/* The type and the major version are judged as soon as they are there: other
		 * protocols are short. */
		if ((at < len && data[at] != RECORD_HANDSHAKE) ||
		    (at + 1 < len && data[at + 1] != 3))
			return TLS_OTHER;
		if (len - at < RECORD_HEADER)
			return more(at + RECORD_HEADER + (want - have), ret);
		size = (size_t)(data[at + 3] << 8 | data[at + 4]);
		if (size == 0 || size > RECORD_MAX)
			return TLS_OTHER;
		at += RECORD_HEADER;
		n = MIN(size, len - at);
		if (n > TLS_HELLO_MAX - have)
			n = TLS_HELLO_MAX - have;
		memcpy(scratch + have, data + at, n);
		if (!message_ok(scratch, have + n, &want))
			return TLS_OTHER;
		if (have + n >= want) {
			/* Something behind the hello in its record: no client does that before an
			 * answer. */
			if (have + size != want)
				return TLS_OTHER;
			ret->length = at + size;
			return read_hello(scratch + HANDSHAKE_HEADER, want - HANDSHAKE_HEADER, ret);
		}
		have += n;
		if (n < size)
			return more(len + (want - have), ret);
		at += size;
	}
}

enum tls_verdict tls_hello_read_second(const uint8_t *data, size_t len, uint8_t *scratch,
				       struct tls_hello *ret)
{
	static const uint8_t change[] = { RECORD_CHANGE, 3, 3, 0, 1, 1 };
	enum tls_verdict v;

	if (!len || data[0] != RECORD_CHANGE)
		return tls_hello_read(data, len, scratch, ret);
	memset(ret, 0, sizeof(*ret));
	if (memcmp(data, change, MIN(len, sizeof(change))) != 0)
		return TLS_OTHER;
	if (len < sizeof(change))
		return more(sizeof(change) + RECORD_HEADER + HANDSHAKE_HEADER, ret);
	v = tls_hello_read(data + sizeof(change), len - sizeof(change), scratch, ret);
	ret->need += v == TLS_MORE ? sizeof(change) : 0;
	ret->length += ret->length ? sizeof(change) : 0;
	return v;
}

enum tls_answer tls_answer_read(const uint8_t *data, size_t len, size_t *ret_need)
{
	/* SHA-256 of "HelloRetryRequest", in the place of the server's random number (RFC
	 * 8446, 4.1.3). */
	static const uint8_t retry[RANDOM_SIZE] = {
		0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
		0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
		0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
	};
	const size_t before = RECORD_HEADER + HANDSHAKE_HEADER + 2, all = before + RANDOM_SIZE;

	*ret_need = 1;
	if (!len)
		return TLS_ANSWER_MORE;
	/* An alert, most likely. */
	if (data[0] != RECORD_HANDSHAKE)
		return TLS_ANSWER_FINAL;
	*ret_need = RECORD_HEADER + 1;
	if (len <= RECORD_HEADER)
		return TLS_ANSWER_MORE;
	if (data[RECORD_HEADER] != SERVER_HELLO)
		return TLS_ANSWER_FINAL;
	if ((size_t)(data[3] << 8 | data[4]) < all - RECORD_HEADER)
		return TLS_ANSWER_BAD;
	*ret_need = all;
	if (len < all)
		return TLS_ANSWER_MORE;
	return memcmp(data + before, retry, sizeof(retry)) == 0 ? TLS_ANSWER_RETRY
								: TLS_ANSWER_FINAL;
}
