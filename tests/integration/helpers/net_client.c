/*
 * A network client for tests, static and without the C library's resolver, which needs files
 * that a test's root file system lacks.
 *
 *   net-client get ADDRESS PORT     prints the body of http://ADDRESS:PORT/, or why not
 *   net-client name NAME PORT       the same after a question to resolv.conf's first server
 *   net-client resolve NAME         prints the address, or the answer's code
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMEOUT_S  5
#define NO_ADDRESS 256 /* above all answer codes */

static int fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

static int get(const char *address, unsigned port)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct timeval limit = { .tv_sec = TIMEOUT_S };
	char text[65536];
	size_t len = 0;
	ssize_t n;
	char *body;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail("socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return fail("address");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return fail("connect");
	if (write(fd, request, sizeof(request) - 1) < 0)
		return fail("write");
	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	body = strstr(text, "\r\n\r\n");
	printf("%s", body ? body + 4 : "no answer\n");
	return body ? 0 : 1;
}

static size_t question(const char *name, unsigned char *out)
{
	unsigned char *p = out + 12, *length;

	memset(out, 0, 12);
	out[0] = 0x51;
	out[1] = 0x7a;
	out[2] = 1;
	out[5] = 1;
	while (*name) {
		length = p++;
		while (*name && *name != '.')
			*p++ = (unsigned char)*name++;
		*length = (unsigned char)(p - length - 1);
		name += *name == '.';
	}
	memcpy(p, "\0\0\1\0\1", 5);
	return (size_t)(p + 5 - out);
}

/* 0 and the first address, else the answer's code, or -1. */
static int resolve(const char *name, char address[INET_ADDRSTRLEN])
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct timeval limit = { .tv_sec = TIMEOUT_S };
	unsigned char q[600], a[4096];
	char server[64] = "";
	FILE *conf = fopen("/etc/resolv.conf", "re");
	size_t len = question(name, q);
	ssize_t n;
	int fd;

	if (!conf || fscanf(conf, "nameserver %63s", server) != 1 || inet_pton(AF_INET, server, &to.sin_addr) != 1)
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (sendto(fd, q, len, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	n = recv(fd, a, sizeof(a), 0);
	if (n < (ssize_t)len || a[0] != q[0] || a[1] != q[1])
		return -1;
	if ((a[3] & 15) != 0)
		return a[3] & 15;
	/* One answer of our own server: compressed name, then fixed fields. */
	if (a[7] == 0)
		return NO_ADDRESS;
	if (n < (ssize_t)len + 16)
		return -1;
	(void)inet_ntop(AF_INET, a + len + 12, address, INET_ADDRSTRLEN);
	return 0;
}

int main(int argc, char **argv)
{
	char address[INET_ADDRSTRLEN] = "";
	unsigned port = 0;
	int r;

	if (argc == 4 && sscanf(argv[3], "%u", &port) == 1 && strcmp(argv[1], "get") == 0)
		return get(argv[2], port);
	if (argc < 3)
		return 2;
	r = resolve(argv[2], address);
	if (r != 0) {
		printf(r == 3 ? "unknown name\n" : r == NO_ADDRESS ? "no address\n" : r > 0 ? "answer code %d\n" : "no name server\n", r);
		return 1;
	}
	if (port > 0)
		return get(address, port);
	printf("%s\n", address);
	return 0;
}
