/*
 * The record: written and read back, cut, changed by hand, made by another version,
 * and the list of all containers that have one.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "state/state.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

static char folder[] = "/tmp/agentrun-test-record-XXXXXX";
static struct error err;

static void put(int dirfd, const char *name, const char *text)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		ok(false, "cannot write %s", name);
}

static char *keys[] = { (char *)"io.k", (char *)"e" }, *values[] = { (char *)"v \"\n", (char *)"" };
static struct state_cgroup_dir dirs[] = {
	{ (char *)"cpu,cpuacct", (char *)"/sys/fs/cgroup/cpu/x", true },
	{ NULL, (char *)"/sys/fs/cgroup/x", false },
};
static const struct state_record sample = {
	.id = (char *)"c1",
	.oci_version = (char *)"1.3.0",
	.bundle = (char *)"/b",
	.rootfs = (char *)"/b/rootfs..x",
	.owner = (char *)"root",
	.created = (char *)"2026-01-02T03:04:05.678901234Z",
	.pid = 4242,
	.pid_start = 18446744073709551615ull,
	.pid_ns_private = true,
	.rootless = true,
	.terminal = true,
	.cgroup_layout = 2,
	.cgroup_manager = 1,
	.cgroup_dirs = dirs,
	.n_cgroup_dirs = 2,
	.cgroup_scope = (char *)"x.scope",
	.annotations = { keys, values, 2 },
};

static void test_record(int root)
{
	_cleanup_state_record_ struct state_record *rec = NULL;
	_cleanup_close_ int dir = -EBADF;
	_cleanup_free_ char *one = NULL, *two = NULL;
	struct stat st;

	is_int(state_dir_create(root, "rec", &dir, &err), 0, "a container");
	is_int(state_read(dir, &rec, &err), STATE_E_NOT_FOUND, "has no record at first");
	is_int(state_write(dir, &sample, &err), 0, "write");
	ok(fstatat(dir, STATE_FILE, &st, 0) == 0 && (st.st_mode & 07777) == 0600, "mode 0600");
	is_int(state_read(dir, &rec, &err), 0, "read");
	if (!rec)
		return;
	is_str(rec->id, "c1", "id");
	is_str(rec->rootfs, "/b/rootfs..x", "two dots in a name are no way up");
	is_str(rec->created, sample.created, "created");
	ok(rec->pid == 4242 && rec->pid_start == sample.pid_start, "pid and start time, exact");
	ok(rec->pid_ns_private && rec->rootless && rec->terminal && !rec->systemd_cgroup &&
		   !rec->no_new_keyring,
	   "flags");
	ok(rec->cgroup_layout == 2 && rec->cgroup_manager == 1 && rec->n_cgroup_dirs == 2,
	   "cgroup");
	is_str(rec->cgroup_dirs[0].controllers, "cpu,cpuacct", "controllers");
	ok(rec->cgroup_dirs[0].created && !rec->cgroup_dirs[1].created &&
		   !rec->cgroup_dirs[1].controllers,
	   "what is ours");
	ok(!rec->intel_rdt_group, "what was not set stays not set");
	ok(rec->annotations.count == 2 && str_eq(rec->annotations.values[0], "v \"\n"),
	   "annotations");
	ok(state_format(&sample, &one, &err) == 0 && state_format(rec, &two, &err) == 0,
	   "format both");
	is_str(two, one, "write, read and write give the same text");
	ok(!strchr(one, '\n'), "on one line");
	ok(str_after(one,
		     "{\"version\":1,\"id\":\"c1\",\"ociVersion\":\"1.3.0\",\"bundle\":\"/b\","),
	   "the version comes first");
	is_int(state_dir_remove(root, "rec", &err), 0, "remove");
}

/* The sample with one piece of its text replaced. */
static char *changed(const char *from, const char *to)
{
	_cleanup_free_ char *text = NULL;
	char *at;

	if (state_format(&sample, &text, &err) < 0)
		return NULL;
	at = strstr(text, from);
	if (!at) {
		ok(false, "\"%s\" is not in the record", from);
		return NULL;
	}
	return str_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void test_bad_records(int root)
{
	static const struct {
		const char *from, *to;
		int code;
		const char *want;
	} rows[] = {
		{ "\"version\":1", "\"version\":2", -EPROTONOSUPPORT,
		  "state.json: has version 2, this agentrun reads up to 1: use the newer agentrun "
		  "that made "
		  "this container" },
		{ "\"version\":1,", "", -EINVAL,
		  "state.json: has no version: not written by agentrun, or changed by hand" },
		{ "\"version\":1", "\"version\":0", -EINVAL,
		  "state.json: has no version: not written by agentrun, or changed by hand" },
		{ "\"id\":\"c1\",", "", -EINVAL, "state.json: id (offset 0): is required" },
		{ "\"id\":\"c1\"", "\"id\":\"../c\"", -EINVAL,
		  "state.json: id: invalid container ID format: \"../c\"" },
		{ "\"pid\":4242", "\"pid\":-1", -EINVAL, "state.json: pid: -1 is no process id" },
		{ "\"pid\":4242", "\"pid\":4294967297", -EINVAL,
		  "state.json: pid: 4294967297 is no process id" },
		{ "\"pid\":4242", "\"pid\":\"1\"", -EINVAL,
		  "state.json: pid (offset 146): must be an integer, is a string" },
		{ "\"/b\"", "\"b\"", -EINVAL,
		  "state.json: bundle, rootfs: must be absolute paths without \"..\"" },
		{ "/sys/fs/cgroup/x", "/sys/fs/cgroup/../x", -EINVAL,
		  "state.json: cgroupDirs[1].path: must be an absolute path without \"..\"" },
		{ "/sys/fs/cgroup/x", "/sys/fs/cgroup/..", -EINVAL,
		  "state.json: cgroupDirs[1].path: must be an absolute path without \"..\"" },
		{ "\"cgroupLayout\":2", "\"cgroupLayout\":4294967295", -EINVAL,
		  "state.json: cgroupLayout, cgroupManager: out of range" },
		{ "\"rootless\":true", "\"rootless\":true,\"rootless\":false", -EINVAL,
		  "state.json: offset 259: member \"rootless\" is there twice" },
	};
	_cleanup_state_record_ struct state_record *rec = NULL;
	_cleanup_free_ char *text = NULL, *newer = NULL, *want = NULL;
	_cleanup_close_ int dir = -EBADF;
	size_t i, len, refused = 0;

	for (i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_free_ char *bad = changed(rows[i].from, rows[i].to);

		is_int(state_parse(bad, strlen(bad), &rec, &err), rows[i].code, rows[i].to);
		is_str(err.text, rows[i].want, "its text");
	}

	newer = changed("\"version\":1", "\"version\":1,\"later\":{\"x\":[]}");
	is_int(state_parse(newer, strlen(newer), &rec, &err), 0,
	       "members of a later minor are passed over");
	rec = state_record_free(rec);

	(void)state_format(&sample, &text, &err);
	len = strlen(text);
	for (i = 0; i < len; i++)
		refused += state_parse(text, i, &rec, &err) == -EINVAL && !rec;
	is_int(refused, len, "a record cut anywhere is refused");

	is_int(state_dir_create(root, "bad", &dir, &err), 0, "a container");
	put(dir, STATE_FILE, "{\"version\":1,");
	is_int(state_read(dir, &rec, &err), -EINVAL, "a cut file");
	want = str_printf(
		"container folder %s/bad: state.json: offset 13: the document ends too early",
		folder);
	is_str(err.text, want, "is named with its folder");
	(void)unlinkat(dir, STATE_FILE, 0);
	ok(symlinkat("/etc/passwd", dir, STATE_FILE) == 0, "a link as record");
	is_int(state_read(dir, &rec, &err), -ELOOP, "is not followed");
	(void)unlinkat(dir, STATE_FILE, 0);
	ok(mkfifoat(dir, STATE_FILE, 0600) == 0, "a FIFO as record");
	ok(state_read(dir, &rec, &err) < 0, "does not hold us");
	is_int(state_dir_remove(root, "bad", &err), 0, "remove");
}

static void test_list(int root)
{
	static const char *const names[] = { "zz", "a", "m-1" };
	struct state_record rec = sample;
	char **ids = NULL;
	size_t i, count = 99;
	int fd;

	ok(state_list(root, &ids, &count, &err) == 0 && count == 0 && !ids[0], "an empty root");
	state_list_free(ids);
	ids = NULL;
	for (i = 0; i < ELEMENTSOF(names); i++) {
		is_int(state_dir_create(root, names[i], &fd, &err), 0, names[i]);
		rec.id = (char *)names[i];
		is_int(state_write(fd, &rec, &err), 0, "record");
		(void)close(fd);
	}
	is_int(state_dir_create(root, "half", &fd, &err), 0, "one without a record");
	(void)close(fd);
	put(root, "file", "");
	ok(mkdirat(root, "no id", 0700) == 0, "a folder that is no id");
	ok(symlinkat("a", root, "alias") == 0, "a link to one");
	is_int(state_list(root, &ids, &count, &err), 0, "list");
	is_int(count, 3, "the three with a record");
	ok(count == 3 && str_eq(ids[0], "a") && str_eq(ids[1], "m-1") && str_eq(ids[2], "zz") &&
		   !ids[3],
	   "sorted");
	state_list_free(ids);
	state_list_free(NULL);
	for (i = 0; i < ELEMENTSOF(names); i++)
		is_int(state_dir_remove(root, names[i], &err), 0, "remove");
	is_int(state_dir_remove(root, "half", &err), 0, "remove");
	(void)unlinkat(root, "file", 0);
	(void)unlinkat(root, "alias", 0);
	(void)unlinkat(root, "no id", AT_REMOVEDIR);
}

int main(void)
{
	_cleanup_close_ int root = -EBADF;

	if (!mkdtemp(folder) || state_root_open(folder, false, &root, &err) != 0)
		return TAP_SKIP_ALL("no temporary folder");
	TAP_BEGIN();
	test_record(root);
	test_bad_records(root);
	test_list(root);
	ok(rmdir(folder) == 0, "the root is empty at the end");
	return TAP_END();
}
