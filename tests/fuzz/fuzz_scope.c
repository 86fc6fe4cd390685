/*
 * What an engine or an image says about a systemd unit, in any bytes: a cgroup path, the value of an
 * annotation, and the message to the helper program. What is accepted must be well-formed, and a
 * message that is read must be written again as it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup/cgroup_scope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void name(const char *text, struct arena *arena)
{
	struct cgroup_scope_name n;
	struct error err;

	if (cgroup_scope_name(text, "id", false, arena, &n, &err) < 0)
		return;
	if (strchr(n.unit, '/') || strchr(n.slice, '/') || (n.folder[0] != '/' && !n.is_slice) || strstr(n.folder, "/../"))
		abort();
}

static void annotation(const char *text, struct arena *arena)
{
	const char *signature, **values;
	struct error err;
	size_t n;

	if (cgroup_variant_parse(text, arena, &signature, &values, &n, &err) < 0)
		return;
	if (!cgroup_props_signature_ok(signature) || (*signature != 'a' && n != 1))
		abort();
}

static void message(const char *data, size_t len)
{
	struct cgroup_scope_request q, again;
	struct error err;
	char *msg, *twice;
	size_t msg_len, twice_len;

	if (cgroup_scope_decode(data, len, &q, &err) < 0)
		return;
	if (cgroup_scope_encode(q.verb, q.unit, q.slice, &q.props, &msg, &msg_len, &err) < 0 ||
	    cgroup_scope_decode(msg, msg_len, &again, &err) < 0 ||
	    cgroup_scope_encode(again.verb, again.unit, again.slice, &again.props, &twice, &twice_len, &err) < 0)
		abort();
	if (msg_len != twice_len || memcmp(msg, twice, msg_len) != 0)
		abort();
	cgroup_props_done(&q.props);
	cgroup_props_done(&again.props);
	free(msg);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	char *text;

	if (size == 0)
		return 0;
	text = arena_strndup(&arena, (const char *)data + 1, size - 1);
	if (!text)
		return 0;
	if (data[0] == 'n')
		name(text, &arena);
	else if (data[0] == 'a')
		annotation(text, &arena);
	else if (data[0] == 'm')
		message((const char *)data + 1, size - 1);
	return 0;
}
