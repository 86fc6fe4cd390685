/*
 * One network operation, for the egress matrix: prints how it ended as one word ("ok" or an
 * errno's name) and how long that took in ms.
 *
 *   egress-op [-c CGROUP] [-n NETNS] OPERATION ADDRESS PORT
 *
 * Joins the cgroup first, then the network namespace (by name), as a container's process
 * would be born. Operations that talk expect an echo; `serve` is that echo.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MPTCP	262
#define UDPLITE 136

static struct timespec begun;

struct where {
	struct sockaddr_storage address;
	socklen_t size;
	int family;
	uint16_t port;
};

static void die(const char *what)
{
	perror(what);
	exit(125);
}

static int finish(int r)
{
	struct timespec now;
	const char *name;
	int e = errno;

	clock_gettime(CLOCK_MONOTONIC, &now);
	name = r < 0 ? strerrorname_np(e) : "ok";
	printf("%s %ld\n", name ? name : "unknown",
	       (now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000);
	return r < 0;
}

static struct where parse(const char *address, const char *port)
{
	struct where w = { .port = (uint16_t)atoi(port) };
	struct sockaddr_in *a = (struct sockaddr_in *)&w.address;
	struct sockaddr_in6 *b = (struct sockaddr_in6 *)&w.address;

	if (inet_pton(AF_INET, address, &a->sin_addr) == 1) {
		a->sin_family = AF_INET;
		a->sin_port = htons(w.port);
		w.size = sizeof(*a);
	} else if (inet_pton(AF_INET6, address, &b->sin6_addr) == 1) {
		b->sin6_family = AF_INET6;
		b->sin6_port = htons(w.port);
		w.size = sizeof(*b);
	} else {
		die(address);
	}
	w.family = w.address.ss_family;
	return w;
}

static struct where mapped(const char *address, const char *port)
{
	char text[64];

	snprintf(text, sizeof(text), "::ffff:%s", address);
	return parse(text, port);
}

/* Milliseconds after which nobody answers any more; PATIENCE multiplies it where everything is slow. */
static int patience(void)
{
	const char *times = getenv("PATIENCE");

	return 1200 * (times ? (int)strtol(times, NULL, 10) : 1);
}

static int readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, patience()) > 0)
		return 0;
	errno = ETIMEDOUT;
	return -1;
}

static int dial(int fd, const struct where *w)
{
	int flags = fcntl(fd, F_GETFL), e = 0;
	socklen_t len = sizeof(e);
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	if (connect(fd, (const struct sockaddr *)&w->address, w->size) < 0) {
		if (errno != EINPROGRESS)
			return -1;
		if (poll(&p, 1, patience()) <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len);
		if (e) {
			errno = e;
			return -1;
		}
	}
	fcntl(fd, F_SETFL, flags);
	return 0;
}

static int echo(int fd)
{
	char b[16];
	ssize_t n;

	if (send(fd, "hello", 5, MSG_NOSIGNAL) < 0 || readable(fd) < 0)
		return -1;
	n = recv(fd, b, sizeof(b), 0);
	if (n == 0)
		errno = ECONNRESET;
	return n > 0 ? 0 : -1;
}

static int talk(const struct where *w, int type, int protocol)
{
	int fd = socket(w->family, type, protocol);

	if (fd < 0 || dial(fd, w) < 0)
		return -1;
	return echo(fd);
}

static int datagram(const struct where *w, int protocol, size_t size)
{
	static char data[65000];
	int fd = socket(w->family, SOCK_DGRAM, protocol);

	if (fd < 0 || sendto(fd, data, size, 0, (const struct sockaddr *)&w->address, w->size) < 0)
		return -1;
	return readable(fd);
}

static int fast_open(const struct where *w, bool by_connect)
{
	int fd = socket(w->family, SOCK_STREAM, 0), one = 1;
	struct timeval limit = { .tv_sec = 1 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (!by_connect)
		return (int)sendto(fd, "hello", 5, MSG_FASTOPEN, (const struct sockaddr *)&w->address, w->size);
	setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one));
	if (connect(fd, (const struct sockaddr *)&w->address, w->size) < 0)
		return -1;
	return (int)send(fd, "hello", 5, MSG_NOSIGNAL);
}

static int ping(const struct where *w)
{
	char request[64] = { w->family == AF_INET ? ICMP_ECHO : (char)128 };
	int fd = socket(w->family, SOCK_DGRAM, w->family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);

	if (fd < 0 || sendto(fd, request, sizeof(request), 0, (const struct sockaddr *)&w->address, w->size) < 0)
		return -1;
	return readable(fd);
}

