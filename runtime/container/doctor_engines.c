/*
 * Which engines are installed, and whether agentrun is one of their runtimes, or the one they use
 * when nobody asks. Reads their configuration files line by line and judges nothing else in them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "container/doctor.h"
#include "util/fd.h"
#include "util/json_read.h"
#include "util/str.h"

#define CONFIG_MAX ((size_t)4 << 20)
#define OURS "agentrun"

/* What a configuration says. */
struct engine_says {
	bool listed; /* agentrun is one of the runtimes */
	char by_default[64]; /* name of the runtime that is used when nobody asks, "" = not said */
	char broken[ERROR_TEXT_MAX]; /* why a file could not be read */
};

static bool installed(const char *program)
{
	static const char *const folders[] = { "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin" };
	char path[256];
	size_t i;

	for (i = 0; i < ELEMENTSOF(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folders[i], program);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* The file's text, or NULL: it is not there, or says->broken. */
static char *config_read(const char *path, struct engine_says *says)
{
	struct error err = ERROR_NULL;
	char *text = NULL;
	int r = file_read_all(AT_FDCWD, path, CONFIG_MAX, &text, NULL, &err);

	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		(void)snprintf(says->broken, sizeof(says->broken), "%s", err.text);
	return r < 0 ? NULL : text;
}

static bool is_ours(const char *path)
{
	const char *name = strrchr(path, '/');

	return str_eq(name ? name + 1 : path, OURS);
}

static void read_docker(const char *path, struct engine_says *says)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_free_ char *text = config_read(path, says);
	const struct json *runtimes, *r, *member;
	struct error err = ERROR_NULL;
	struct json *doc;

	if (!text)
		return;
	if (json_parse(path, text, strlen(text), 0, &arena, &doc, &err) < 0 || doc->type != JSON_OBJECT) {
		(void)snprintf(says->broken, sizeof(says->broken), "%s", err.code ? err.text : "not an object");
		return;
	}
	member = json_member(doc, "default-runtime");
	if (member && member->type == JSON_STRING)
		(void)snprintf(says->by_default, sizeof(says->by_default), "%s", member->text);
	runtimes = json_member(doc, "runtimes");
	for (r = runtimes && runtimes->type == JSON_OBJECT ? runtimes->kids.first : NULL; r; r = r->next) {
		member = r->type == JSON_OBJECT ? json_member(r, "path") : NULL;
		if (!member || member->type != JSON_STRING || !is_ours(member->text))
			continue;
		says->listed = true;
		if (str_eq(says->by_default, r->key)) /* whatever it is called there */
			(void)snprintf(says->by_default, sizeof(says->by_default), OURS);
	}
}

/* The value of `key = "value"` into buf when line is that. */
static bool toml_string(const char *line, const char *key, char *buf, size_t size)
{
	const char *p = str_after(line, key);
	size_t len;

	if (!p)
		return false;
	p += strspn(p, " \t");
	if (*p++ != '=')
		return false;
	p += strspn(p, " \t");
	if (*p != '"' && *p != '\'')
		return false;
	len = strcspn(p + 1, "\"'");
	(void)snprintf(buf, size, "%.*s", (int)len, p + 1);
	return true;
}

/* table: what the tables of runtimes end with, as in [engine.runtimes]; key: of the default. */
static void read_toml(const char *path, const char *table, const char *key, struct engine_says *says)
{
	_cleanup_free_ char *text = config_read(path, says);
	char *line, *save = NULL;
	bool in_table = false;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " \t");
		if (*line == '[') {
			const char *found = strstr(line, table);

			/* [x.runtimes] with a line `agentrun = …`, or [x.runtimes.agentrun] */
			in_table = found && found[strlen(table)] == ']';
			if (found && str_after(found + strlen(table), "." OURS))
				says->listed = true;
		} else if (in_table && str_after(line, OURS)) {
			says->listed = true;
		}
		(void)toml_string(line, key, says->by_default, sizeof(says->by_default));
	}
}

/* The *.conf files of a folder, in the order of their names. */
static void read_folder(const char *path, const char *table, const char *key, struct engine_says *says)
{
	struct dirent **list = NULL;
	int i, n = scandir(path, &list, NULL, alphasort);

	for (i = 0; i < n; i++) {
		const char *dot = strrchr(list[i]->d_name, '.');
		_cleanup_free_ char *file = str_printf("%s/%s", path, list[i]->d_name);

		if (file && dot && str_eq(dot, ".conf"))
			read_toml(file, table, key, says);
		free(list[i]);
	}
	free(list);
}

static const struct engine {
	const char *name, *program, *file, *folder, *table, *key, *usual;
} engines[] = {
	{ "docker", "dockerd", "docker/daemon.json", NULL, NULL, NULL, "runc" },
	{ "podman", "podman", "containers/containers.conf", "containers/containers.conf.d", "engine.runtimes",
	  "runtime", "crun or runc" },
	{ "containerd", "containerd", "containerd/config.toml", NULL, ".runtimes", "default_runtime_name", "runc" },
	{ "cri-o", "crio", "crio/crio.conf", "crio/crio.conf.d", "crio.runtime.runtimes", "default_runtime", "crun or runc" },
};

static void judge(struct doctor *d, const struct engine *e, const struct engine_says *says)
{
	if (says->broken[0])
		doctor_add(d, DOCTOR_NOTE, e->name, "correct the file", "%s", says->broken);
	else if (!says->listed)
		doctor_add(d, DOCTOR_NOTE, e->name, "add it, as in contrib/engines; restart the engine",
			   "installed, and agentrun is none of its runtimes");
	else if (str_eq(says->by_default, OURS))
		doctor_add(d, DOCTOR_OK, e->name, "", "agentrun is what it uses when nobody asks");
	else
		doctor_add(d, DOCTOR_NOTE, e->name,
			   "make agentrun the default, or forbid the others to those who may start containers",
			   "agentrun is one of its runtimes; what does not ask for it runs under %s, without this policy",
			   says->by_default[0] ? says->by_default : e->usual);
}

void doctor_engines(struct doctor *d, const char *etc)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(engines); i++) {
		const struct engine *e = &engines[i];
		struct engine_says says = { .listed = false };
		_cleanup_free_ char *file = str_printf("%s/%s", etc, e->file);
		_cleanup_free_ char *folder = e->folder ? str_printf("%s/%s", etc, e->folder) : NULL;

		if (!file || (e->folder && !folder)) {
			d->failed = true;
			return;
		}
		if (!installed(e->program))
			continue;
		if (e->table)
			read_toml(file, e->table, e->key, &says);
		else
			read_docker(file, &says);
		if (folder)
			read_folder(folder, e->table, e->key, &says);
		judge(d, e, &says);
		if (str_eq(e->program, "dockerd"))
			doctor_add(d, DOCTOR_NOTE, e->name, "build where no hostile Dockerfile comes, or with another builder",
				   "builds (BuildKit) take runc from the PATH: they are not under this policy");
	}
}
