/*
 * Owns which denials belong together and which rule would allow them: the narrowest, never a
 * wildcard, and none for what lies below every rule. What it reads came from inside the
 * container: a name that no rule could have is only counted.
 */
#include "container/suggest.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit_read.h"
#include "audit/audit_value.h"
#include "egress/egress.h"
#include "egress/egress_names.h"
#include "util/text.h"

static const char special[] = "a metadata service, the link, loopback, a group or a reserved range: nothing is suggested that opens those";
static const char of_host[] = "an address of this host: nothing is suggested that opens those";
static const char sockets[] = "raw, packet and other sockets that no rule could bind are never had";
static const char no_name[] = "no rule can have this name";
static const char by_request[] = "the policy allows it: the annotation org.agentrun.egress.allow or an update took it away";
static const char host_guess[] = "whatever is sent to this host can leave; a lookup has no port, 443 is a guess";
static const char host_port[] = "whatever is sent to this port of the host can leave";
static const char unchecked[] = "the check of the TLS server name: other sites at the same addresses can be reached, too";
static const char public[] = "whatever is sent to this address can leave, whoever has it by then; where a name leads there, a host is the better rule";
static const char private[] = "an address of a private network: what answers there, and trusts its neighbours, can be reached";

void suggestions_done(struct suggestions *s)
{
	arena_done(&s->arena);
	free(s->hosts);
	*s = SUGGESTIONS_NULL;
}

static bool same_text(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return str_eq(a, b);
}

/* The rule of an entry, to be compared with the policy. */
static bool is_allowed(struct suggestions *s, const struct suggestion *e)
{
	struct policy_rule rule;
	struct policy_ports port = { .first = e->ports[0], .last = e->ports[0] };

	if (!s->now || e->by_address || policy_rule_read(e->host ? e->host : e->cidr, &s->arena, &rule) < 0)
		return false;
	rule.ports = &port;
	rule.n_ports = e->n_ports ? 1 : 0;
	rule.protocol = !e->protocol ? 0 : str_eq(e->protocol, "udp") ? IPPROTO_UDP : IPPROTO_TCP;
	return policy_profile_opens(s->now, &rule);
}

static void add_port(struct suggestion *e, uint16_t port)
{
	size_t i;

	for (i = 0; i < e->n_ports; i++)
		if (e->ports[i] == port)
			return;
	if (e->n_ports < SUGGEST_PORTS_MAX)
		e->ports[e->n_ports++] = port;
}

/* One rule for all ports of a target; what has none is told apart by its text. */
static bool belongs(const struct suggestion *a, const struct suggestion *b)
{
	if (!a->host && !a->cidr)
		return !b->host && !b->cidr && str_eq(a->what, b->what) && str_eq(a->why, b->why);
	return same_text(a->host, b->host) && same_text(a->cidr, b->cidr) && same_text(a->protocol, b->protocol) &&
	       a->by_address == b->by_address && !a->n_ports == !b->n_ports;
}

static int put(struct suggestions *s, struct suggestion *e, struct error *err)
{
	size_t i;

	if ((e->host || e->cidr) && is_allowed(s, e)) {
		e->host = e->cidr = NULL;
		e->why = by_request;
	}
	for (i = 0; i < s->n; i++) {
		if (!belongs(&s->items[i], e))
			continue;
		s->items[i].count += e->count;
		if (e->n_ports)
			add_port(&s->items[i], e->ports[0]);
		return 0;
	}
	if (s->n >= SUGGEST_ENTRIES_MAX) {
		s->others += e->count;
		return 0;
	}
	if (!s->items)
		s->items = arena_calloc(&s->arena, SUGGEST_ENTRIES_MAX, sizeof(*s->items));
	if (!s->items)
		return error_oom(err);
	s->items[s->n++] = *e;
	return 0;
}

/* The text is kept, printable. */
static const char *keep(struct suggestions *s, const struct buf *b)
{
	return buf_ok(b) ? arena_strdup(&s->arena, b->data ? b->data : "") : NULL;
}

