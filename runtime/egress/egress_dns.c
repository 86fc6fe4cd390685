/*
 * Owns the reading of DNS messages. Every byte comes from somebody who may be hostile: the
 * container asks, and whoever can send to us answers. Nothing is taken from a message but
 * what hangs on the question, and a message that is broken anywhere counts as a whole.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "egress/egress_dns.h"

#define FLAG_QR	    0x8000u
#define FLAG_TC	    0x0200u
#define FLAG_RD	    0x0100u
#define FLAG_CD	    0x0010u
#define OPCODE_MASK 0x7800u
#define RCODE_MASK  0x000fu

struct header {
	uint16_t id, flags, questions, answers, authorities, extras;
};

struct record {
	struct dns_name owner;
	uint16_t type, class;
	uint32_t ttl;
	size_t data, size; /* in the message */
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void get_header(const uint8_t *msg, struct header *ret)
{
	ret->id = get16(msg);
	ret->flags = get16(msg + 2);
	ret->questions = get16(msg + 4);
	ret->answers = get16(msg + 6);
	ret->authorities = get16(msg + 8);
	ret->extras = get16(msg + 10);
}

static int get_question(const uint8_t *msg, size_t len, size_t *offset, struct dns_name *name,
			uint16_t *type, uint16_t *class)
{
	size_t at = *offset;

	if (dns_name_read(msg, len, &at, name) < 0 || len - at < 4)
		return -EBADMSG;
	*type = get16(msg + at);
	*class = get16(msg + at + 2);
	*offset = at + 4;
	return 0;
}

static int get_record(const uint8_t *msg, size_t len, size_t *offset, struct record *ret)
{
	size_t at = *offset;

	if (dns_name_read(msg, len, &at, &ret->owner) < 0 || len - at < 10)
		return -EBADMSG;
	ret->type = get16(msg + at);
	ret->class = get16(msg + at + 2);
	ret->ttl = get32(msg + at + 4);
	/* RFC 2181: with the highest bit set it means zero; the OPT record has flags there. */
	if (ret->ttl > DNS_TTL_MAX && ret->type != DNS_TYPE_OPT)
		ret->ttl = 0;
	ret->size = get16(msg + at + 8);
	ret->data = at + 10;
	if (ret->size > len - ret->data)
		return -EBADMSG;
	*offset = ret->data + ret->size;
	return 0;
}

int dns_query_parse(const uint8_t *msg, size_t len, struct dns_query *ret)
{
	struct header h;
	struct record opt;
	size_t at = DNS_HEADER;

	memset(ret, 0, sizeof(*ret));
	ret->udp_size = DNS_UDP_MIN;
	if (len < DNS_HEADER)
		return -EBADMSG;
	get_header(msg, &h);
	/* An answer to an answer would be the start of a loop between two servers. */
	if (h.flags & FLAG_QR)
		return -EBADMSG;
	ret->id = h.id;
	ret->recursion = h.flags & FLAG_RD;
	ret->no_check = h.flags & FLAG_CD;
	if (h.flags & OPCODE_MASK)
		return DNS_NOTIMP;
	if (h.questions != 1 || h.answers || h.authorities || h.extras > 1)
		return DNS_FORMERR;
	if (get_question(msg, len, &at, &ret->name, &ret->type, &ret->class) < 0) {
		ret->name.len = 0;
		return DNS_FORMERR;
	}
	/* No pointer is possible in the first name, so its bytes stand here one to one. */
	assert(at == DNS_HEADER + (size_t)ret->name.len + 4);
	memcpy(ret->spelled, msg + DNS_HEADER, ret->name.len);
	if (h.extras) {
		if (get_record(msg, len, &at, &opt) < 0 || opt.type != DNS_TYPE_OPT ||
		    opt.owner.len != 1)
			return DNS_FORMERR;
		ret->edns = true;
		/* The class of an OPT record is a size. */
		if (opt.class > DNS_UDP_MIN)
			ret->udp_size = opt.class;
		if (opt.ttl >> 16 & 0xff)
			return DNS_BADVERS;
	}
	return at == len ? 0 : DNS_FORMERR;
}

static int add_address(const uint8_t *msg, const struct record *rec, struct dns_reply *r)
{
	struct dns_address *a;
	size_t size = rec->type == DNS_TYPE_AAAA ? 16 : 4;

	if (rec->size != size)
		return -EBADMSG;
	if (r->n_addresses == DNS_ADDRESSES_MAX) {
		r->skipped++;
		return 0;
	}
	a = &r->addresses[r->n_addresses++];
	memset(a, 0, sizeof(*a));
	a->v6 = rec->type == DNS_TYPE_AAAA;
	a->ttl = rec->ttl;
	memcpy(a->bytes, msg + rec->data, size);
	return 0;
}

static int add_service(const uint8_t *msg, size_t len, const struct record *rec,
		       struct dns_reply *r)
{
	struct dns_service s = { .ttl = rec->ttl };
	size_t at = rec->data + 6;

