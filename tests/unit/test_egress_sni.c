/*
 * The proxy between a container and a server, all in one network namespace of the test's own:
 * who may pass, how a connection ends, slow and silent peers, and how fast it is.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#include "egress/egress_sni.h"
#include "netns_world.h"
#include "tap.h"

#define SERVER	"127.0.0.77"
#define PORT	443
#define CLOSED	444
#define BULK	(100u << 20)
#define ONE_MIB (1u << 20)

static struct egress_names *names;
static struct egress_sni *proxy;
static struct egress_sni_target target;
static bool stray;
static struct {
	unsigned count[EGRESS_SNI_REVOKED + 1];
	char name[DNS_TEXT_SIZE], alpn[64];
	int error;
} events;
static int server = -EBADF;
static uint8_t hello[1024];
static size_t hello_len;

static const struct egress_name_range https[] = { { PORT, CLOSED } };
static const struct egress_name_rule rules[] = {
	{ .host = "good.example", .ports = https, .n_ports = 1, .verify = EGRESS_VERIFY_SNI },
	{ .host = "*.wild.test", .ports = https, .n_ports = 1, .verify = EGRESS_VERIFY_SNI },
	{ .host = "ssh.example",
	  .ports = (const struct egress_name_range[]){ { 22, 22 } },
	  .n_ports = 1 },
};

static int allow(void *arg, const uint8_t address[16], unsigned set,
		 const struct egress_name_set *ports, uint64_t expires)
{
	return 0;
}

static int forget(void *arg, const uint8_t address[16])
{
	return 0;
}

static int find_target(void *arg, int fd, const struct sockaddr *peer,
		       struct egress_sni_target *ret)
{
	*ret = target;
	return stray;
}

static void on_event(void *arg, const struct egress_sni_event *e)
{
	events.count[e->kind]++;
	events.error = e->error;
	snprintf(events.name, sizeof(events.name), "%s", e->name ? e->name : "");
	snprintf(events.alpn, sizeof(events.alpn), "%s", e->alpn);
}

static void set_target(const char *text, uint16_t port)
{
	struct dns_address a = { .v6 = strchr(text, ':') != NULL };

	(void)inet_pton(a.v6 ? AF_INET6 : AF_INET, text, a.bytes);
	(void)egress_name_address_map(&a, target.address);
	target.port = port;
}

static void begin(unsigned hello_ms)
{
	struct egress_names_config nc = { .rules = rules,
					  .n_rules = ELEMENTSOF(rules),
					  .ops = { .allow = allow, .forget = forget } };
	struct egress_sni_config pc = { .target = find_target,
					.event = on_event,
					.hello_ms = hello_ms };
	struct error err = ERROR_NULL;

	proxy = egress_sni_free(proxy);
	names = egress_names_free(names);
	memset(&events, 0, sizeof(events));
	stray = false;
	set_target(SERVER, PORT);
	(void)egress_names_new(&nc, &names, &err);
	pc.names = names;
	is_int(egress_sni_new(&loop, &pc, &proxy, &err), 0, "a proxy");
}

static int client(void)
{
	uint16_t four, six;

	egress_sni_ports(proxy, &four, &six);
	return joined("127.0.0.1", four, SOCK_STREAM);
}

static void put(const void *data, size_t n)
{
	memcpy(hello + hello_len, data, n);
	hello_len += n;
}

static void put16(size_t v)
{
	put((uint8_t[]){ (uint8_t)(v >> 8), (uint8_t)v }, 2);
}

/* name NULL: none. pad: bytes of an extension that means nothing. */
static void make_hello(const char *name, bool ech, size_t pad)
{
	size_t n = name ? strlen(name) : 0,
	       ext = (name ? n + 9 : 0) + (ech ? 5 : 0) + 4 + pad + 4 + 5, body = 45 + ext;

	hello_len = 0;
	put("\x16\3\1", 3);
	put16(body + 4);
	put("\1\0", 2);
	put16(body);
	put("\3\3rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\0\0\4\x13\1\x13\2\1\0", 43);
	put16(ext);
	if (name) {
		put16(0);
		put16(n + 5);
		put16(n + 3);
		put("", 1);
		put16(n);
		put(name, n);
	}
	if (ech)
		put("\xfe\x0d\0\1\1", 5);
	put16(0x2a2a);
	put16(pad);
	memset(hello + hello_len, 0, pad);
	hello_len += pad;
	put("\0\x10\0\5\0\3\2h2", 9);
}

