/*
 * Owns the file formats of resctrl. Knows nothing of containers and keeps no state:
 * what was made is told to the caller.
 */
#include "os/intelrdt.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "util/fd.h"
#include "util/str.h"

#define RDT_FILE_MAX ((size_t)64 * 1024)

static int path_join(const char *dir, const char *name, char **ret, struct error *err)
{
	char *p = str_printf("%s/%s", dir, name);

	if (!p)
		return error_oom(err);
	*ret = p;
	return 0;
}

/* The file system type follows " - " in a mountinfo line; the mount point is its fifth word. */
static char *mountinfo_resctrl(char *line)
{
	const char *tail = strstr(line, " - ");
	char *word, *save = NULL;
	int i;

	if (!tail || !str_after(tail, " - resctrl "))
		return NULL;
	word = strtok_r(line, " ", &save);
	for (i = 1; word && i < 5; i++)
		word = strtok_r(NULL, " ", &save);
	return word;
}

int rdt_mount_find(char **ret_root, struct error *err)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	const char *word;
	size_t cap = 0;
	char *root;

	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return error_set(err, -errno, "open /proc/self/mountinfo");
	while (getline(&line, &cap, f) > 0) {
		word = mountinfo_resctrl(line);
		if (!word)
			continue;
		root = strdup(word);
		if (!root)
			return error_oom(err);
		*ret_root = root;
		return 0;
	}
	return error_text(err, -ENODEV,
			  "intelRdt: no resctrl file system is mounted: run mount -t resctrl "
			  "resctrl /sys/fs/resctrl, or remove linux.intelRdt");
}

/* A name below the mount: one component that is none of the file system's own folders. */
static int name_check(const char *what, const char *name, struct error *err)
{
	static const char *const own[] = { ".", "..", "info", "mon_groups", "mon_data" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(own); i++)
		if (str_eq(name, own[i]))
			break;
	if (i < ELEMENTSOF(own) || name[0] == '\0' || strchr(name, '/') || strchr(name, '\n'))
		return error_text(err, -EINVAL, "intelRdt: invalid %s \"%s\"", what, name);
	return 0;
}

/* Adds the lines of text; those that start with skip (may be NULL) are left out. */
static void lines_add(struct buf *b, const char *text, const char *skip)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");

		if (len > 0 && !(skip && str_after(text, skip))) {
			buf_add(b, text, len);
			buf_add(b, "\n", 1);
		}
		text += len;
		text += *text == '\n';
	}
}

/* runtime-spec: an "MB:" line inside l3CacheSchema gives way to memBwSchema. */
static int schemata_text(const struct rdt_config *c, struct buf *b, struct error *err)
{
	size_t i;

	lines_add(b, c->l3_cache_schema, c->mem_bw_schema ? "MB:" : NULL);
	lines_add(b, c->mem_bw_schema, NULL);
	for (i = 0; i < c->n_schemata; i++)
		lines_add(b, c->schemata[i], NULL);
	return buf_ok(b) ? 0 : error_oom(err);
}

/* The significant digits. */
static const char *digits_skip(const char *s, size_t *len)
{
	if (*len > 2 && s[0] == '0' && s[1] == 'x') {
		s += 2;
		*len -= 2;
	}
	while (*len > 1 && s[0] == '0') {
		s++;
		--*len;
	}
	return s;
}

/* Both are written in the base that the resource has, so the digits decide. */
static bool values_equal(const char *a, size_t a_len, const char *b, size_t b_len)
{
	a = digits_skip(a, &a_len);
	b = digits_skip(b, &b_len);
	return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

static const char *blanks_skip(const char *s)
{
	return s + strspn(s, " \t");
}

/* The "domain=value;…" part of the resource's line in text, or NULL. name ends at its colon. */
static const char *resource_find(const char *text, const char *name, size_t name_len)
{
	const char *found = NULL;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *s = blanks_skip(text);

		if (strncmp(s, name, name_len) == 0 && s[name_len] == ':')
			found = s + name_len + 1;
	}
	return found;
}

/* Whether the list has that domain with that value. */
static bool domain_has(const char *list, const char *pair, size_t pair_len)
{
	size_t key = strcspn(pair, "=");

	if (key >= pair_len)
		return false;
	for (;;) {
		const char *s = blanks_skip(list);
		size_t len = strcspn(s, ";\n");

		if (len > key && strncmp(s, pair, key + 1) == 0)
			return values_equal(s + key + 1, len - key - 1, pair + key + 1,
					    pair_len - key - 1);
		if (s[len] != ';')
			return false;
		list = s + len + 1;
	}
}

/* Every domain of every wanted line must stand in the present text with the same value. */
static bool schemata_covered(const char *have, const char *want)
{
	for (; *want; want += strcspn(want, "\n"), want += *want == '\n') {
		const char *line = blanks_skip(want);
		size_t name_len = strcspn(line, ":\n");
		const char *list = resource_find(have, line, name_len);
		const char *pair = line + name_len + 1;

		if (line[name_len] != ':' || !list)
			return false;
		/* A later line for the resource wins. */
		if (resource_find(line, line, name_len) != pair)
			continue;
		for (;;) {
			size_t len;

			pair = blanks_skip(pair);
			len = strcspn(pair, ";\n");
			if (len > 0 && !domain_has(list, pair, len))
				return false;
			if (pair[len] != ';')
				break;
			pair += len + 1;
		}
	}
	return true;
}