/* A log can hold anything, and a terminal obeys much. */
static const char *printable(struct suggestions *s, const char *text)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	text_print(&b, text, strlen(text), false);
	return keep(s, &b);
}

static const char *describe(struct suggestions *s, const struct suggest_denial *d)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	text_print(&b, d->what, strlen(d->what), false);
	if (d->name) {
		buf_adds(&b, " ");
		text_print(&b, d->name, strlen(d->name), false);
	}
	if (d->address) {
		buf_adds(&b, strchr(d->address, ':') ? " [" : " ");
		text_print(&b, d->address, strlen(d->address), false);
		buf_adds(&b, strchr(d->address, ':') ? "]" : "");
	}
	if (d->port)
		buf_addf(&b, ":%u", d->port);
	if (d->protocol) {
		buf_adds(&b, " ");
		text_print(&b, d->protocol, strlen(d->protocol), false);
	}
	return keep(s, &b);
}

static bool read_address(const char *text, uint8_t ret[16])
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	uint8_t raw[16];

	if (inet_pton(family, text, raw) != 1)
		return false;
	egress_rules_map(family, raw, ret);
	return true;
}

static bool is_host(const struct suggestions *s, const uint8_t address[16])
{
	size_t i;

	for (i = 0; i < s->n_hosts; i++)
		if (memcmp(s->hosts[i], address, 16) == 0)
			return true;
	return false;
}

/* A rule for the name, if there can be one. */
static bool by_host(struct suggestions *s, const char *name, struct suggestion *e)
{
	struct policy_rule rule;

	if (!name || strchr(name, '*') || strchr(name, '/') || strchr(name, ':') ||
	    policy_rule_read(name, &s->arena, &rule) < 0 || !rule.host)
		return false;
	e->host = rule.host;
	return true;
}

static int by_address(struct suggestions *s, const struct suggest_denial *d, struct suggestion *e, struct error *err)
{
	uint8_t address[16];
	unsigned bits;

	if (!d->address || !read_address(d->address, address)) {
		e->why = sockets;
		return 0;
	}
	switch (egress_name_address_kind(address, &bits)) {
	case EGRESS_ADDRESS_GOOD:
		e->why = public;
		break;
	case EGRESS_ADDRESS_PRIVATE:
		e->why = private;
		break;
	default:
		e->why = special;
		return 0;
	}
	if (is_host(s, address)) {
		e->why = of_host;
		return 0;
	}
	e->cidr = arena_printf(&s->arena, "%s/%d", d->address, strchr(d->address, ':') ? 128 : 32);
	return e->cidr ? 0 : error_oom(err);
}

static bool is_one_of(const char *text, const char *const *list)
{
	for (; text && *list; list++)
		if (str_eq(text, *list))
			return true;
	return false;
}

/* A lookup, or a connection whose server name was looked at. False: nothing that a rule is about. */
static bool by_name(struct suggestions *s, const struct suggest_denial *d, struct suggestion *e)
{
	static const char *const hidden[] = { "no-name", "encrypted", "not-tls", NULL };

	if (str_eq(d->what, "sni")) {
		e->by_address = is_one_of(d->reason, hidden);
		if (!e->by_address && !same_text(d->reason, "denied"))
			return false;
		e->why = e->by_address ? unchecked : host_port;
	} else {
		if (!same_text(d->reason, "denied"))
			return false;
		e->why = host_guess;
		add_port(e, 443);
	}
	e->protocol = "tcp";
	if (!by_host(s, d->name, e)) {
		e->by_address = false;
		e->why = no_name;
	}
	return true;
}

