/*
 * Owns the form of session.json: written whole, versioned, checked when read.
 */
#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "snap/snap_private.h"
#include "util/fd.h"
#include "util/json_dispatch.h"
#include "util/json_write.h"
#include "util/str.h"

#define VERSION 1
#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

struct doc {
	uint64_t version, size, inodes, since_ns;
	int64_t since;
	char *id, *root, *boot, *log;
	bool keep, outlived;
	struct json_list layers;
};

/* A layer, with lists as the reader makes them. */
struct layer_doc {
	struct snap_layer layer;
	struct json_list uids, gids;
};

static const struct json_field map_fields[] = {
	{ "containerID", json_get_u32, offsetof(struct id_map, container_id), JSON_REQUIRED, NULL },
	{ "hostID", json_get_u32, offsetof(struct id_map, host_id), JSON_REQUIRED, NULL },
	{ "size", json_get_u32, offsetof(struct id_map, size), JSON_REQUIRED, NULL },
	{ 0 },
};
static const struct json_object map_type = { .size = sizeof(struct id_map), .fields = map_fields };

static const struct json_field layer_fields[] = {
	{ "destination", json_get_string, offsetof(struct layer_doc, layer.destination), JSON_REQUIRED | JSON_NOT_EMPTY, NULL },
	{ "source", json_get_string, offsetof(struct layer_doc, layer.source), JSON_REQUIRED | JSON_NOT_EMPTY, NULL },
	{ "dev", json_get_u64, offsetof(struct layer_doc, layer.dev), JSON_REQUIRED, NULL },
	{ "ino", json_get_u64, offsetof(struct layer_doc, layer.ino), JSON_REQUIRED, NULL },
	{ "born", json_get_u64, offsetof(struct layer_doc, layer.born), 0, NULL },
	{ "merged", json_get_u64, offsetof(struct layer_doc, layer.merged), 0, NULL },
	{ "uidMappings", json_get_list, offsetof(struct layer_doc, uids), 0, &map_type },
	{ "gidMappings", json_get_list, offsetof(struct layer_doc, gids), 0, &map_type },
	{ 0 },
};
static const struct json_object layer_type = { .size = sizeof(struct layer_doc), .fields = layer_fields };

static const struct json_field doc_fields[] = {
	{ "version", json_get_u64, offsetof(struct doc, version), JSON_REQUIRED, NULL },
	{ "id", json_get_string, offsetof(struct doc, id), JSON_REQUIRED, NULL },
	{ "root", json_get_string, offsetof(struct doc, root), JSON_REQUIRED, NULL },
	{ "boot", json_get_string, offsetof(struct doc, boot), JSON_REQUIRED, NULL },
	{ "since", json_get_i64, offsetof(struct doc, since), JSON_REQUIRED, NULL },
	{ "sinceNanoseconds", json_get_u64, offsetof(struct doc, since_ns), JSON_REQUIRED, NULL },
	{ "size", json_get_u64, offsetof(struct doc, size), JSON_REQUIRED, NULL },
	{ "inodes", json_get_u64, offsetof(struct doc, inodes), JSON_REQUIRED, NULL },
	{ "auditLog", json_get_string, offsetof(struct doc, log), 0, NULL },
	{ "outlived", json_get_bool, offsetof(struct doc, outlived), 0, NULL },
	{ "keep", json_get_bool, offsetof(struct doc, keep), 0, NULL },
	{ "layers", json_get_list, offsetof(struct doc, layers), JSON_REQUIRED, &layer_type },
	{ 0 },
};
static const struct json_object doc_type = { .size = sizeof(struct doc), .fields = doc_fields };

int snap_check_text(const char *what, const char *text, struct error *err)
{
	size_t left = strlen(text), n;

	for (; left > 0; text += n, left -= n) {
		n = str_utf8_len(text, left);
		if (n == 0)
			return error_text(err, -EILSEQ, "%s is not UTF-8, which a session cannot note down", what);
	}
	return 0;
}

