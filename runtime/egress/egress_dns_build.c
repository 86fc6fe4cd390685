/*
 * Owns the writing of DNS messages. Answers are written anew from what was read and judged,
 * never passed on: what a client gets is what its packets may reach, and nothing else of a
 * server's bytes goes into the container.
 */
#include <assert.h>
#include <string.h>

#include "egress/egress_dns.h"

#define FLAG_QR	     0x8000u
#define FLAG_TC	     0x0200u
#define FLAG_RD	     0x0100u
#define FLAG_RA	     0x0080u
#define FLAG_CD	     0x0010u
#define POINTER	     0xc000u
#define OPTION_EDE   15
#define OPT_FIXED    11
#define EDE_TEXT_MAX 128

struct writer {
	uint8_t *out;
	size_t len, cap;
	bool full;
};

static void put(struct writer *w, const void *data, size_t n)
{
	if (w->full || n > w->cap - w->len) {
		w->full = true;
		return;
	}
	if (n)
		memcpy(w->out + w->len, data, n);
	w->len += n;
}

static void put16(struct writer *w, unsigned v)
{
	uint8_t b[2] = { (uint8_t)(v >> 8), (uint8_t)v };

	put(w, b, sizeof(b));
}

static void put32(struct writer *w, uint32_t v)
{
	put16(w, v >> 16);
	put16(w, v & 0xffff);
}

static void patch16(struct writer *w, size_t at, unsigned v)
{
	w->out[at] = (uint8_t)(v >> 8);
	w->out[at + 1] = (uint8_t)v;
}

static void put_header(struct writer *w, uint16_t id, unsigned flags, unsigned questions)
{
	put16(w, id);
	put16(w, flags);
	put16(w, questions);
	put16(w, 0);
	put16(w, 0);
	put16(w, 0);
}

/* Header and question of an answer. */
static void put_start(struct writer *w, const struct dns_query *q, unsigned rcode)
{
	unsigned flags = FLAG_QR | FLAG_RA | (rcode & 0xf);

	flags |= q->recursion ? FLAG_RD : 0;
	flags |= q->no_check ? FLAG_CD : 0;
	put_header(w, q->id, flags, q->name.len ? 1 : 0);
	if (!q->name.len)
		return;
	put(w, q->spelled, q->name.len);
	put16(w, q->type);
	put16(w, q->class);
}

static size_t ede_text_len(const char *text)
{
	return text ? strnlen(text, EDE_TEXT_MAX) : 0;
}

/* The OPT record, with a reason if there is one. */
static void put_edns(struct writer *w, unsigned rcode, enum dns_ede ede, const char *text)
{
	size_t n = ede_text_len(text);

	put(w, "", 1);
	put16(w, DNS_TYPE_OPT);
	put16(w, DNS_UDP_MAX);
	put32(w, (uint32_t)(rcode >> 4) << 24);
	if (ede == DNS_EDE_NONE) {
		put16(w, 0);
	} else {
		put16(w, (unsigned)(4 + 2 + n));
		put16(w, OPTION_EDE);
		put16(w, (unsigned)(2 + n));
		put16(w, (unsigned)ede);
		put(w, text, n);
	}
	patch16(w, 10, 1);
}

size_t dns_build_query(uint16_t id, const struct dns_name *name, uint16_t type, bool edns,
		       uint8_t *out, size_t cap)
{
	struct writer w = { .out = out, .cap = cap };

	assert(cap >= DNS_UDP_MIN && name->len >= 1);
	put_header(&w, id, FLAG_RD, 1);
	put(&w, name->wire, name->len);
	put16(&w, type);
	put16(&w, DNS_CLASS_IN);
	if (edns)
		put_edns(&w, 0, DNS_EDE_NONE, NULL);
	assert(!w.full);
	return w.len;
}

size_t dns_build_error(const struct dns_query *q, unsigned rcode, enum dns_ede ede,
		       const char *text, uint8_t *out, size_t cap)
{
	struct writer w = { .out = out, .cap = cap };

	assert(cap >= DNS_UDP_MIN);
	put_start(&w, q, rcode);
	if (q->edns)
		put_edns(&w, rcode, ede, text);
	/* 12 + 259 + 11 + 6 + EDE_TEXT_MAX bytes always fit. */
	assert(!w.full);
	return w.len;
}

static void put_record(struct writer *w, unsigned owner, unsigned type, uint32_t ttl, size_t size)
{
	put16(w, POINTER | owner);
	put16(w, type);
	put16(w, DNS_CLASS_IN);
	put32(w, ttl);
	put16(w, (unsigned)size);
}

size_t dns_build_reply(const struct dns_query *q, const struct dns_reply *r, uint32_t ttl_max,
		       enum dns_ede ede, const char *text, uint8_t *out, size_t cap)
{
	struct writer w = { .out = out, .cap = cap };
	unsigned owner = DNS_HEADER; /* where the name that the next record belongs to stands */
	size_t question, i;

	assert(cap >= DNS_UDP_MIN && q->name.len >= 1);
	put_start(&w, q, r->rcode);
	question = w.len;
	/* Room for the OPT record, which stands last. */
	if (q->edns)
		w.cap -= OPT_FIXED + (ede == DNS_EDE_NONE ? 0 : 6 + ede_text_len(text));
	for (i = 0; i < r->n_chain; i++) {
		put_record(&w, owner, DNS_TYPE_CNAME,
			   ttl_max < r->chain[i].ttl ? ttl_max : r->chain[i].ttl,
			   r->chain[i].target.len);
		/* A pointer reaches 16 KiB far; 16 names end before. */
		owner = (unsigned)w.len;
		put(&w, r->chain[i].target.wire, r->chain[i].target.len);
	}
	for (i = 0; i < r->n_addresses; i++) {
		const struct dns_address *a = &r->addresses[i];

		put_record(&w, owner, a->v6 ? DNS_TYPE_AAAA : DNS_TYPE_A,
			   ttl_max < a->ttl ? ttl_max : a->ttl, a->v6 ? 16 : 4);
		put(&w, a->bytes, a->v6 ? 16 : 4);
	}
	for (i = 0; i < r->n_services; i++) {
		const struct dns_service *s = &r->services[i];

		put_record(&w, owner, DNS_TYPE_SRV, ttl_max < s->ttl ? ttl_max : s->ttl,
			   6 + (size_t)s->target.len);
		put16(&w, s->priority);
		put16(&w, s->weight);
		put16(&w, s->port);
		put(&w, s->target.wire, s->target.len);
	}
	if (w.full) {
		w.len = question;
		patch16(&w, 2, (unsigned)(out[2] << 8 | out[3]) | FLAG_TC);
	} else {
		patch16(&w, 6, (unsigned)(r->n_chain + r->n_addresses + r->n_services));
	}
	w.full = false;
	w.cap = cap;
	if (q->edns)
		put_edns(&w, r->rcode, ede, text);
	assert(!w.full);
	return w.len;
}