static int schemata_check(const char *path, const char *want, struct error *err)
{
	_cleanup_free_ char *file = NULL;
	_cleanup_free_ char *have = NULL;
	size_t len;
	int r;

	assert(want);
	r = path_join(path, "schemata", &file, err);
	if (r < 0)
		return r;
	r = file_read_all(AT_FDCWD, file, RDT_FILE_MAX, &have, &len, err);
	if (r < 0)
		return error_prefix(err, "intelRdt");
	if (!schemata_covered(have, want))
		return error_text(err, -EINVAL,
				  "intelRdt: the schemata of the existing group %s differ from the "
				  "configured ones: leave them out or make them equal",
				  path);
	return 0;
}

/* The kernel says in words what was wrong with the last write. */
static void last_status_add(const char *root, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *file = NULL;
	struct error ignored = ERROR_NULL;
	struct error old = *err;
	size_t len;

	if (path_join(root, "info/last_cmd_status", &file, &ignored) < 0 ||
	    file_read_all(AT_FDCWD, file, RDT_FILE_MAX, &text, &len, &ignored) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	(void)error_text(err, old.code, "%s (%s)", old.text, text);
}

static int schemata_write(const char *root, const char *path, const struct buf *text,
			  struct error *err)
{
	_cleanup_free_ char *file = NULL;
	int r;

	r = path_join(path, "schemata", &file, err);
	if (r < 0)
		return r;
	r = file_write_once(AT_FDCWD, file, text->data, text->len);
	if (r < 0) {
		(void)error_set(err, r, "intelRdt: write %s", file);
		last_status_add(root, err);
	}
	return r;
}

/* Positive: it was there already. */
static int dir_make(const char *path, struct error *err)
{
	assert(path);
	if (mkdir(path, 0755) == 0)
		return 0;
	if (errno == EEXIST)
		return 1;
	if (errno == ENOSPC)
		return error_text(err, -ENOSPC,
				  "intelRdt: make group %s: the hardware has no class of service "
				  "or monitoring id left",
				  path);
	return error_set(err, -errno, "intelRdt: make group %s", path);
}

static int mon_make(const char *id, struct rdt_group *g, struct error *err)
{
	_cleanup_free_ char *dir = NULL;
	int r;

	r = name_check("container id", id, err);
	if (r == 0)
		r = path_join(g->path, "mon_groups", &dir, err);
	if (r == 0)
		r = path_join(dir, id, &g->mon_path, err);
	if (r < 0)
		return r;
	r = dir_make(g->mon_path, err);
	/* Removing a control group removes its monitoring groups. */
	if (r == 0 && !g->made_path) {
		g->made_path = strdup(g->mon_path);
		if (!g->made_path) {
			(void)rmdir(g->mon_path);
			return error_oom(err);
		}
	}
	return r < 0 ? r : 0;
}

static int group_make(const char *root, const struct rdt_config *c, const struct buf *text,
		      struct rdt_group *g, struct error *err)
{
	struct stat st;
	int r;

	assert(root && g->path);
	if (c->clos_id && text->len == 0) {
		if (stat(g->path, &st) < 0)
			return error_set(err, -errno,
					 "intelRdt: closID %s without schemata must exist",
					 g->path);
		return 0;
	}
	r = dir_make(g->path, err);
	if (r < 0)
		return r;
	if (r > 0 && c->clos_id)
		return schemata_check(g->path, text->data, err);
	if (r == 0) {
		g->made_path = strdup(g->path);
		if (!g->made_path) {
			(void)rmdir(g->path);
			return error_oom(err);
		}
	}
	return text->len > 0 ? schemata_write(root, g->path, text, err) : 0;
}

int rdt_create(const char *root, const char *id, const struct rdt_config *config,
	       struct rdt_group *ret, struct error *err)
{
	_cleanup_rdt_group_ struct rdt_group g = RDT_GROUP_NULL;
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct error ignored = ERROR_NULL;
	int r;

	assert(root && id && config);

	r = schemata_text(config, &text, err);
	if (r < 0)
		return r;
	if (config->clos_id && str_eq(config->clos_id, "/")) {
		g.path = strdup(root);
		if (!g.path)
			return error_oom(err);
	} else {
		const char *name = config->clos_id ? config->clos_id : id;

		r = name_check(config->clos_id ? "closID" : "container id", name, err);
		if (r == 0)
			r = path_join(root, name, &g.path, err);
		if (r < 0)
			return r;
	}
	r = group_make(root, config, &text, &g, err);
	if (r == 0 && config->monitoring)
		r = mon_make(id, &g, err);
	if (r < 0) {
		(void)rdt_remove(g.made_path, &ignored);
		return r;
	}
	*ret = g;
	g = RDT_GROUP_NULL;
	return 0;
}

static int task_write(const char *dir, pid_t pid, struct error *err)
{
	_cleanup_free_ char *file = NULL;
	char text[16];
	int n, r;

	r = path_join(dir, "tasks", &file, err);
	if (r < 0)
		return r;
	n = snprintf(text, sizeof(text), "%d\n", (int)pid);
	r = file_write_once(AT_FDCWD, file, text, (size_t)n);
	if (r < 0)
		return error_set(err, r, "intelRdt: put process %d into %s", (int)pid, dir);
	return 0;
}

int rdt_attach(const struct rdt_group *group, pid_t pid, struct error *err)
{
	int r;

	r = task_write(group->path, pid, err);
	/* Entering a control group leaves the monitoring group of another: so in this order. */
	if (r == 0 && group->mon_path)
		r = task_write(group->mon_path, pid, err);
	return r;
}

int rdt_remove(const char *made_path, struct error *err)
{
	if (!made_path || rmdir(made_path) == 0 || errno == ENOENT)
		return 0;
	return error_set(err, -errno, "intelRdt: remove group %s", made_path);
}

void rdt_group_done(struct rdt_group *group)
{
	free(group->path);
	free(group->mon_path);
	free(group->made_path);
	*group = RDT_GROUP_NULL;
}
