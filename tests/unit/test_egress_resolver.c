/*
 * The resolver between a container and its name servers, all in one network namespace of the
 * test's own: the test is the client and the servers, and turns the loop. What the servers
 * receive is what left the container.
 */
#include "dns_craft.h"
#include "egress/egress_resolver.h"
#include "egress/egress_resolver_listen.h"
#include "netns_world.h"
#include "tap.h"

#define SERVER "127.0.0.53"
#define SECOND "127.0.0.54"

static struct egress_names *names;
static struct egress_resolver *resolver;
static int udp = -EBADF, udp2 = -EBADF, tcp = -EBADF;
static struct craft c;
static struct dns_reply reply;
#define LONG_MS 15000 /* for what comes at once, but on a machine that is busy with others */

static struct {
	unsigned allowed, opened, forgotten;
	bool opened_before_answer;
} seen;
static struct {
	unsigned count[EGRESS_NAME_LIMITED + 1];
	char name[DNS_TEXT_SIZE], reason[80];
	size_t n;
} events;

static const struct egress_name_range https[] = { { 443, 443 } };
static const struct egress_name_rule rules[] = {
	{ .host = "a.example", .ports = https, .n_ports = 1 },
	{ .host = "*.wild.test", .ports = https, .n_ports = 1 },
};

static int allow(void *arg, const uint8_t address[16], unsigned set,
		 const struct egress_name_set *ports, uint64_t expires)
{
	seen.opened++;
	return 0;
}

static int forget(void *arg, const uint8_t address[16])
{
	seen.forgotten++;
	return 0;
}

static void on_event(void *arg, const struct egress_name_event *e)
{
	events.count[e->kind]++;
	events.n = e->n;
	snprintf(events.name, sizeof(events.name), "%s", e->name);
	snprintf(events.reason, sizeof(events.reason), "%s", e->reason ? e->reason : "");
}

static void begin(void)
{
	struct egress_names_config nc = { .rules = rules,
					  .n_rules = ELEMENTSOF(rules),
					  .ops = { .allow = allow, .forget = forget } };
	struct egress_resolver_config rc = { .event = on_event, .servers.n = 2 };
	struct error err = ERROR_NULL;

	resolver = egress_resolver_free(resolver);
	names = egress_names_free(names);
	memset(&seen, 0, sizeof(seen));
	memset(&events, 0, sizeof(events));
	(void)egress_server_from_text(SERVER, &rc.servers.server[0]);
	(void)egress_server_from_text(SECOND, &rc.servers.server[1]);
	if (egress_names_new(&nc, &names, &err) < 0)
		printf("# %s\n", err.text);
	rc.names = names;
	is_int(egress_resolver_new(&loop, &rc, &resolver, &err), 0, "a resolver");
}

/* A question on a new socket. */
static int ask(const char *name, unsigned type)
{
	int fd = joined("127.0.0.1", egress_resolver_ports(resolver).udp4, SOCK_DGRAM);

	craft_header(&c, 0x4242, 0x0100, 1, 0, 0, 1);
	craft_question(&c, name, type);
	craft_opt(&c, 1232, 0);
	(void)!send(fd, c.b, c.len, 0);
	return fd;
}

