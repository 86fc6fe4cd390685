/*
 * Other names of an object through the mount table. A bind mount shows part of a
 * filesystem at a second place, an overlay shows its layers: from a canonical path and the
 * table follow all further paths, and those of anything inside a folder. Text only, apart
 * from the one read.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "os/hostpath_tables.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define TABLE_MAX   ((size_t)64 * 1024 * 1024)
#define PARTS_MAX   4096
#define ALIASES_MAX 1024

struct mount_row {
	uint64_t id;
	const char *device; /* "major:minor" of the superblock */
	const char *root;   /* of the mount, inside its filesystem */
	const char *point;
	const char *fstype;
	const char *options; /* of the superblock */
};

struct hostpath_mounts {
	struct mount_row *rows;
	size_t count;
};

void hostpath_parts_add(struct hostpath_parts *list, enum hostpath_part_kind kind, const char *at,
			const char *what)
{
	struct hostpath_part *grown;

	if (!at || list->count >= PARTS_MAX)
		list->failed = true;
	if (list->failed)
		return;
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 8;
		grown = arena_calloc(list->arena, list->room, sizeof(*grown));
		if (!grown) {
			list->failed = true;
			return;
		}
		if (list->count > 0)
			memcpy(grown, list->items, list->count * sizeof(*grown));
		list->items = grown;
	}
	list->items[list->count++] = (struct hostpath_part){ kind, at, what };
}

const char *hostpath_rest(const char *path, const char *base)
{
	const char *rest;

	if (str_eq(base, "/"))
		return *path == '/' ? (path[1] ? path : "") : NULL;
	rest = str_after(path, base);
	return rest && (*rest == '\0' || *rest == '/') ? rest : NULL;
}

/* base + rest, where base may be "/". */
static const char *join(struct arena *arena, const char *base, const char *rest)
{
	if (str_eq(base, "/"))
		return *rest ? arena_strdup(arena, rest) : "/";
	return *rest ? arena_printf(arena, "%s%s", base, rest) : base;
}

/* Blanks, line ends and backslashes stand as \ooo. In place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static char *word(char **at)
{
	char *start = *at, *blank;

	if (!start)
		return NULL;
	blank = strchr(start, ' ');
	if (blank)
		*blank = '\0';
	*at = blank ? blank + 1 : NULL;
	return start;
}

/* "id parent dev root point options [tags] - type source super". */
static bool parse_row(char *line, struct mount_row *ret)
{
	char *at = line, *id, *root, *point, *tag;

	id = word(&at);
	(void)word(&at);
	ret->device = word(&at);
	root = word(&at);
	point = word(&at);
	do
		tag = word(&at);
	while (tag && !str_eq(tag, "-"));
	ret->fstype = word(&at);
	(void)word(&at);
	ret->options = word(&at);
	if (!ret->fstype || parse_u64(id, &ret->id) < 0)
		return false;
	if (!ret->options)
		ret->options = "";
	unescape(root);
	unescape(point);
	ret->root = root;
	ret->point = point;
	return true;
}

int hostpath_mounts_read(struct hostpath_host *host, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	struct hostpath_mounts *m;
	size_t len, lines = 0, i;
	char *line, *end, *copy;
	int r;

	r = procfs_openat(host->proc_fd, "self/mountinfo", O_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, TABLE_MAX, &text, &len);
	if (r < 0)
		return error_set(err, r, "read /proc/self/mountinfo");
	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	m = arena_alloc(host->arena, sizeof(*m));
	copy = arena_strndup(host->arena, text, len);
	if (!m || !copy)
		return error_oom(err);
	m->rows = arena_calloc(host->arena, lines + 1, sizeof(*m->rows));
	if (!m->rows)
		return error_oom(err);
	for (line = copy; *line; line = end) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end++ = '\0';
		if (!parse_row(line, &m->rows[m->count]))
			return error_text(err, -EBADMSG,
					  "/proc/self/mountinfo: unexpected content");
		m->count++;
	}
	host->mounts = m;
	return 0;
}

