/*
 * Owns the reading of name servers, from the container's resolv.conf or a policy. The file
 * is the container's: nothing in it is trusted beyond the addresses it names.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "egress/egress_resolver.h"
#include "util/parse.h"
#include "util/str.h"

#define DNS_PORT  53
#define WORD	  "nameserver"
#define TOKEN_MAX 80

/* "ADDRESS" or "IPV6%SCOPE". */
static int read_address(char *text, struct egress_server *ret)
{
	struct egress_server s = { .port = DNS_PORT, .v6 = strchr(text, ':') != NULL };
	char *scope = s.v6 ? strchr(text, '%') : NULL;

	if (scope) {
		*scope++ = '\0';
		if (!*scope || strlen(scope) >= sizeof(s.scope))
			return -EINVAL;
		memcpy(s.scope, scope, strlen(scope));
	}
	if (inet_pton(s.v6 ? AF_INET6 : AF_INET, text, s.address) != 1)
		return -EINVAL;
	*ret = s;
	return 0;
}

int egress_server_from_text(const char *text, struct egress_server *ret)
{
	char copy[TOKEN_MAX], *address = copy, *end = NULL;
	struct egress_server s;
	uint32_t port = DNS_PORT;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, strlen(text) + 1);
	if (copy[0] == '[') {
		end = strchr(copy, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		*end++ = '\0';
		address = copy + 1;
	} else if (strchr(copy, ':') == strrchr(copy, ':')) {
		end = strchr(copy, ':');
	}
	if (end && *end) {
		*end++ = '\0';
		if (parse_u32(end, &port) < 0 || port < 1 || port > 65535)
			return -EINVAL;
	}
	if (read_address(address, &s) < 0 || (copy[0] == '[' && !s.v6))
		return -EINVAL;
	s.port = (uint16_t)port;
	*ret = s;
	return 0;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The first word behind "nameserver" on the line, or false. */
static bool server_word(const char *line, size_t len, char word[TOKEN_MAX])
{
	const size_t key = sizeof(WORD) - 1;
	size_t at = key, n = 0;

	if (len <= key || memcmp(line, WORD, key) != 0 || !blank(line[key]))
		return false;
	while (at < len && blank(line[at]))
		at++;
	for (; at < len && !blank(line[at]) && line[at] != '#' && line[at] != ';'; at++) {
		if (n + 1 == TOKEN_MAX || !line[at])
			return false;
		word[n++] = line[at];
	}
	word[n] = '\0';
	return n > 0;
}

void egress_servers_from_resolv_conf(const char *text, size_t len, struct egress_servers *ret)
{
	char word[TOKEN_MAX];
	const char *end;
	size_t at, n;

	memset(ret, 0, sizeof(*ret));
	for (at = 0; at < len && ret->n < EGRESS_SERVERS_MAX; at += n + 1) {
		end = memchr(text + at, '\n', len - at);
		n = end ? (size_t)(end - text) - at : len - at;
		if (server_word(text + at, n, word) &&
		    read_address(word, &ret->server[ret->n]) == 0)
			ret->n++;
	}
}