static int raw(const struct where *w, int protocol)
{
	int fd = socket(w->family, SOCK_RAW, protocol);

	if (fd < 0)
		return -1;
	return (int)sendto(fd, "raw", 3, 0, (const struct sockaddr *)&w->address, w->size);
}

/* A connection without a handshake: nothing but the packet hook sees it. */
static int repair(const struct where *w)
{
	int fd = socket(w->family, SOCK_STREAM, 0), on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) < 0 ||
	    connect(fd, (const struct sockaddr *)&w->address, w->size) < 0)
		return -1;
	on = -1;
	setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on));
	return (int)send(fd, "leak", 4, MSG_NOSIGNAL);
}

/* A listener on the same port makes the address hooks believe that it is here. */
static int self_deception(const struct where *w, int type)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(w->port) };
	int listener = socket(AF_INET, type, 0), fd = socket(AF_INET, type, 0), on = 1;

	setsockopt(fd, SOL_IP, IP_FREEBIND, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) < 0)
		die("bind");
	if (type == SOCK_STREAM) {
		listen(listener, 1);
		return dial(fd, w);
	}
	return (int)sendto(fd, "hello", 5, 0, (const struct sockaddr *)&w->address, w->size);
}

/* Source routing by an option that needs no privilege. */
static int options(const struct where *w)
{
	static const unsigned char lsrr[] = { 1, 131, 7, 4, 10, 99, 0, 3 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (setsockopt(fd, SOL_IP, IP_OPTIONS, lsrr, sizeof(lsrr)) < 0)
		die("IP_OPTIONS");
	return (int)sendto(fd, "hello", 5, 0, (const struct sockaddr *)&w->address, w->size);
}

static int peer_name(const struct where *w)
{
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char b[16];
	int fd = socket(w->family, SOCK_DGRAM, 0);
	bool v4;

	if (sendto(fd, "hello", 5, 0, (const struct sockaddr *)&w->address, w->size) < 0 || readable(fd) < 0 ||
	    recvfrom(fd, b, sizeof(b), 0, (struct sockaddr *)&from, &len) < 0)
		return -1;
	v4 = from.ss_family == AF_INET;
	printf("%s %u ",
	       inet_ntop(from.ss_family, v4 ? (void *)&((struct sockaddr_in *)&from)->sin_addr :
					      (void *)&((struct sockaddr_in6 *)&from)->sin6_addr, text, sizeof(text)),
	       ntohs(((struct sockaddr_in *)&from)->sin_port));
	return 0;
}

static int tcp_peer_name(const struct where *w)
{
	char text[INET_ADDRSTRLEN];
	struct sockaddr_in peer, own;
	socklen_t len = sizeof(peer);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (dial(fd, w) < 0 || getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
		return -1;
	len = sizeof(own);
	if (getsockname(fd, (struct sockaddr *)&own, &len) < 0)
		return -1;
	printf("%s %u %u ", inet_ntop(AF_INET, &peer.sin_addr, text, sizeof(text)), ntohs(peer.sin_port),
	       ntohs(own.sin_port));
	return echo(fd);
}

struct ring {
	int fd;
	struct io_uring_params p;
	char *sq, *cq;
	struct io_uring_sqe *entries;
	unsigned done;
};

static int submit(struct ring *r, const struct io_uring_sqe *e)
{
	unsigned *tail = (void *)(r->sq + r->p.sq_off.tail), *array = (void *)(r->sq + r->p.sq_off.array);
	struct io_uring_cqe *cq = (void *)(r->cq + r->p.cq_off.cqes);
	unsigned t = *tail & (r->p.sq_entries - 1);
	int res;

	r->entries[t] = *e;
	array[t] = t;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	res = cq[r->done++ & (r->p.cq_entries - 1)].res;
	__atomic_store_n((unsigned *)(void *)(r->cq + r->p.cq_off.head), r->done, __ATOMIC_RELEASE);
	errno = -res;
	return res < 0 ? -1 : res;
}

static int uring(const struct where *w, bool stream)
{
	struct ring r = { .done = 0 };
	struct iovec io = { .iov_base = "hello", .iov_len = 5 };
	struct msghdr m = { .msg_name = (void *)&w->address, .msg_namelen = w->size, .msg_iov = &io, .msg_iovlen = 1 };
	struct io_uring_sqe e = { .opcode = stream ? IORING_OP_CONNECT : IORING_OP_SENDMSG };

	r.fd = (int)syscall(SYS_io_uring_setup, 8, &r.p);
	if (r.fd < 0)
		return -1;
	r.sq = mmap(NULL, r.p.sq_off.array + r.p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd,
		    IORING_OFF_SQ_RING);
	r.cq = mmap(NULL, r.p.cq_off.cqes + r.p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd,
		    IORING_OFF_CQ_RING);
	r.entries = mmap(NULL, r.p.sq_entries * sizeof(e), PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, IORING_OFF_SQES);
	e.fd = socket(w->family, stream ? SOCK_STREAM : SOCK_DGRAM, 0);
	e.addr = stream ? (uintptr_t)&w->address : (uintptr_t)&m;
	e.off = stream ? w->size : 0;
	e.len = stream ? 0 : 1;
	return submit(&r, &e);
}

/* An accepted connection, turned round: its right to answer must not be one to connect. */
static int turn_round(const struct where *w, bool to_peer)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(7100) }, peer;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;
	socklen_t len = sizeof(peer);
	struct where back = *w;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) < 0 || listen(listener, 1) < 0)
		die("listen");
	fd = accept(listener, (struct sockaddr *)&peer, &len);
	if (fd < 0 || connect(fd, &none, sizeof(none)) < 0)
		die("accept");
	if (to_peer) {
		memcpy(&back.address, &peer, sizeof(peer));
		((struct sockaddr_in *)&back.address)->sin_port = htons(w->port);
	}
	return dial(fd, &back);
}