/* What the server got, into c; the sender in from. */
static bool served(int server, struct sockaddr_storage *from, socklen_t *len)
{
	ssize_t n;

	*len = sizeof(*from);
	if (!wait_for(server, LONG_MS))
		return false;
	n = recvfrom(server, c.b, sizeof(c.b), 0, (struct sockaddr *)from, len);
	c.len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static unsigned port_of(const struct sockaddr_storage *a)
{
	return ntohs(((const struct sockaddr_in *)a)->sin_port);
}

/* Turns the query in c into an answer with that many records. */
static void turn(unsigned answers, unsigned rcode)
{
	c.b[2] |= 0x80;
	c.b[3] = (uint8_t)(0x80 | rcode);
	c.b[7] = (uint8_t)answers;
	c.b[11] = 0;
	c.len -= 11; /* the OPT record */
}

static void reply_to(int server, const struct sockaddr_storage *to, socklen_t len)
{
	(void)!sendto(server, c.b, c.len, 0, (const struct sockaddr *)to, len);
}

/* The client's answer, parsed; its code, or -1 when none came. */
static int answered(int fd, const char *name, uint16_t type)
{
	struct dns_name n;
	uint8_t msg[4096];
	ssize_t len;

	(void)dns_name_from_text(name, &n);
	if (!wait_for(fd, LONG_MS))
		return -1;
	len = recv(fd, msg, sizeof(msg), 0);
	if (len < 0 || dns_reply_parse(msg, (size_t)len, 0x4242, &n, type, &reply) != 0)
		return -1;
	return (int)reply.rcode;
}

static bool silent(int server)
{
	settle();
	return recv(server, c.b, sizeof(c.b), 0) < 0;
}

static void test_denied(void)
{
	static const char *const denied[] = { "evil.example",	"x.a.example",
					      "a.example.evil", "wild.test",
					      "xwild.test",	"secret.data.evil.test",
					      "aexample",	"1.2.0.192.in-addr.arpa" };
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_AAAA, DNS_TYPE_TXT, DNS_TYPE_HTTPS,
					  DNS_TYPE_ANY };
	uint64_t t;
	unsigned soon = 0, all = 0;
	uint8_t msg[600];
	size_t i, k;
	ssize_t n;
	int fd;

	begin();
	for (i = 0; i < ELEMENTSOF(denied); i++)
		for (k = 0; k < ELEMENTSOF(types); k++) {
			t = ev_now(CLOCK_MONOTONIC);
			fd = ask(denied[i], types[k]);
			is_int(answered(fd, denied[i], types[k]), DNS_NXDOMAIN, denied[i]);
			soon += ev_now(CLOCK_MONOTONIC) - t < 50000000;
			all++;
			(void)close(fd);
		}
	/* A busy machine may be late now and then; a denial that waits for something is always late. */
	ok(2 * soon > all, "within 50 ms: %u of %u", soon, all);
	ok(silent(udp) && silent(udp2) && accept(tcp, NULL, NULL) < 0, "nothing left");
	is_int(egress_resolver_stats(resolver)->forwarded, 0, "nothing was forwarded");
	is_int(events.count[EGRESS_NAME_DENIED], ELEMENTSOF(denied) * ELEMENTSOF(types),
	       "each is an event");
	is_str(events.name, "1.2.0.192.in-addr.arpa", "with its name");
	fd = ask("evil.example", DNS_TYPE_A);
	(void)wait_for(fd, LONG_MS);
	n = recv(fd, msg, sizeof(msg), 0);
	for (i = 12; n > 20 && i + 8 < (size_t)n; i++)
		if (memcmp(msg + i, "\0\x0f", 2) == 0 && memcmp(msg + i + 4, "\0\x0f", 2) == 0)
			break;
	ok(n > 20 && i + 8 < (size_t)n, "the reason is 15, Blocked");
	(void)close(fd);
}

