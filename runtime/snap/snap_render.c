/*
 * Lists of changes as text like that of `git status`, and as JSON.
 */
#include "snap/snap_render.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "util/enum_table.h"

static const char *const kind_words[] = {
	[SNAP_ADDED] = "added",		[SNAP_MODIFIED] = "modified", [SNAP_REPLACED] = "replaced",
	[SNAP_DELETED] = "deleted", [SNAP_RENAMED] = "renamed",
};

static const struct { unsigned bit; const char *word; } attr_words[] = {
	{ SNAP_ATTR_CONTENT, "content" }, { SNAP_ATTR_MODE, "mode" }, { SNAP_ATTR_OWNER, "owner" },
	{ SNAP_ATTR_XATTR, "attributes" }, { SNAP_ATTR_TIME, "time" },
};

const char *snap_type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "folder";
	case S_IFLNK:
		return "link";
	case S_IFIFO:
		return "pipe";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

static bool is_plain(const char *name)
{
	size_t left = strlen(name), n;

	for (; left > 0; name += n, left -= n) {
		unsigned char c = (unsigned char)*name;

		if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
			return false;
		n = str_utf8_len(name, left);
		/* C1 controls are two bytes of UTF-8; so are marks that turn the direction of writing, with three. */
		if (n == 0 || (n == 2 && c == 0xc2 && (unsigned char)name[1] < 0xa0) || (n == 3 && c == 0xe2 && (unsigned char)name[1] <= 0x81))
			return false;
	}
	return true;
}

void snap_quote(struct buf *b, const char *prefix, const char *name)
{
	static const char letters[] = "\a\b\t\n\v\f\r\"\\", escapes[] = "abtnvfr\"\\";
	const char *p;

	if (is_plain(name)) {
		buf_adds(b, prefix);
		buf_adds(b, name);
		return;
	}
	buf_addf(b, "\"%s", prefix);
	for (p = name; *p; p++) {
		const char *at = strchr(letters, *p);

		if (at)
			buf_addf(b, "\\%c", escapes[at - letters]);
		else if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			buf_addf(b, "\\%03o", (unsigned char)*p);
		else
			buf_add(b, p, 1);
	}
	buf_adds(b, "\"");
}

static void put_bytes(struct buf *b, off_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	size_t i = 0;

	if (bytes < 1024) {
		buf_addf(b, "%lld bytes", (long long)bytes);
		return;
	}
	for (value /= 1024; value >= 1024 && i + 1 < ELEMENTSOF(units); value /= 1024)
		i++;
	buf_addf(b, "%.1f %s", value, units[i]);
}

/* What is to be said beside the name; nothing for a plain modified file. */
static void put_notes(struct buf *b, const struct snap_change *c)
{
	const char *before = " (";
	size_t i;

	if (c->kind == SNAP_REPLACED) {
		buf_addf(b, "%s%s -> %s", before, snap_type_name(c->old.st_mode), snap_type_name(c->new.st_mode));
		before = ", ";
	}
	if (c->kind == SNAP_ADDED && S_ISREG(c->new.st_mode)) {
		buf_adds(b, before);
		put_bytes(b, c->new.st_size);
		before = ", ";
	} else if ((c->kind == SNAP_ADDED && !S_ISDIR(c->new.st_mode)) || (c->kind == SNAP_DELETED && S_ISLNK(c->old.st_mode))) {
		buf_addf(b, "%s%s", before, snap_type_name(c->kind == SNAP_ADDED ? c->new.st_mode : c->old.st_mode));
		before = ", ";
	}
	for (i = 0; i < ELEMENTSOF(attr_words) && (c->kind == SNAP_MODIFIED || c->kind == SNAP_RENAMED); i++) {
		if (!(c->attrs & attr_words[i].bit) || (attr_words[i].bit == SNAP_ATTR_TIME && c->attrs != SNAP_ATTR_TIME))
			continue;
		buf_addf(b, "%s%s", before, attr_words[i].word);
		if (attr_words[i].bit == SNAP_ATTR_MODE)
			buf_addf(b, " %04o -> %04o", c->old.st_mode & 07777, c->new.st_mode & 07777);
		if (attr_words[i].bit == SNAP_ATTR_OWNER)
			buf_addf(b, " %u:%u -> %u:%u", c->old.st_uid, c->old.st_gid, c->new.st_uid, c->new.st_gid);
		before = ", ";
	}
	if (c->unseen) {
		buf_addf(b, "%sholds more than is listed", before);
		before = ", ";
	}
	if (c->link) {
		buf_addf(b, "%shard link of ", before);
		snap_quote(b, "", c->link);
		before = ", ";
	}
	if (*before == ',')
		buf_adds(b, ")");
}

