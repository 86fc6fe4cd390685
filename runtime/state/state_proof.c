/*
 * The part of state.json that later commands compare the kernel with: limits as they were
 * written, and what was read back at the start. Its form only.
 */
#include "state/state_proof.h"

#include <stddef.h>

static const struct json_field limit_fields[] = {
	{ "controller", json_get_string, offsetof(struct state_limit, controller), JSON_REQUIRED, NULL },
	{ "file", json_get_string, offsetof(struct state_limit, file), JSON_REQUIRED | JSON_NOT_EMPTY, NULL },
	{ "value", json_get_string, offsetof(struct state_limit, value), JSON_REQUIRED, NULL },
	{ 0 },
};

const struct json_object state_limit_type = {
	.size = sizeof(struct state_limit),
	.fields = limit_fields,
};

static const struct json_field readback_fields[] = {
	{ "limits", json_get_u64, offsetof(struct state_readback, limits), 0, NULL },
	{ "namespaces", json_get_u64, offsetof(struct state_readback, namespaces), 0, NULL },
	{ "mounts", json_get_u64, offsetof(struct state_readback, mounts), 0, NULL },
	{ "paths", json_get_u64, offsetof(struct state_readback, paths), 0, NULL },
	{ 0 },
};

const struct json_object state_readback_type = {
	.size = sizeof(struct state_readback),
	.fields = readback_fields,
};

void state_write_proof(struct json_writer *w, const struct state_record *rec)
{
	const struct state_readback *b = &rec->readback;
	size_t i;

	if (b->set) {
		json_object_begin(w, "readBack");
		json_u64(w, "limits", b->limits);
		json_u64(w, "namespaces", b->namespaces);
		json_u64(w, "mounts", b->mounts);
		json_u64(w, "paths", b->paths);
		json_object_end(w);
	}
	json_array_begin(w, "limits");
	for (i = 0; i < rec->limits.count; i++) {
		json_object_begin(w, NULL);
		json_string(w, "controller", rec->limits.items[i].controller);
		json_string(w, "file", rec->limits.items[i].file);
		json_string(w, "value", rec->limits.items[i].value);
		json_object_end(w);
	}
	json_array_end(w);
}
