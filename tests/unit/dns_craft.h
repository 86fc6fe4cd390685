/*
 * Writes DNS messages by hand for the tests, right and wrong ones alike: nothing is checked,
 * and every count and length can be a lie.
 */
#pragma once

#include <stdint.h>
#include <string.h>

struct craft {
	uint8_t b[65536];
	size_t len;
};

static inline void craft_bytes(struct craft *c, const void *data, size_t n)
{
	memcpy(c->b + c->len, data, n);
	c->len += n;
}

static inline void craft_16(struct craft *c, unsigned v)
{
	uint8_t b[2] = { (uint8_t)(v >> 8), (uint8_t)v };

	craft_bytes(c, b, 2);
}

static inline void craft_32(struct craft *c, uint32_t v)
{
	craft_16(c, v >> 16);
	craft_16(c, v & 0xffff);
}

/* flags as on the wire, then the four counts */
static inline void craft_header(struct craft *c, unsigned id, unsigned flags, unsigned qd, unsigned an, unsigned ns,
				unsigned ar)
{
	c->len = 0;
	craft_16(c, id);
	craft_16(c, flags);
	craft_16(c, qd);
	craft_16(c, an);
	craft_16(c, ns);
	craft_16(c, ar);
}

/* "a.b.c" as labels with the end; "" is the root; "@12" is a pointer to offset 12. */
static inline void craft_name(struct craft *c, const char *text)
{
	const char *dot;
	unsigned at = 0;

	if (*text == '@') {
		while (*++text)
			at = at * 10 + (unsigned)(*text - '0');
		craft_16(c, 0xc000 | at);
		return;
	}
	while (*text) {
		dot = strchr(text, '.');
		if (!dot)
			dot = text + strlen(text);
		c->b[c->len++] = (uint8_t)(dot - text);
		craft_bytes(c, text, (size_t)(dot - text));
		text = *dot ? dot + 1 : dot;
	}
	c->b[c->len++] = 0;
}

static inline void craft_question(struct craft *c, const char *name, unsigned type)
{
	craft_name(c, name);
	craft_16(c, type);
	craft_16(c, 1);
}

/* Without its data. */
static inline void craft_record(struct craft *c, const char *name, unsigned type, uint32_t ttl, unsigned size)
{
	craft_name(c, name);
	craft_16(c, type);
	craft_16(c, 1);
	craft_32(c, ttl);
	craft_16(c, size);
}

static inline void craft_a(struct craft *c, const char *name, uint32_t ttl, const char *four)
{
	craft_record(c, name, 1, ttl, 4);
	craft_bytes(c, four, 4);
}

static inline void craft_aaaa(struct craft *c, const char *name, uint32_t ttl, const char *sixteen)
{
	craft_record(c, name, 28, ttl, 16);
	craft_bytes(c, sixteen, 16);
}

static inline void craft_cname(struct craft *c, const char *name, uint32_t ttl, const char *target)
{
	size_t at;

	craft_record(c, name, 5, ttl, 0);
	at = c->len;
	craft_name(c, target);
	c->b[at - 2] = (uint8_t)((c->len - at) >> 8);
	c->b[at - 1] = (uint8_t)(c->len - at);
}

static inline void craft_opt(struct craft *c, unsigned size, uint32_t ttl)
{
	craft_name(c, "");
	craft_16(c, 41);
	craft_16(c, size);
	craft_32(c, ttl);
	craft_16(c, 0);
}