	if (rec->size < 7 || dns_name_read(msg, len, &at, &s.target) < 0 ||
	    at != rec->data + rec->size)
		return -EBADMSG;
	s.priority = get16(msg + rec->data);
	s.weight = get16(msg + rec->data + 2);
	s.port = get16(msg + rec->data + 4);
	if (r->n_services == DNS_SERVICES_MAX)
		r->skipped++;
	else
		r->services[r->n_services++] = s;
	return 0;
}

static int add_link(const uint8_t *msg, size_t len, const struct record *rec,
		    const struct dns_name *start, struct dns_reply *r)
{
	struct dns_name target;
	size_t at = rec->data, i;

	if (dns_name_read(msg, len, &at, &target) < 0 || at != rec->data + rec->size ||
	    r->n_chain == DNS_CHAIN_MAX)
		return -EBADMSG;
	if (dns_name_equal(&target, start))
		return -EBADMSG;
	for (i = 0; i < r->n_chain; i++)
		if (dns_name_equal(&target, &r->chain[i].target))
			return -EBADMSG;
	r->chain[r->n_chain].target = target;
	r->chain[r->n_chain++].ttl = rec->ttl;
	return 0;
}

static const struct dns_name *last_name(const struct dns_name *start, const struct dns_reply *r)
{
	return r->n_chain ? &r->chain[r->n_chain - 1].target : start;
}

/*
 * One pass over the answers with the chain as far as it is known. Servers put them in order, so
 * that the first pass is nearly always the last; the caller repeats while the chain grows.
 */
static int follow(const uint8_t *msg, size_t len, size_t at, size_t answers,
		  const struct dns_name *name, uint16_t type, struct dns_reply *r)
{
	struct record rec;
	int e = 0;

	r->n_addresses = r->n_services = r->skipped = 0;
	for (; answers > 0; answers--) {
		if (get_record(msg, len, &at, &rec) < 0)
			return -EBADMSG;
		if (rec.class != DNS_CLASS_IN || !dns_name_equal(&rec.owner, last_name(name, r)))
			continue;
		if (rec.type == DNS_TYPE_CNAME) {
			/* What was found under this name so far was no data of an alias. */
			if (r->n_addresses || r->n_services)
				return -EBADMSG;
			e = add_link(msg, len, &rec, name, r);
		} else if (rec.type == type && (type == DNS_TYPE_A || type == DNS_TYPE_AAAA)) {
			e = add_address(msg, &rec, r);
		} else if (rec.type == type && type == DNS_TYPE_SRV) {
			e = add_service(msg, len, &rec, r);
		}
		if (e < 0)
			return e;
	}
	return 0;
}

/* Every record of every section must be whole; takes the upper bits of the rcode from the OPT
 * record. */
static int check_records(const uint8_t *msg, size_t len, size_t at, const struct header *h,
			 struct dns_reply *r)
{
	size_t count = (size_t)h->answers + h->authorities + h->extras;
	struct record rec;
	bool edns = false;

	if (count > DNS_RECORDS_MAX)
		return -EBADMSG;
	for (; count > 0; count--) {
		if (get_record(msg, len, &at, &rec) < 0)
			return -EBADMSG;
		if (rec.type != DNS_TYPE_OPT)
			continue;
		if (edns || count > h->extras || rec.owner.len != 1)
			return -EBADMSG;
		edns = true;
		r->rcode |= rec.ttl >> 24 << 4;
	}
	return 0;
}

int dns_reply_parse(const uint8_t *msg, size_t len, uint16_t id, const struct dns_name *name,
		    uint16_t type, struct dns_reply *ret)
{
	struct header h;
	struct dns_name asked;
	uint16_t asked_type, asked_class;
	size_t at = DNS_HEADER, known;
	int r;

	if (len < DNS_HEADER)
		return DNS_E_OTHER;
	get_header(msg, &h);
	if (h.id != id || !(h.flags & FLAG_QR) || (h.flags & OPCODE_MASK))
		return DNS_E_OTHER;
	ret->rcode = h.flags & RCODE_MASK;
	ret->truncated = false;
	ret->n_chain = ret->n_addresses = ret->n_services = ret->skipped = 0;
	/* A server that does not know EDNS may not even repeat the question. */
	if (h.questions == 0 && (ret->rcode == DNS_FORMERR || ret->rcode == DNS_NOTIMP))
		return 0;
	if (h.questions != 1 ||
	    get_question(msg, len, &at, &asked, &asked_type, &asked_class) < 0 ||
	    !dns_name_equal(&asked, name) || asked_type != type || asked_class != DNS_CLASS_IN)
		return DNS_E_OTHER;
	if (h.flags & FLAG_TC) {
		ret->truncated = true;
		return 0;
	}
	r = check_records(msg, len, at, &h, ret);
	if (r < 0)
		return r;
	do {
		known = ret->n_chain;
		r = follow(msg, len, at, h.answers, name, type, ret);
	} while (r == 0 && ret->n_chain > known);
	return r;
}