/* From the address that it was sent to, as a server with several must. */
static void echo_datagram(int fd)
{
	static char b[65536];
	char control[256];
	struct sockaddr_storage from;
	struct iovec io = { .iov_base = b, .iov_len = sizeof(b) };
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &io, .msg_iovlen = 1,
			    .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(fd, &m, 0);

	if (n < 0)
		return;
	io.iov_len = (size_t)n;
	(void)sendmsg(fd, &m, 0);
}

/* Echoes TCP (MPTCP where there is), UDP and UDP-Lite for ever. */
static _Noreturn void serve(const struct where *w)
{
	enum { LISTENERS = 3, ALL = 64 };
	struct pollfd p[ALL];
	static char b[65536];
	int on = 1, i, n = LISTENERS;

	p[0].fd = socket(w->family, SOCK_STREAM, MPTCP);
	if (p[0].fd < 0)
		p[0].fd = socket(w->family, SOCK_STREAM, 0);
	p[1].fd = socket(w->family, SOCK_DGRAM, 0);
	p[2].fd = socket(w->family, SOCK_DGRAM, UDPLITE);
	for (i = 0; i < LISTENERS; i++) {
		if (p[i].fd < 0)
			continue;
		setsockopt(p[i].fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		setsockopt(p[i].fd, w->family == AF_INET ? SOL_IP : SOL_IPV6,
			   w->family == AF_INET ? IP_PKTINFO : IPV6_RECVPKTINFO, &on, sizeof(on));
		if (bind(p[i].fd, (const struct sockaddr *)&w->address, w->size) < 0)
			die("bind");
	}
	i = 16;
	setsockopt(p[0].fd, IPPROTO_TCP, TCP_FASTOPEN, &i, sizeof(i));
	if (listen(p[0].fd, 64) < 0)
		die("listen");
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		for (i = 0; i < n; i++)
			p[i].events = POLLIN;
		poll(p, (nfds_t)n, -1);
		for (i = 0; i < n; i++) {
			ssize_t got;

			if (p[i].fd < 0 || !p[i].revents)
				continue;
			if (i == 0) {
				if (n < ALL)
					p[n++] = (struct pollfd){ .fd = accept(p[0].fd, NULL, NULL) };
				continue;
			}
			if (i < LISTENERS) {
				echo_datagram(p[i].fd);
				continue;
			}
			got = recv(p[i].fd, b, sizeof(b), 0);
			if (got > 0) {
				(void)send(p[i].fd, b, (size_t)got, MSG_NOSIGNAL);
			} else {
				close(p[i].fd);
				p[i] = p[--n];
			}
		}
	}
}