static void test_allowed(void)
{
	struct sockaddr_storage from, from2;
	socklen_t len, len2;
	unsigned id, id2;
	uint8_t first[64];
	int fd, fd2;

	begin();
	fd = ask("A.Example", DNS_TYPE_A);
	ok(served(udp, &from, &len), "an allowed name is asked for");
	ok(memcmp(c.b + 12, "\1a\7example\0\0\1\0\1", 15) == 0, "in lower case, type A");
	memcpy(first, c.b, 12);
	turn(3, 0);
	craft_cname(&c, "@12", 300, "b.cdn.test");
	craft_a(&c, "b.cdn.test", 5, "\6\6\6\1");
	craft_a(&c, "b.cdn.test", 5, "\6\6\6\2");
	reply_to(udp, &from, len);
	(void)wait_for(fd, LONG_MS);
	is_int(seen.opened, 2, "both addresses are open when the answer is there");
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "answer");
	ok(reply.n_chain == 1 && reply.n_addresses == 2, "with the alias and both");
	is_int(events.count[EGRESS_NAME_ALLOWED], 1, "an event");
	is_int(events.n, 2, "with their number");
	(void)close(fd);

	/* the same question from two, and another one */
	fd = ask("a.example", DNS_TYPE_A);
	ok(served(udp, &from, &len), "asked again");
	id = (unsigned)(c.b[0] << 8 | c.b[1]);
	fd2 = ask("a.example", DNS_TYPE_A);
	ok(silent(udp), "a second one who asks the same waits");
	ok(id != 0x4242 || (first[0] << 8 | first[1]) != 0x4242, "the id is not the client's");
	craft_header(&c, id, 0x0100, 1, 0, 0, 0);
	craft_question(&c, "a.example", DNS_TYPE_A);
	craft_opt(&c, 1232, 0);
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\3");
	reply_to(udp, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "one answer");
	is_int(answered(fd2, "a.example", DNS_TYPE_A), 0, "for both");
	(void)close(fd);
	(void)close(fd2);

	fd = ask("x.wild.test", DNS_TYPE_A);
	ok(served(udp, &from, &len), "a question");
	id = (unsigned)(c.b[0] << 8 | c.b[1]);
	fd2 = ask("y.wild.test", DNS_TYPE_A);
	ok(served(udp, &from2, &len2), "and another one");
	id2 = (unsigned)(c.b[0] << 8 | c.b[1]);
	ok(port_of(&from) != port_of(&from2), "come from ports of their own");
	ok(id != id2, "with ids of their own");
	turn(0, DNS_NXDOMAIN);
	reply_to(udp, &from2, len2);
	is_int(answered(fd2, "y.wild.test", DNS_TYPE_A), DNS_NXDOMAIN, "a name that is not there");
	(void)close(fd);
	(void)close(fd2);
}

/* Rules that are taken away while a name is looked up. */
static void test_revoked(void)
{
	struct egress_names_config nc = { .rules = rules + 1,
					  .n_rules = 1,
					  .ops = { .allow = allow, .forget = forget } };
	struct egress_names *fewer = NULL;
	struct sockaddr_storage from;
	struct error err = ERROR_NULL;
	socklen_t len;
	int fd;

	begin();
	fd = ask("a.example", DNS_TYPE_A);
	(void)served(udp, &from, &len);
	(void)egress_names_new(&nc, &fewer, &err);
	egress_resolver_set_names(resolver, fewer);
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\1");
	reply_to(udp, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), DNS_NXDOMAIN,
	       "a name that is not allowed any more");
	is_int(seen.opened, 0, "nothing is opened");
	egress_resolver_set_names(resolver, names);
	egress_names_free(fewer);
	(void)close(fd);
}

static void test_types(void)
{
	static const uint16_t types[] = { DNS_TYPE_HTTPS, DNS_TYPE_SVCB, DNS_TYPE_TXT, DNS_TYPE_ANY,
					  10 };
	size_t i;
	int fd;

	begin();
	for (i = 0; i < ELEMENTSOF(types); i++) {
		fd = ask("a.example", types[i]);
		is_int(answered(fd, "a.example", types[i]), 0,
		       "other types of an allowed name have no data");
		(void)close(fd);
	}
	ok(silent(udp), "and are not asked for");
}