/* What happened to a connection that says this: allowed or refused, by the event. */
static int accepted(void)
{
	return wait_for(server, 300) ? accept4(server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)
				     : -1;
}

static ssize_t received(int fd, void *buf, size_t size)
{
	return wait_for(fd, 500) ? recv(fd, buf, size, 0) : -2;
}

static bool was_reset(int fd)
{
	char b;

	return received(fd, &b, 1) == -1 && errno == ECONNRESET;
}

static void test_allowed(void)
{
	uint8_t buf[2048];
	int fd, conn;

	begin(0);
	fd = client();
	make_hello("Good.Example", false, 0);
	(void)!send(fd, hello, hello_len, 0);
	conn = accepted();
	ok(conn >= 0, "an allowed name comes through");
	is_int(received(conn, buf, sizeof(buf)), (long long)hello_len, "with its whole hello");
	ok(memcmp(buf, hello, hello_len) == 0, "as it was");
	is_int(events.count[EGRESS_SNI_ALLOWED], 1, "an event");
	is_str(events.name, "good.example", "its name");
	is_str(events.alpn, "h2", "its protocols");
	(void)!send(conn, "answer", 6, 0);
	is_int(received(fd, buf, sizeof(buf)), 6, "the server's answer");
	(void)!send(fd, "more", 4, 0);
	is_int(received(conn, buf, sizeof(buf)), 4, "more from the client");
	is_int(egress_sni_stats(proxy)->pipes, 0, "no pipe is held while idle");
	/* the client's half ends first */
	(void)shutdown(fd, SHUT_WR);
	is_int(received(conn, buf, sizeof(buf)), 0, "the end of the client's half");
	(void)!send(conn, "late", 4, 0);
	is_int(received(fd, buf, sizeof(buf)), 4, "the server still speaks");
	is_int(egress_sni_stats(proxy)->connections, 1, "one connection");
	(void)close(conn);
	is_int(received(fd, buf, sizeof(buf)), 0, "until it ends, too");
	settle();
	is_int(egress_sni_stats(proxy)->connections, 0, "then it is over");
	(void)close(fd);

	/* the server's half ends first */
	fd = client();
	(void)!send(fd, hello, hello_len, 0);
	conn = accepted();
	(void)received(conn, buf, sizeof(buf));
	(void)!send(conn, "bye", 3, 0);
	(void)shutdown(conn, SHUT_WR);
	is_int(received(fd, buf, sizeof(buf)), 3, "last words of the server");
	is_int(received(fd, buf, sizeof(buf)), 0, "and its end");
	(void)!send(fd, "upload", 6, 0);
	is_int(received(conn, buf, sizeof(buf)), 6, "the client still speaks");
	(void)close(fd);
	is_int(received(conn, buf, sizeof(buf)), 0, "until it ends");
	(void)close(conn);
	settle();
	is_int(egress_sni_stats(proxy)->connections, 0, "then it is over");

	/* resets are passed on */
	fd = client();
	(void)!send(fd, hello, hello_len, 0);
	conn = accepted();
	(void)received(conn, buf, sizeof(buf));
	(void)setsockopt(conn, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
			 sizeof(struct linger));
	(void)close(conn);
	ok(was_reset(fd), "a reset of the server reaches the client");
	(void)close(fd);
	fd = client();
	(void)!send(fd, hello, hello_len, 0);
	conn = accepted();
	(void)received(conn, buf, sizeof(buf));
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
			 sizeof(struct linger));
	(void)close(fd);
	ok(was_reset(conn), "a reset of the client reaches the server");
	(void)close(conn);
	settle();
	is_int(egress_sni_stats(proxy)->connections, 0, "nothing is left");
}

/* Sends what stands in hello; the connection must be reset with that event, and the server see
 * nothing. */
static void expect_refused(enum egress_sni_event_kind kind, const char *what)
{
	unsigned before = events.count[kind];
	int fd = client();

	(void)!send(fd, hello, hello_len, 0);
	ok(was_reset(fd), "%s: reset", what);
	is_int(events.count[kind], before + 1, egress_sni_event_text(kind));
	(void)close(fd);
}