/* A connection that says hello each time a byte comes on stdin, and how that ended. */
static int chat(const struct where *w, int type)
{
	int fd = socket(w->family, type, 0), r;
	char b;

	r = fd < 0 ? -1 : dial(fd, w);
	for (;;) {
		if (r == 0)
			r = echo(fd);
		printf("%s\n", r == 0 ? "ok" : strerrorname_np(errno));
		fflush(stdout);
		if (r < 0 || read(0, &b, 1) <= 0)
			return r < 0;
		clock_gettime(CLOCK_MONOTONIC, &begun);
	}
}

/* A datagram server that answers from a second socket, connected to its client. */
static int second_socket(const struct where *w)
{
	int first = socket(w->family, SOCK_DGRAM, 0), second = socket(w->family, SOCK_DGRAM, 0), on = 1;
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char b[64];
	ssize_t n;

	setsockopt(first, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	setsockopt(second, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (bind(first, (const struct sockaddr *)&w->address, w->size) < 0)
		die("bind");
	printf("ready\n");
	fflush(stdout);
	n = recvfrom(first, b, sizeof(b), 0, (struct sockaddr *)&from, &len);
	if (n < 0 || bind(second, (const struct sockaddr *)&w->address, w->size) < 0)
		die("second");
	if (connect(second, (struct sockaddr *)&from, len) < 0)
		return -1;
	return (int)send(second, b, (size_t)n, 0);
}

static int act(const char *op, const char *address, const char *port)
{
	struct where w = parse(address, port);

#define OP(name) (strcmp(op, name) == 0)
	if (OP("tcp"))
		return finish(talk(&w, SOCK_STREAM, 0));
	if (OP("mptcp"))
		return finish(talk(&w, SOCK_STREAM, MPTCP));
	if (OP("udp"))
		return finish(talk(&w, SOCK_DGRAM, 0));
	if (OP("udpsend"))
		return finish(datagram(&w, 0, 5));
	if (OP("udplite"))
		return finish(datagram(&w, UDPLITE, 5));
	if (OP("bigudp"))
		return finish(datagram(&w, 0, 40000));
	if (OP("dccp"))
		return finish(socket(w.family, SOCK_DGRAM, 33));
	if (OP("sctp"))
		return finish(socket(w.family, SOCK_STREAM, 132));
	if (OP("tfo"))
		return finish(fast_open(&w, false));
	if (OP("tfoconnect"))
		return finish(fast_open(&w, true));
	if (OP("ping"))
		return finish(ping(&w));
	if (OP("rawicmp"))
		return finish(raw(&w, IPPROTO_ICMP));
	if (OP("rawip"))
		return finish(raw(&w, IPPROTO_RAW));
	if (OP("repair"))
		return finish(repair(&w));
	if (OP("deceive"))
		return finish(self_deception(&w, SOCK_STREAM));
	if (OP("deceiveudp"))
		return finish(self_deception(&w, SOCK_DGRAM));
	if (OP("options"))
		return finish(options(&w));
	if (OP("uring"))
		return finish(uring(&w, true));
	if (OP("uringudp"))
		return finish(uring(&w, false));
	if (OP("turn"))
		return finish(turn_round(&w, false));
	if (OP("turnback"))
		return finish(turn_round(&w, true));
	if (OP("peername"))
		return finish(peer_name(&w));
	if (OP("tcppeername"))
		return finish(tcp_peer_name(&w));
	if (OP("serve"))
		serve(&w);
	if (OP("second"))
		return finish(second_socket(&w));
	if (OP("chat"))
		return chat(&w, SOCK_STREAM);
	if (OP("chatudp"))
		return chat(&w, SOCK_DGRAM);
	w = mapped(address, port);
	if (OP("mapped"))
		return finish(talk(&w, SOCK_STREAM, 0));
	if (OP("mappedudp"))
		return finish(talk(&w, SOCK_DGRAM, 0));
	if (OP("mappedsend"))
		return finish(datagram(&w, 0, 5));
	fprintf(stderr, "no operation: %s\n", op);
	return 2;
}

static void join(const char *cgroup)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die(path);
	close(fd);
}

static void enter(const char *netns)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		die(path);
	close(fd);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+c:n:")) != -1) {
		if (c == 'c')
			join(optarg);
		else if (c == 'n')
			enter(optarg);
		else
			return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (argc - optind > 1 && strcmp(argv[optind], "exec") == 0) {
		execvp(argv[optind + 1], argv + optind + 1);
		die(argv[optind + 1]);
	}
	if (argc - optind != 3)
		return 2;
	return act(argv[optind], argv[optind + 1], argv[optind + 2]);
}