void snap_render_text(struct buf *b, const struct snap_layer *layer, const struct snap_changes *c)
{
	size_t i, shown = 0;

	for (i = 0; i < c->n; i++)
		shown += !c->items[i].implied;
	snap_quote(b, "", layer->destination);
	buf_adds(b, " over ");
	snap_quote(b, "", layer->source);
	if (shown == 0) {
		buf_adds(b, ": no changes\n");
		return;
	}
	buf_addf(b, ": %zu change%s\n", shown, shown == 1 ? "" : "s");
	for (i = 0; i < c->n; i++) {
		const struct snap_change *x = &c->items[i];
		bool folder = S_ISDIR(x->kind == SNAP_DELETED ? x->old.st_mode : x->new.st_mode);

		if (x->implied)
			continue;
		buf_addf(b, "  %s:%*s", kind_words[x->kind], (int)(11 - strlen(kind_words[x->kind])), "");
		if (x->kind == SNAP_RENAMED) {
			snap_quote(b, "", x->from);
			buf_adds(b, " -> ");
		}
		snap_quote(b, "", *x->path ? x->path : ".");
		if (folder)
			buf_adds(b, "/");
		put_notes(b, x);
		buf_adds(b, "\n");
	}
}

/* JSON has no bytes that are not UTF-8: then hexadecimal digits say what it was. */
static void json_name(struct json_writer *w, const char *key, const char *name)
{
	_cleanup_buf_ struct buf hex = BUF_NULL;
	const char *p = name;
	size_t left = strlen(name), n;

	json_string(w, key, name);
	for (; left > 0 && (n = str_utf8_len(p, left)) > 0; p += n, left -= n)
		;
	if (left == 0)
		return;
	for (p = name; *p; p++)
		buf_addf(&hex, "%02x", (unsigned char)*p);
	if (buf_ok(&hex)) {
		char long_key[32];

		(void)snprintf(long_key, sizeof(long_key), "%sHex", key);
		json_string(w, long_key, hex.data);
	}
}

static void json_side(struct json_writer *w, const char *key, const struct stat *st)
{
	char mode[8];

	json_object_begin(w, key);
	json_string(w, "type", snap_type_name(st->st_mode));
	(void)snprintf(mode, sizeof(mode), "%04o", st->st_mode & 07777);
	json_string(w, "mode", mode);
	json_u64(w, "uid", st->st_uid);
	json_u64(w, "gid", st->st_gid);
	if (S_ISREG(st->st_mode)) {
		json_u64(w, "size", (uint64_t)st->st_size);
		json_u64(w, "allocated", (uint64_t)st->st_blocks * 512);
	}
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode)) {
		json_u64(w, "major", major(st->st_rdev));
		json_u64(w, "minor", minor(st->st_rdev));
	}
	json_object_end(w);
}

void snap_render_json(struct json_writer *w, const struct snap_layer *layer, const struct snap_changes *c)
{
	size_t i, k;

	json_object_begin(w, NULL);
	json_name(w, "destination", layer->destination);
	json_name(w, "source", layer->source);
	json_array_begin(w, "changes");
	for (i = 0; i < c->n; i++) {
		const struct snap_change *x = &c->items[i];

		if (x->implied)
			continue;
		json_object_begin(w, NULL);
		json_string(w, "kind", kind_words[x->kind]);
		json_name(w, "path", *x->path ? x->path : ".");
		if (x->from)
			json_name(w, "from", x->from);
		if (x->link)
			json_name(w, "linkOf", x->link);
		if (x->kind == SNAP_MODIFIED || x->kind == SNAP_RENAMED) {
			json_array_begin(w, "differs");
			for (k = 0; k < ELEMENTSOF(attr_words); k++)
				if (x->attrs & attr_words[k].bit)
					json_string(w, NULL, attr_words[k].word);
			json_array_end(w);
		}
		if (x->unseen)
			json_bool(w, "unseen", true);
		if (x->kind != SNAP_ADDED)
			json_side(w, "old", &x->old);
		if (x->kind != SNAP_DELETED)
			json_side(w, "new", &x->new);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
}