static void test_refused(void)
{
	begin(0);
	make_hello("evil.example", false, 0);
	expect_refused(EGRESS_SNI_DENIED, "another name at the same address");
	is_str(events.name, "evil.example", "the event names it");
	make_hello("x.good.example", false, 0);
	expect_refused(EGRESS_SNI_DENIED, "a name below an allowed one");
	make_hello("wild.test", false, 0);
	expect_refused(EGRESS_SNI_DENIED, "a name above a wildcard");
	make_hello("ssh.example", false, 0);
	expect_refused(EGRESS_SNI_DENIED, "a name for another port");
	make_hello(NULL, false, 0);
	expect_refused(EGRESS_SNI_NO_NAME, "no name");
	make_hello("good.example", true, 0);
	expect_refused(EGRESS_SNI_ENCRYPTED, "an encrypted name");
	make_hello("good.example.", false, 0);
	expect_refused(EGRESS_SNI_NOT_TLS, "a dot at the end");
	make_hello("127.0.0.77", false, 0);
	expect_refused(EGRESS_SNI_DENIED, "an address as name");
	hello_len = 0;
	put("GET / HTTP/1.1\r\nHost: good.example\r\n\r\n", 38);
	expect_refused(EGRESS_SNI_NOT_TLS, "HTTP");
	hello_len = 0;
	put("\x16\3\1\x40\1", 5);
	expect_refused(EGRESS_SNI_NOT_TLS, "a record too long");
	stray = true;
	make_hello("good.example", false, 0);
	expect_refused(EGRESS_SNI_STRAY, "a connection that nobody sent here");
	stray = false;
	ok(accepted() < 0, "the server saw none of them");
	set_target(SERVER, CLOSED);
	expect_refused(EGRESS_SNI_UNREACHABLE, "a port where nobody listens");
	is_int(events.error, ECONNREFUSED, "the reason");
	is_int(egress_sni_stats(proxy)->connections, 0, "nothing is left");
}

static void test_pieces(void)
{
	uint8_t buf[2048];
	int fd, conn;
	size_t i;

	begin(0);
	fd = client();
	make_hello("a.wild.test", false, 300);
	for (i = 0; i < hello_len; i++) {
		(void)!send(fd, hello + i, 1, 0);
		if (i % 40 == 0)
			(void)wait_for(-1, 1);
	}
	conn = accepted();
	ok(conn >= 0, "byte by byte");
	is_int(received(conn, buf, sizeof(buf)), (long long)hello_len, "comes through whole");
	(void)close(conn);
	(void)close(fd);
	fd = client();
	(void)!send(fd, hello, 100, 0);
	settle();
	(void)shutdown(fd, SHUT_WR);
	ok(was_reset(fd), "an end before the name");
	is_int(events.count[EGRESS_SNI_NOT_TLS], 1, "an event");
	(void)close(fd);
	fd = client();
	settle();
	(void)close(fd);
	settle();
	is_int(egress_sni_stats(proxy)->connections, 0, "a client that says nothing and goes");
}

static void test_slow(void)
{
	int fd, silent, i, got = 0, many[EGRESS_SNI_CONNECTIONS_MAX + 20];
	uint64_t t;

	begin(300);
	make_hello("good.example", false, 0);
	t = ev_now(CLOCK_MONOTONIC);
	silent = client();
	fd = client();
	for (i = 0; i < 60; i++) {
		if (send(fd, hello + i, 1, MSG_NOSIGNAL) < 0)
			break;
		(void)wait_for(-1, 10);
	}
	t = (ev_now(CLOCK_MONOTONIC) - t) / 1000000;
	ok(i < 60 && t >= 290, "a byte now and then gets no more time (%llu ms)",
	   (unsigned long long)t);
	ok(was_reset(silent), "silence neither");
	is_int(events.count[EGRESS_SNI_TIMEOUT], 2, "both are events");
	(void)close(fd);
	(void)close(silent);
	ok(accepted() < 0, "the server saw nothing");

	begin(0);
	for (i = 0; i < (int)ELEMENTSOF(many); i++) {
		many[i] = client();
		if (i % 20 == 0)
			settle();
	}
	settle();
	is_int(egress_sni_stats(proxy)->connections, EGRESS_SNI_CONNECTIONS_MAX,
	       "the places are limited");
	for (i = 0; i < 20; i++)
		got += was_reset(many[i]);
	is_int(got, 20, "those that were silent for longest went");
	(void)!send(many[30], hello, hello_len, 0);
	fd = accepted();
	ok(fd >= 0, "the others go on");
	(void)close(fd);
	for (i = 0; i < (int)ELEMENTSOF(many); i++)
		(void)close(many[i]);
	(void)wait_for(-1, 100);
	is_int(egress_sni_stats(proxy)->connections, 0, "nothing is left");
}