int suggest_add(struct suggestions *s, const struct suggest_denial *d, struct error *err)
{
	static const char *const flows[] = { "connect", "send", "packet", NULL };
	static const char *const names[] = { "name", "sni", NULL };
	struct suggestion e = { .what = describe(s, d), .count = 1 + d->more };
	bool has_ports = same_text(d->protocol, "tcp") || same_text(d->protocol, "udp");
	int r = 0;

	if (!e.what)
		return error_oom(err);
	s->denials += e.count;
	if (d->port)
		add_port(&e, d->port);
	if (is_one_of(d->what, names) && !(str_eq(d->what, "name") && d->address)) {
		if (!by_name(s, d, &e))
			return 0;
	} else if (str_eq(d->what, "name")) {
		/* An answer that was kept back: a range that has the address makes it a good one. */
		r = by_address(s, d, &e, err);
	} else if (is_one_of(d->what, flows)) {
		e.protocol = has_ports ? (same_text(d->protocol, "udp") ? "udp" : "tcp") : NULL;
		e.why = host_port;
		if (!has_ports)
			e.n_ports = 0;
		if (!has_ports || !by_host(s, d->name, &e))
			r = by_address(s, d, &e, err);
	} else if (str_eq(d->what, "call")) {
		e.is_call = true;
		e.why = d->allowed_by ? printable(s, d->allowed_by) :
					"no shipped seccomp profile allows it; seccomp.profile can name a file of yours";
		if (e.why && d->allowed_by)
			e.why = arena_printf(&s->arena, "seccomp.profile as %s would allow it, and what else that allows", e.why);
		if (!e.why)
			return error_oom(err);
	} else {
		e.why = sockets;
	}
	return r < 0 ? r : put(s, &e, err);
}

static int read_denied(struct suggestions *s, const struct audit_record *rec, struct error *err)
{
	_cleanup_buf_ struct buf name = BUF_NULL;
	struct suggest_denial d = { .what = audit_value_string(rec->json, "what"),
				    .address = audit_value_string(rec->json, "address"),
				    .protocol = audit_value_string(rec->json, "protocol"),
				    .reason = audit_value_string(rec->json, "reason") };
	const struct json *text = json_member(rec->json, "name");
	uint64_t n;

	if (rec->type == AUDIT_CALL_DENIED) {
		d.what = "call";
		d.allowed_by = audit_value_string(rec->json, "allowedBy");
		text = json_member(rec->json, "call");
	}
	if (!d.what)
		return 0;
	if (text && audit_value_bytes(text, &name) && buf_ok(&name) && name.len == strlen(name.data))
		d.name = name.data;
	if (audit_value_u64(rec->json, "port", &n) && n <= UINT16_MAX)
		d.port = (uint16_t)n;
	/* Of calls: of this very kind. */
	if (audit_value_u64(rec->json, "suppressed", &n)) {
		if (rec->type == AUDIT_CALL_DENIED)
			d.more = n;
		else
			s->uncounted += n;
	}
	return suggest_add(s, &d, err);
}

static int read_create(struct suggestions *s, const struct audit_record *rec, struct error *err)
{
	const char *profile = audit_value_string(rec->json, "profile"), *file = audit_value_string(rec->json, "policyFile");

	s->profile = printable(s, profile ? profile : "default");
	s->file = printable(s, !file || str_eq(file, POLICY_BUILTIN_NAME) ? POLICY_FILE : file);
	return s->profile && s->file ? 0 : error_oom(err);
}

int suggest_read(int dirfd, const char *log, const struct policy_profile *profile, uint64_t records,
		 struct suggestions *ret, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader reader = AUDIT_READER_NULL;
	struct audit_record rec;
	uint64_t n = 0;
	int r;

	assert(log && ret && err);
	ret->now = profile;
	ret->profile = "default";
	ret->file = POLICY_FILE;
	r = egress_host_addresses(&ret->hosts, &ret->n_hosts, err);
	if (r < 0)
		return r;
	r = audit_reader_open(&reader, dirfd, log, false, err);
	if (r > 0)
		return error_text(err, -ENOENT, "audit log %s is not there", log);
	while (r >= 0 && (records == 0 || n++ < records)) {
		r = audit_reader_next(&reader, &rec, err);
		if (r <= 0)
			break;
		if (rec.bad || !rec.json)
			continue;
		if (rec.type == AUDIT_CREATE)
			r = read_create(ret, &rec, err);
		else if (rec.type == AUDIT_EGRESS_DENIED || rec.type == AUDIT_CALL_DENIED)
			r = read_denied(ret, &rec, err);
	}
	return r < 0 ? r : 0;
}