static const struct mount_row *row_by_id(const struct hostpath_mounts *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->rows[i].id == id)
			return &m->rows[i];
	return NULL;
}

struct names {
	struct arena *arena;
	const char **items;
	size_t count;
	bool failed;
};

static void names_add(struct names *n, const char *name, const char *self)
{
	size_t i;

	if (!name || n->failed || str_eq(name, self)) {
		n->failed |= !name;
		return;
	}
	for (i = 0; i < n->count; i++)
		if (str_eq(n->items[i], name))
			return;
	if (n->count == ALIASES_MAX) {
		n->failed = true;
		return;
	}
	if (!n->items)
		n->items = arena_calloc(n->arena, ALIASES_MAX, sizeof(*n->items));
	if (!n->items)
		n->failed = true;
	else
		n->items[n->count++] = name;
}

/* The layer folders of one overlay, one after the other; list is a copy that gets cut up. */
struct layers {
	char *next_option, *next_layer;
};

/*
 * Colons in folder names are escaped; such layers are only ever missed, and only root can
 * make them.
 */
static const char *layers_next(struct layers *l)
{
	static const char *const keys[] = { "lowerdir=", "lowerdir+=", "datadir+=", "upperdir=" };
	char *option, *layer, *end;
	size_t k;

	while (!l->next_layer) {
		option = l->next_option;
		if (!option)
			return NULL;
		end = strchr(option, ',');
		if (end)
			*end++ = '\0';
		l->next_option = end;
		for (k = 0; k < ELEMENTSOF(keys) && !l->next_layer; k++)
			if (str_after(option, keys[k]))
				l->next_layer = option + strlen(keys[k]);
	}
	layer = l->next_layer;
	end = strchr(layer, ':');
	if (end)
		*end++ = '\0';
	l->next_layer = end;
	return layer;
}

/* In a container the layers are named as their host calls them: they mean nothing here. */
static bool layer_exists(const char *layer)
{
	struct stat st;

	return *layer == '/' && (stat(layer, &st) == 0 || !hostpath_is_absent(-errno));
}

/* What lies in LAYER/x shows at POINT/x; a layer inside the source is an inner name. */
static void layers_below(const struct mount_row *overlay, const char *path, struct names *n,
			 struct hostpath_parts *parts)
{
	char start[64];
	struct layers l = { .next_option = NULL };
	const char *layer, *rest;
	size_t len = 1 + strcspn(path + 1, "/ \t\n\\,:");

	/* Hosts have thousands of overlays: most are settled by the first folder's name. */
	(void)snprintf(start, sizeof(start), "%.*s", (int)MIN(len, sizeof(start) - 1), path);
	if (!strstr(overlay->options, start))
		return;
	l.next_option = arena_strdup(n->arena, overlay->options);
	if (!l.next_option) {
		n->failed = true;
		return;
	}
	unescape(l.next_option);
	while ((layer = layers_next(&l)) != NULL) {
		rest = hostpath_rest(path, layer);
		if (rest && layer_exists(layer))
			names_add(n, join(n->arena, overlay->point, rest), path);
		else if (parts && hostpath_rest(layer, path) && layer_exists(layer))
			hostpath_parts_add(parts, HOSTPATH_PART_NAME, layer, overlay->point);
	}
}

/* The other way: what an overlay shows at inside comes from one of its layers. */
static void layers_above(const struct mount_row *overlay, const char *path, const char *inside,
			 struct names *n)
{
	struct layers l = { .next_option = arena_strdup(n->arena, overlay->options) };
	const char *layer;

	if (!l.next_option) {
		n->failed = true;
		return;
	}
	unescape(l.next_option);
	while ((layer = layers_next(&l)) != NULL)
		if (layer_exists(layer))
			names_add(n, join(n->arena, layer, inside), path);
}