/* A server that asks for another hello, and what may follow. */
static void test_retry(void)
{
	static const struct {
		const char *name;
		bool ech, early, change, good;
	} cases[] = {
		{ "good.example", false, false, false, true },
		{ "good.example", false, false, true, true },
		{ "x.wild.test", false, false, true, true },
		{ "good.example", false, true, true, true },
		{ "evil.example", false, false, true, false },
		{ "evil.example", false, true, false, false },
		{ NULL, false, false, true, false },
		{ "good.example", true, false, true, false },
	};
	uint8_t ask[5 + 4 + 2 + 32 +
		    8] = { 22, 3, 3, 0, 4 + 2 + 32 + 8, 2, 0, 0, 2 + 32 + 8, 3, 3 },
		    buf[2048];
	static const uint8_t magic[32] = { 0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
					   0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
					   0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
					   0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c };
	size_t i, second;
	int fd, conn;

	begin(0);
	memcpy(ask + 11, magic, sizeof(magic));
	for (i = 0; i < ELEMENTSOF(cases); i++) {
		fd = client();
		make_hello("good.example", false, 0);
		(void)!send(fd, hello, hello_len, 0);
		second = hello_len;
		if (!cases[i].early)
			(void)(conn = accepted());
		make_hello(cases[i].name, cases[i].ech, 0);
		if (cases[i].early) {
			if (cases[i].change)
				(void)!send(fd, "\x14\3\3\0\1\1", 6, 0);
			(void)!send(fd, hello, hello_len, 0);
			conn = accepted();
		}
		is_int(received(conn, buf, sizeof(buf)), (long long)second,
		       "the first hello alone");
		ok(received(conn, buf, sizeof(buf)) == -2, "nothing behind it");
		(void)!send(conn, ask, 20, 0);
		settle();
		(void)!send(conn, ask + 20, sizeof(ask) - 20, 0);
		(void)!send(conn, "\x14\3\3\0\1\1", 6, 0);
		settle();
		if (!cases[i].early) {
			is_int(received(fd, buf, sizeof(buf)), sizeof(ask) + 6,
			       "the server's request");
			if (cases[i].change)
				(void)!send(fd, "\x14\3\3\0\1\1", 6, 0);
			(void)!send(fd, hello, hello_len, 0);
		}
		if (cases[i].good) {
			settle();
			is_int(received(conn, buf, sizeof(buf)),
			       (long long)hello_len + (cases[i].change ? 6 : 0),
			       "a good second hello comes through");
			(void)!send(fd, "data", 4, 0);
			is_int(received(conn, buf, sizeof(buf)), 4, "and what follows");
		} else {
			ok(was_reset(conn),
			   "a bad second hello ends it, and is not seen by the server");
		}
		(void)close(conn);
		(void)close(fd);
		settle();
	}
	is_int(egress_sni_stats(proxy)->connections, 0, "nothing is left");
	fd = client();
	make_hello("good.example", false, 0);
	(void)!send(fd, hello, hello_len, 0);
	conn = accepted();
	(void)!send(conn, "\x16\3\3\0\x0a\2\0\0\x2a\3\3\xcf\x21\xad\x74", 15, 0);
	ok(was_reset(fd), "a request cut into records is none that we let pass");
	(void)close(conn);
	(void)close(fd);
}

/* Rules that are taken away. */
static void test_revoked(void)
{
	struct egress_names_config nc = { .rules = rules + 1,
					  .n_rules = 1,
					  .ops = { .allow = allow, .forget = forget } };
	struct egress_names *fewer = NULL;
	struct error err = ERROR_NULL;
	int fds[3], conns[2];
	uint8_t buf[1024];

	begin(0);
	make_hello("good.example", false, 0);
	fds[0] = client();
	(void)!send(fds[0], hello, hello_len, 0);
	conns[0] = accepted();
	(void)!send(conns[0], "x", 1, 0);
	is_int(received(fds[0], buf, sizeof(buf)), 1, "a connection for a name");
	make_hello("a.wild.test", false, 0);
	fds[1] = client();
	(void)!send(fds[1], hello, hello_len, 0);
	conns[1] = accepted();
	(void)!send(conns[1], "x", 1, 0);
	is_int(received(fds[1], buf, sizeof(buf)), 1, "and for another one");
	fds[2] = client();
	settle();
	(void)egress_names_new(&nc, &fewer, &err);
	egress_sni_set_names(proxy, fewer);
	ok(was_reset(fds[0]), "what new rules do not allow ends");
	is_str(events.name, "good.example", "with an event");
	is_int(events.count[EGRESS_SNI_REVOKED], 1, "one");
	(void)!send(conns[1], "y", 1, 0);
	is_int(received(fds[1], buf, sizeof(buf)), 1, "the other goes on");
	make_hello("good.example", false, 0);
	(void)!send(fds[2], hello, hello_len, 0);
	ok(was_reset(fds[2]), "one that had not been judged is judged by the new ones");
	egress_sni_set_names(proxy, names);
	egress_names_free(fewer);
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)close(fds[2]);
	(void)close(conns[0]);
	(void)close(conns[1]);
}