static void test_rebinding(void)
{
	static const struct {
		const char *four;
		bool good;
	} cases[] = {
		{ "\xa9\xfe\xa9\xfe", false }, { "\x7f\0\0\1", false },	  { "\x0a\0\0\1", false },
		{ "\0\0\0\0", false },	       { "\xc0\xa8\1\1", false }, { "\xe0\0\0\1", false },
		{ "\6\6\6\6", true },
	};
	struct sockaddr_storage from;
	socklen_t len;
	size_t i;
	int fd;

	begin();
	for (i = 0; i < ELEMENTSOF(cases); i++) {
		fd = ask("a.example", DNS_TYPE_A);
		(void)served(udp, &from, &len);
		turn(1, 0);
		craft_a(&c, "@12", 0, cases[i].four);
		reply_to(udp, &from, len);
		is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "an answer");
		is_int(reply.n_addresses, cases[i].good,
		       "has the address only if it is a good one");
		(void)close(fd);
	}
	is_int(seen.opened, 1, "only that was opened");
	is_int(events.count[EGRESS_NAME_REFUSED], ELEMENTSOF(cases) - 1, "the others are events");
	fd = ask("a.example", DNS_TYPE_AAAA);
	(void)served(udp, &from, &len);
	turn(3, 0);
	craft_aaaa(&c, "@12", 0, "\0\0\0\0\0\0\0\0\0\0\xff\xff\6\6\6\6");
	craft_aaaa(&c, "@12", 0, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1");
	craft_aaaa(&c, "@12", 0, "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1");
	reply_to(udp, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_AAAA), 0, "IPv6");
	is_int(reply.n_addresses, 1, "has the good one of three");
	(void)close(fd);
}

/* Answers that are not to be believed, then the true one. */
static void test_spoofing(void)
{
	struct sockaddr_storage from;
	struct craft query;
	socklen_t len;
	unsigned i;
	int fd, other = bound("127.0.0.99", 53, SOCK_DGRAM), conn;

	begin();
	fd = ask("a.example", DNS_TYPE_A);
	(void)served(udp, &from, &len);
	query = c;
	turn(1, 0);
	craft_a(&c, "@12", 5, "\7\7\7\7");
	reply_to(other, &from, len); /* the right answer from a wrong address */
	reply_to(udp2, &from, len);  /* from the other server */
	c.b[0] ^= 1;		     /* a wrong id */
	reply_to(udp, &from, len);
	c.b[0] ^= 1;
	c.b[13] = 'b'; /* another question */
	reply_to(udp, &from, len);
	c.b[2] &= 0x7f; /* a query */
	reply_to(udp, &from, len);
	(void)!sendto(udp, "rubbish", 7, 0, (struct sockaddr *)&from, len);
	settle();
	is_int(seen.opened, 0, "false answers open nothing");
	c = query;
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(udp, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "the true one is still taken");
	ok(memcmp(reply.addresses[0].bytes, "\6\6\6\6", 4) == 0, "and no other");
	is_int(events.count[EGRESS_NAME_SPOOFED], 1, "an event");
	is_int(events.count[EGRESS_NAME_ALLOWED], 1, "beside the usual one");
	is_int(egress_resolver_stats(resolver)->spoofed, 4, "counts those that came through");
	(void)close(fd);

	/* Many false ones: the question is asked again by TCP. */
	fd = ask("a.example", DNS_TYPE_A);
	(void)served(udp, &from, &len);
	query = c;
	for (i = 1; i < 40; i++) {
		c = query;
		turn(1, 0);
		craft_a(&c, "@12", 5, "\7\7\7\7");
		c.b[1] = (uint8_t)(c.b[1] ^ i);
		reply_to(udp, &from, len);
		settle();
		conn = accept(tcp, NULL, NULL);
		if (conn >= 0)
			break;
	}
	ok(i < 40, "guessing ends after %u", i);
	(void)close(conn);
	(void)close(fd);
	(void)close(other);
}

/* The server's side of TCP: reads the query into c. */
static int serve_tcp(void)
{
	uint8_t prefix[2];
	ssize_t n;
	int fd;

	if (!wait_for(tcp, LONG_MS))
		return -1;
	fd = accept(tcp, NULL, NULL);
	if (!wait_for(fd, LONG_MS) || recv(fd, prefix, 2, 0) != 2)
		return -1;
	n = recv(fd, c.b, sizeof(c.b), 0);
	c.len = n > 0 ? (size_t)n : 0;
	return fd;
}