int snap_boot_id(char ret[37], struct error *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read_all(AT_FDCWD, BOOT_ID_FILE, 256, &text, &len, err);

	if (r < 0)
		return r;
	(void)snprintf(ret, 37, "%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

static void write_maps(struct json_writer *w, const char *name, const struct id_maps *maps)
{
	size_t i;

	if (maps->count == 0)
		return;
	json_array_begin(w, name);
	for (i = 0; i < maps->count; i++) {
		json_object_begin(w, NULL);
		json_u64(w, "containerID", maps->items[i].container_id);
		json_u64(w, "hostID", maps->items[i].host_id);
		json_u64(w, "size", maps->items[i].size);
		json_object_end(w);
	}
	json_array_end(w);
}

int snap_record_write(int dir_fd, const struct snap_record *rec, bool durable, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	_cleanup_free_ char *text = NULL;
	size_t i;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_u64(w, "version", VERSION);
	json_string(w, "id", rec->id);
	json_string(w, "root", rec->root);
	json_string(w, "boot", rec->boot);
	json_i64(w, "since", rec->since.tv_sec);
	json_u64(w, "sinceNanoseconds", (uint64_t)rec->since.tv_nsec);
	json_u64(w, "size", rec->size);
	json_u64(w, "inodes", rec->inodes);
	if (rec->log)
		json_string(w, "auditLog", rec->log);
	json_bool(w, "outlived", rec->outlived);
	json_bool(w, "keep", rec->keep);
	json_array_begin(w, "layers");
	for (i = 0; i < rec->n_layers; i++) {
		json_object_begin(w, NULL);
		json_string(w, "destination", rec->layers[i].destination);
		json_string(w, "source", rec->layers[i].source);
		json_u64(w, "dev", rec->layers[i].dev);
		json_u64(w, "ino", rec->layers[i].ino);
		json_u64(w, "born", rec->layers[i].born);
		json_u64(w, "merged", rec->layers[i].merged);
		write_maps(w, "uidMappings", &rec->layers[i].uids);
		write_maps(w, "gidMappings", &rec->layers[i].gids);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
	r = json_take(w, &text, err);
	return r < 0 ? r : file_replace(dir_fd, SNAP_RECORD_FILE, text, strlen(text), 0600, durable, err);
}

static int take_layers(const struct doc *doc, struct snap_record *rec, struct error *err)
{
	const struct layer_doc *from = doc->layers.items;
	size_t i;

	rec->layers = arena_calloc(&rec->arena, doc->layers.count, sizeof(*rec->layers));
	if (!rec->layers)
		return error_oom(err);
	for (i = 0; i < doc->layers.count; i++) {
		if ((from[i].uids.count > 0) != (from[i].gids.count > 0))
			return error_text(err, -EINVAL, "%s: a layer has mappings of users or of groups alone", SNAP_RECORD_FILE);
		rec->layers[i] = from[i].layer;
		rec->layers[i].uids = (struct id_maps){ from[i].uids.items, from[i].uids.count };
		rec->layers[i].gids = (struct id_maps){ from[i].gids.items, from[i].gids.count };
	}
	rec->n_layers = doc->layers.count;
	return 0;
}

static int take_doc(const struct doc *doc, struct snap_record *rec, struct error *err)
{
	if (doc->version != VERSION)
		return error_text(err, -EPROTONOSUPPORT, "%s: version %llu is not of this agentrun", SNAP_RECORD_FILE,
				  (unsigned long long)doc->version);
	if (doc->layers.count == 0 || doc->layers.count > SNAP_LAYERS_MAX || doc->since_ns >= 1000000000)
		return error_text(err, -EINVAL, "%s: no layers, too many, or no time", SNAP_RECORD_FILE);
	rec->id = doc->id;
	rec->root = doc->root;
	rec->boot = doc->boot;
	rec->log = doc->log;
	rec->since = (struct timespec){ .tv_sec = doc->since, .tv_nsec = (long)doc->since_ns };
	rec->size = doc->size;
	rec->inodes = doc->inodes;
	rec->keep = doc->keep;
	rec->outlived = doc->outlived;
	return take_layers(doc, rec, err);
}

int snap_record_read(int dir_fd, struct snap_record **ret, struct error *err)
{
	_cleanup_(arena_done) struct arena scratch = ARENA_NULL;
	_cleanup_snap_record_ struct snap_record *rec = calloc(1, sizeof(*rec));
	struct json_ctx ctx = { .name = SNAP_RECORD_FILE };
	_cleanup_free_ char *text = NULL;
	struct doc doc = { 0 };
	struct json *root;
	size_t len;
	int r;

	if (!rec)
		return error_oom(err);
	ctx.arena = &rec->arena;
	r = file_read_all(dir_fd, SNAP_RECORD_FILE, JSON_BYTES_MAX, &text, &len, err);
	if (r == -ENOENT)
		return SNAP_E_NOT_FOUND;
	if (r == 0)
		r = json_parse(SNAP_RECORD_FILE, text, len, 0, &scratch, &root, err);
	if (r == 0)
		r = json_dispatch(&ctx, &doc_type, root, &doc, err);
	if (r == 0)
		r = take_doc(&doc, rec, err);
	if (r < 0)
		return r;
	*ret = take_ptr(rec);
	return 0;
}

struct snap_record *snap_record_free(struct snap_record *rec)
{
	if (rec) {
		arena_done(&rec->arena);
		free(rec);
	}
	return NULL;
}