/* The client's bytes are pages of a file, and change after they were judged. */
static void test_changing(void)
{
	int file = memfd_create("hello", MFD_CLOEXEC), fd, conn, i;
	uint8_t buf[2048];
	off_t at = 0;
	uint8_t *name;

	begin(0);
	make_hello("good.example", false, 0);
	(void)!pwrite(file, hello, hello_len, 0);
	fd = client();
	is_int(sendfile(fd, file, &at, hello_len), (long long)hello_len, "a hello from a file");
	for (i = 0; i < 200 && events.count[EGRESS_SNI_ALLOWED] == 0; i++) {
		struct error err = ERROR_NULL;

		(void)evloop_step(&loop, 1, &err);
	}
	is_int(events.count[EGRESS_SNI_ALLOWED], 1, "is allowed");
	name = memmem(hello, hello_len, "good", 4);
	(void)!pwrite(file, "evil", 4, name - hello);
	conn = accepted();
	is_int(received(conn, buf, sizeof(buf)), (long long)hello_len, "the server gets it");
	ok(memcmp(buf, hello, hello_len) == 0, "as it was when it was allowed");
	(void)close(conn);
	(void)close(fd);
	(void)close(file);
}

/* A server that does not read stops its client; nothing piles up between. */
static void test_pressure(void)
{
	static uint8_t buf[ONE_MIB];
	size_t sent = 0, got = 0, i, bad = 0;
	int fd, conn, size = 65536;
	ssize_t n;

	begin(0);
	(void)setsockopt(server, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	fd = client();
	make_hello("good.example", false, 0);
	(void)!send(fd, hello, hello_len, 0);
	conn = accepted();
	(void)received(conn, buf, hello_len);
	(void)!send(conn, "x", 1, 0);
	(void)received(fd, buf, 1);
	for (i = 0; i < 300; i++) {
		/* Each byte tells its place, so that loss and disorder show. */
		size_t k;

		for (k = 0; k < sizeof(buf); k++)
			buf[k] = (uint8_t)((sent + k) * 7 >> 3);
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		(void)wait_for(-1, 1);
		if (n < 0 && i > 50)
			break;
	}
	ok(sent > 0 && sent < 40 * ONE_MIB, "a client stops after %zu KiB", sent >> 10);
	is_int(egress_sni_stats(proxy)->pipes, 1, "one pipe is held");
	while (got < sent && (n = received(conn, buf, sizeof(buf))) > 0) {
		for (i = 0; i < (size_t)n; i++)
			bad += buf[i] != (uint8_t)((got + i) * 7 >> 3);
		got += (size_t)n;
	}
	is_int(got, (long long)sent, "then all of it arrives");
	is_int(bad, 0, "in order");
	(void)close(fd);
	is_int(received(conn, buf, 1), 0, "and the end");
	(void)close(conn);
	settle();
	is_int(egress_sni_stats(proxy)->pipes, 0, "no pipe is left");
}

static void test_six(void)
{
	uint16_t four, six;
	int listener = bound("::1", PORT, SOCK_STREAM), fd, conn;
	uint8_t buf[1024];

	begin(0);
	egress_sni_ports(proxy, &four, &six);
	if (!six || listener < 0) {
		ok(true, "IPv6 # SKIP not here");
		return;
	}
	set_target("::1", PORT);
	fd = joined("::1", six, SOCK_STREAM);
	make_hello("good.example", false, 0);
	(void)!send(fd, hello, hello_len, 0);
	conn = wait_for(listener, 300) ? accept4(listener, NULL, NULL, SOCK_NONBLOCK) : -1;
	ok(conn >= 0, "IPv6");
	is_int(received(conn, buf, sizeof(buf)), (long long)hello_len, "comes through");
	(void)close(conn);
	(void)close(fd);
	(void)close(listener);
}

/* A child that connects, says the hello and sends or takes BULK bytes; ns it took, written to out.
 */
static pid_t bulk_client(const char *to, unsigned port, bool download, int out)
{
	static uint8_t buf[ONE_MIB];
	size_t left = BULK;
	uint64_t t;
	ssize_t n;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = joined(to, port, SOCK_STREAM);
	(void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 1000);
	(void)fcntl(fd, F_SETFL, 0);
	t = ev_now(CLOCK_MONOTONIC);
	(void)!send(fd, hello, hello_len, 0);
	(void)!recv(fd, buf, 1, 0);
	while (left > 0) {
		n = download ? recv(fd, buf, MIN(sizeof(buf), left), 0)
			     : send(fd, buf, MIN(sizeof(buf), left), MSG_NOSIGNAL);
		if (n <= 0)
			_exit(1);
		left -= (size_t)n;
	}
	(void)shutdown(fd, SHUT_WR);
	if (!download)
		(void)!recv(fd, buf, 1, 0);
	t = ev_now(CLOCK_MONOTONIC) - t;
	(void)!write(out, &t, sizeof(t));
	_exit(0);
}

/* A child that serves one connection with BULK bytes the other way. */
static pid_t bulk_server(bool download)
{
	static uint8_t buf[ONE_MIB];
	size_t left = BULK;
	ssize_t n;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	(void)poll(&(struct pollfd){ .fd = server, .events = POLLIN }, 1, 5000);
	fd = accept(server, NULL, NULL);
	if (recv(fd, buf, hello_len, MSG_WAITALL) != (ssize_t)hello_len)
		_exit(1);
	(void)!send(fd, "x", 1, 0);
	while (left > 0) {
		n = download ? send(fd, buf, MIN(sizeof(buf), left), MSG_NOSIGNAL)
			     : recv(fd, buf, MIN(sizeof(buf), left), 0);
		if (n <= 0)
			_exit(1);
		left -= (size_t)n;
	}
	_exit(recv(fd, buf, 1, 0) == 0 ? 0 : 1);
}

/* MB/s, or 0. */
static unsigned bulk(const char *to, unsigned port, bool download)
{
	int fds[2], status = 1, status2 = 1;
	uint64_t ns = 0, end = ev_now(CLOCK_MONOTONIC) + 20000000000ull;
	struct error err = ERROR_NULL;
	pid_t one, two;

	(void)!pipe2(fds, O_CLOEXEC | O_NONBLOCK);
	one = bulk_server(download);
	two = bulk_client(to, port, download, fds[1]);
	while (read(fds[0], &ns, sizeof(ns)) < 0 && ev_now(CLOCK_MONOTONIC) < end)
		if (evloop_step(&loop, 5, &err) < 0)
			break;
	settle();
	(void)waitpid(one, &status, 0);
	(void)waitpid(two, &status2, 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return ns && status == 0 && status2 == 0 ? (unsigned)(BULK * 1000ull / ns) : 0;
}

static void test_bulk(void)
{
	uint16_t four, six;
	unsigned direct, through, i;

	begin(0);
	egress_sni_ports(proxy, &four, &six);
	make_hello("good.example", false, 0);
	for (i = 0; i < 2; i++) {
		direct = bulk(SERVER, PORT, i);
		through = bulk("127.0.0.1", four, i);
		ok(direct > 0 && through > 0, "100 MB %s", i ? "down" : "up");
		printf("# direct %u MB/s, through the proxy %u MB/s, ratio %.2f\n", direct, through,
		       direct ? (double)through / direct : 0);
	}
	is_int(egress_sni_stats(proxy)->connections, 0, "nothing is left");
	ok(egress_sni_stats(proxy)->bytes_out > BULK && egress_sni_stats(proxy)->bytes_in >= BULK,
	   "the bytes were counted");
}

int main(void)
{
	struct error err = ERROR_NULL;

	if (!netns_enter() || !loopback_up())
		return TAP_SKIP_ALL("no network namespace of our own");
	TAP_BEGIN();
	if (evloop_init(&loop, &err) < 0)
		return 1;
	server = bound(SERVER, PORT, SOCK_STREAM);
	test_allowed();
	test_refused();
	test_pieces();
	test_retry();
	test_changing();
	test_revoked();
	test_slow();
	test_pressure();
	test_six();
	test_bulk();
	proxy = egress_sni_free(proxy);
	names = egress_names_free(names);
	evloop_done(&loop);
	return TAP_END();
}