static void send_prefixed(int fd, size_t piece)
{
	static uint8_t msg[sizeof(c.b) + 2];
	size_t at, n;

	msg[0] = (uint8_t)(c.len >> 8);
	msg[1] = (uint8_t)c.len;
	memcpy(msg + 2, c.b, c.len);
	for (at = 0; at < c.len + 2; at += n) {
		n = MIN(piece, c.len + 2 - at);
		(void)!send(fd, msg + at, n, MSG_NOSIGNAL);
		if (piece < c.len)
			(void)wait_for(-1, 1);
	}
}

static void test_big(void)
{
	struct sockaddr_storage from;
	socklen_t len;
	unsigned i;
	int fd, conn;

	begin();
	fd = ask("a.example", DNS_TYPE_A);
	(void)served(udp, &from, &len);
	turn(0, 0);
	c.b[2] |= 2;
	reply_to(udp, &from, len);
	conn = serve_tcp();
	ok(conn >= 0, "a truncated answer is asked for by TCP");
	turn(200, 0);
	for (i = 0; i < 200; i++)
		craft_a(&c, "@12", 5, "\6\6\6\6");
	send_prefixed(conn, 100);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "the big answer");
	is_int(reply.n_addresses, DNS_ADDRESSES_MAX, "as much of it as we take");
	(void)close(conn);
	(void)close(fd);
	fd = ask("a.example", DNS_TYPE_A);
	(void)served(udp, &from, &len);
	turn(0, 0);
	c.b[2] |= 2;
	reply_to(udp, &from, len);
	conn = serve_tcp();
	(void)close(conn);
	ok(served(udp2, &from, &len), "a connection that ends early: the other server");
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(udp2, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "its answer");
	(void)close(fd);
}