/* All further names of the object at path, which the mount row shows. */
static void find_aliases(const struct hostpath_mounts *m, const struct mount_row *row,
			 const char *path, struct names *n, struct hostpath_parts *parts)
{
	const char *rest = hostpath_rest(path, row->point), *internal, *below;
	size_t i;

	/* The roots of nsfs and of mounts in removed folders are no paths. */
	internal = rest && *row->root == '/' ? join(n->arena, row->root, rest) : NULL;
	for (i = 0; i < m->count && internal; i++) {
		if (&m->rows[i] == row || !str_eq(m->rows[i].device, row->device))
			continue;
		below = hostpath_rest(internal, m->rows[i].root);
		if (below)
			names_add(n, join(n->arena, m->rows[i].point, below), path);
	}
	for (i = 0; i < m->count; i++)
		if (str_eq(m->rows[i].fstype, "overlay") && &m->rows[i] != row)
			layers_below(&m->rows[i], path, n, parts);
	/* The layers of the host's own root are just what the host is made of. */
	if (internal && str_eq(row->fstype, "overlay") && !str_eq(row->point, "/"))
		layers_above(row, path, internal, n);
}

/* Folders inside the source that are mounted elsewhere, too. */
static void find_inner(const struct hostpath_mounts *m, const struct mount_row *row,
		       const char *path, struct hostpath_parts *parts)
{
	const char *rest = hostpath_rest(path, row->point), *internal, *below;
	size_t i;

	internal = rest && *row->root == '/' ? join(parts->arena, row->root, rest) : NULL;
	for (i = 0; i < m->count && internal; i++) {
		if (&m->rows[i] == row || !str_eq(m->rows[i].device, row->device))
			continue;
		below = hostpath_rest(m->rows[i].root, internal);
		if (below && *below)
			hostpath_parts_add(parts, HOSTPATH_PART_NAME,
					   join(parts->arena, path, below), m->rows[i].point);
	}
}

/* Mounts on the way down that a recursive bind takes along, with their other names. */
static void find_submounts(const struct hostpath_mounts *m, const char *path,
			   struct hostpath_parts *parts)
{
	const char *rest;
	size_t i, j;

	for (i = 0; i < m->count && !parts->failed; i++) {
		struct names n = { .arena = parts->arena };

		rest = hostpath_rest(m->rows[i].point, path);
		if (!rest || !*rest)
			continue;
		hostpath_parts_add(parts, HOSTPATH_PART_MOUNT, m->rows[i].point, m->rows[i].fstype);
		find_aliases(m, &m->rows[i], m->rows[i].point, &n, NULL);
		for (j = 0; j < n.count; j++)
			hostpath_parts_add(parts, HOSTPATH_PART_NAME, m->rows[i].point, n.items[j]);
		find_inner(m, &m->rows[i], m->rows[i].point, parts);
		parts->failed |= n.failed;
	}
}

int hostpath_mounts_apply(const struct hostpath_host *host, struct hostpath *hp, bool recursive,
			  struct hostpath_parts *parts, struct error *err)
{
	const struct hostpath_mounts *m = host->mounts;
	const struct mount_row *row = row_by_id(m, hp->mount_id);
	struct names n = { .arena = host->arena };

	/* A mount outside of the table belongs to another mount namespace. */
	if (!row || !hostpath_rest(hp->path, row->point))
		hp->reachable = false;
	if (!hp->reachable)
		return 0;
	hp->fstype = row->fstype;
	find_aliases(m, row, hp->path, &n, parts);
	if (n.failed)
		return error_text(err, -ENOMEM, "mount source %s: too many mounts to judge it",
				  hp->source);
	hp->aliases = n.items;
	hp->n_aliases = n.count;
	if (S_ISDIR(hp->mode)) {
		find_inner(m, row, hp->path, parts);
		if (recursive)
			find_submounts(m, hp->path, parts);
	}
	return 0;
}