static void test_failures(void)
{
	struct sockaddr_storage from;
	socklen_t len;
	uint64_t t;
	int fd;

	begin();
	fd = ask("a.example", DNS_TYPE_A);
	(void)served(udp, &from, &len);
	turn(0, DNS_SERVFAIL);
	reply_to(udp, &from, len);
	ok(served(udp2, &from, &len), "a server that fails: the next one");
	turn(5, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(udp2, &from, len); /* five records announced, one there */
	ok(served(udp, &from, &len), "a broken answer: the first again");
	turn(0, DNS_FORMERR);
	reply_to(udp, &from, len);
	ok(served(udp, &from, &len), "one that does not know EDNS: the same without");
	is_int(c.b[11], 0, "no extra record");
	c.len += 11; /* turn() takes away what is not there */
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(udp, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "an answer at last");
	(void)close(fd);

	/* Nobody listens, and nobody answers. */
	begin();
	(void)close(udp2);
	t = ev_now(CLOCK_MONOTONIC);
	fd = ask("a.example", DNS_TYPE_A);
	ok(wait_for(fd, LONG_MS), "silence is answered, too");
	t = (ev_now(CLOCK_MONOTONIC) - t) / 1000000;
	ok(t > 1000 && t < LONG_MS, "before the client gives up (%llu ms)", (unsigned long long)t);
	is_int(answered(fd, "a.example", DNS_TYPE_A), DNS_SERVFAIL, "as a failure");
	is_int(events.count[EGRESS_NAME_FAILED], 1, "an event");
	is_int(seen.opened, 0, "nothing is open");
	(void)close(fd);
	while (recv(udp, c.b, sizeof(c.b), 0) > 0)
		;
	udp2 = bound(SECOND, 53, SOCK_DGRAM);
}

static void test_garbage(void)
{
	int fd = joined("127.0.0.1", egress_resolver_ports(resolver).udp4, SOCK_DGRAM);
	uint8_t msg[600];
	unsigned i;
	ssize_t n;

	begin();
	(void)close(fd);
	fd = joined("127.0.0.1", egress_resolver_ports(resolver).udp4, SOCK_DGRAM);
	(void)!send(fd, "", 0, 0);
	(void)!send(fd, "short", 5, 0);
	craft_header(&c, 0x4242, 0x8100, 1, 0, 0, 0);
	craft_question(&c, "a.example", 1);
	(void)!send(fd, c.b, c.len, 0);
	memset(c.b, 0xff, 4000);
	(void)!send(fd, c.b, 4000, 0);
	for (i = 0; i < 200; i++) {
		memset(c.b, (int)i, 64);
		c.b[2] |= 0x80;
		(void)!send(fd, c.b, 64, 0);
	}
	settle();
	ok(recv(fd, msg, sizeof(msg), 0) < 0, "what is no query gets no answer");
	craft_header(&c, 0x4242, 0x0100, 1, 0, 0, 0);
	craft_name(&c, "a.example");
	(void)!send(fd, c.b, c.len, 0);
	(void)wait_for(fd, LONG_MS);
	n = recv(fd, msg, sizeof(msg), 0);
	ok(n >= 12 && (msg[3] & 15) == DNS_FORMERR, "half a query is a format error");
	craft_header(&c, 0x4242, 0x0100, 1, 0, 0, 0);
	craft_question(&c, "version.bind", 16);
	c.b[c.len - 1] = 3;
	(void)!send(fd, c.b, c.len, 0);
	(void)wait_for(fd, LONG_MS);
	n = recv(fd, msg, sizeof(msg), 0);
	ok(n >= 12 && (msg[3] & 15) == DNS_REFUSED, "another class is refused");
	ok(silent(udp), "nothing left");
	(void)close(fd);
}

static void craft_query(const char *name)
{
	craft_header(&c, 0x4242, 0x0100, 1, 0, 0, 0);
	craft_question(&c, name, DNS_TYPE_A);
}

static void test_clients(void)
{
	struct sockaddr_storage from;
	uint8_t msg[4096];
	int fd, many[40];
	socklen_t len;
	size_t i, got = 0;
	ssize_t n;

	begin();
	fd = joined("127.0.0.1", egress_resolver_ports(resolver).tcp4, SOCK_STREAM);
	settle();
	craft_query("evil.example");
	send_prefixed(fd, 3);
	ok(wait_for(fd, LONG_MS), "TCP, byte by byte");
	n = recv(fd, msg, sizeof(msg), 0);
	ok(n == (ssize_t)c.len + 2 && msg[1] == c.len && (msg[5] & 15) == DNS_NXDOMAIN,
	   "its answer");
	/* three questions at once, the second is looked up, then no more is sent */
	craft_query("evil.example");
	send_prefixed(fd, 4096);
	craft_query("a.example");
	send_prefixed(fd, 4096);
	craft_query("evil2.example");
	send_prefixed(fd, 4096);
	(void)shutdown(fd, SHUT_WR);
	ok(served(udp, &from, &len), "one of three is asked for");
	settle();
	n = recv(fd, msg, sizeof(msg), 0);
	is_int(n, 2 + 12 + 14 + 4, "the one before is answered");
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(udp, &from, len);
	settle();
	settle();
	n = recv(fd, msg, sizeof(msg), 0);
	is_int(n, 2 + 12 + 11 + 4 + 16 + 2 + 12 + 15 + 4, "then itself and the one behind");
	is_int(recv(fd, msg, sizeof(msg), 0), 0, "then the connection ends");
	(void)close(fd);

	fd = joined("127.0.0.1", egress_resolver_ports(resolver).tcp4, SOCK_STREAM);
	(void)!send(fd, "\0\3abc", 5, 0);
	(void)wait_for(fd, LONG_MS);
	ok(recv(fd, msg, sizeof(msg), 0) <= 0, "a message too short ends the connection");
	(void)close(fd);
	fd = joined("127.0.0.1", egress_resolver_ports(resolver).tcp4, SOCK_STREAM);
	(void)!send(fd,
		    "\xff\xff"
		    "abc",
		    5, 0);
	(void)wait_for(fd, LONG_MS);
	ok(recv(fd, msg, sizeof(msg), 0) <= 0, "one too long, too");
	(void)close(fd);
	/* the client is gone before the answer comes */
	fd = joined("127.0.0.1", egress_resolver_ports(resolver).tcp4, SOCK_STREAM);
	craft_query("a.example");
	send_prefixed(fd, 4096);
	(void)served(udp, &from, &len);
	(void)close(fd);
	settle();
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\7");
	reply_to(udp, &from, len);
	settle();
	ok(true, "a client that does not wait");
	for (i = 0; i < ELEMENTSOF(many); i++)
		many[i] = joined("127.0.0.1", egress_resolver_ports(resolver).tcp4, SOCK_STREAM);
	settle();
	craft_query("evil.example");
	for (i = 0; i < ELEMENTSOF(many); i++)
		send_prefixed(many[i], 4096);
	settle();
	for (i = 0; i < ELEMENTSOF(many); i++) {
		got += recv(many[i], msg, sizeof(msg), 0) > 0;
		(void)close(many[i]);
	}
	ok(got >= 16 && got < 40, "of 40 connections those that came last are served: %zu", got);
}

static void test_six(void)
{
	struct sockaddr_storage from;
	socklen_t len;
	int fd;

	begin();
	if (!egress_resolver_ports(resolver).udp6) {
		ok(true, "IPv6 # SKIP not here");
		return;
	}
	fd = joined("::1", egress_resolver_ports(resolver).udp6, SOCK_DGRAM);
	craft_query("evil.example");
	(void)!send(fd, c.b, c.len, 0);
	is_int(answered(fd, "evil.example", DNS_TYPE_A), DNS_NXDOMAIN, "over IPv6");
	craft_query("a.example");
	(void)!send(fd, c.b, c.len, 0);
	ok(served(udp, &from, &len), "an allowed name");
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(udp, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "its answer");
	(void)close(fd);
}

/* A server that may only be reached by IPv6. */
static void test_six_server(void)
{
	struct egress_resolver_config rc = { .event = on_event, .servers.n = 1 };
	struct error err = ERROR_NULL;
	struct sockaddr_storage from;
	socklen_t len;
	int server = bound("::1", 5353, SOCK_DGRAM), fd;

	begin();
	(void)egress_server_from_text("[::1]:5353", &rc.servers.server[0]);
	rc.names = names;
	resolver = egress_resolver_free(resolver);
	is_int(egress_resolver_new(&loop, &rc, &resolver, &err), 0, "a resolver");
	fd = ask("a.example", DNS_TYPE_A);
	ok(served(server, &from, &len), "asks over IPv6, at another port");
	turn(1, 0);
	craft_a(&c, "@12", 5, "\6\6\6\6");
	reply_to(server, &from, len);
	is_int(answered(fd, "a.example", DNS_TYPE_A), 0, "its answer");
	(void)close(fd);
	(void)close(server);
}

static void test_rate(void)
{
	int fd, i, other;
	char name[40];

	begin();
	other = joined("127.0.0.1", egress_resolver_ports(resolver).udp4, SOCK_DGRAM);
	for (i = 0; i < 70; i++) {
		snprintf(name, sizeof(name), "n%d.wild.test", i);
		fd = ask(name, DNS_TYPE_A);
		(void)wait_for(-1, 1);
		(void)close(fd);
	}
	settle();
	ok(egress_resolver_stats(resolver)->limited >= 6, "no more than 64 at once");
	ok(events.count[EGRESS_NAME_LIMITED] >= 6, "the others are events");
	for (i = 0; recv(udp, c.b, sizeof(c.b), 0) > 0; i++)
		;
	is_int(i, 64, "64 were asked");
	/* A machine that is busy with others takes longer to send more than is allowed in a second. */
	for (i = 0; i < 3000 || (i < 200000 && egress_resolver_stats(resolver)->dropped == 0); i++) {
		craft_query("evil.example");
		(void)!send(other, c.b, c.len, 0);
		if (i % (i < 3000 ? 10 : 100) == 0)
			(void)wait_for(-1, 1);
	}
	settle();
	ok(egress_resolver_stats(resolver)->dropped > 0 &&
		   egress_resolver_stats(resolver)->denied >= 2000,
	   "a flood is cut: %llu answered, %llu dropped",
	   (unsigned long long)egress_resolver_stats(resolver)->denied,
	   (unsigned long long)egress_resolver_stats(resolver)->dropped);
	ok(events.count[EGRESS_NAME_DENIED] <= 150, "and its events, too: %u",
	   events.count[EGRESS_NAME_DENIED]);
	(void)close(other);
}

static void test_conf(void)
{
	static const char text[] = "# comment\nnameserver 127.0.0.11\nsearch x\n nameserver "
				   "1.1.1.1\nnameserver\t::1 # x\n"
				   "nameservers 9.9.9.9\nnameserver fe80::1%eth0\nnameserver "
				   "rubbish\nnameserver 8.8.8.8";
	static const char *const bad[] = { "",
					   "x",
					   "1.2.3",
					   "1.2.3.4:",
					   "1.2.3.4:0",
					   "1.2.3.4:65536",
					   "[::1",
					   "[::1]x",
					   "[1.2.3.4]:53",
					   "1.2.3.4%eth0",
					   "::1%",
					   "::1%interface-too-long-name" };
	struct egress_servers s;
	struct egress_server one;
	size_t i;

	egress_servers_from_resolv_conf(text, sizeof(text) - 1, &s);
	is_int(s.n, 3, "three servers");
	ok(!s.server[0].v6 && memcmp(s.server[0].address, "\x7f\0\0\x0b", 4) == 0 &&
		   s.server[0].port == 53,
	   "the first");
	ok(s.server[1].v6 && s.server[1].address[15] == 1, "the second");
	ok(s.server[2].v6 && s.server[2].address[0] == 0xfe, "the third");
	is_str(s.server[2].scope, "eth0", "its interface");
	egress_servers_from_resolv_conf("", 0, &s);
	is_int(s.n, 0, "an empty file");
	is_int(egress_server_from_text("[::1]:5353", &one), 0, "IPv6 with a port");
	ok(one.v6 && one.port == 5353, "its port");
	is_int(egress_server_from_text("1.2.3.4:99", &one), 0, "IPv4 with a port");
	ok(!one.v6 && one.port == 99, "its port");
	is_int(egress_server_from_text("fd00::1", &one), 0, "IPv6 without");
	for (i = 0; i < ELEMENTSOF(bad); i++)
		is_int(egress_server_from_text(bad[i], &one), -EINVAL, bad[i]);
}

int main(void)
{
	struct error err = ERROR_NULL;
	size_t leases;

	if (!netns_enter())
		return TAP_SKIP_ALL("no network namespace of our own");
	TAP_BEGIN();
	test_conf();
	if (evloop_init(&loop, &err) < 0)
		return 1;
	begin(); /* before the device is up */
	if (!loopback_up())
		return TAP_SKIP_ALL("the loopback device cannot be brought up");
	udp = bound(SERVER, 53, SOCK_DGRAM);
	udp2 = bound(SECOND, 53, SOCK_DGRAM);
	tcp = bound(SERVER, 53, SOCK_STREAM);
	ok(udp >= 0 && udp2 >= 0 && tcp >= 0, "name servers");
	test_denied();
	test_allowed();
	test_revoked();
	test_types();
	test_rebinding();
	test_spoofing();
	test_big();
	test_failures();
	test_garbage();
	test_clients();
	test_six();
	test_six_server();
	test_rate();
	leases = egress_names_leases(names);
	resolver = egress_resolver_free(resolver);
	names = egress_names_free(names);
	evloop_done(&loop);
	ok(leases == 0, "nothing is left open by what was denied");
	return TAP_END();
}
