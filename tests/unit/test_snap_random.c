/*
 * Random trees and edits through a session, against a plain copy: what the container would see,
 * snapshot and rollback (live and stopped), commit, what diff says then, undo; commits and rollbacks
 * that are killed and finished. SNAP_ROUNDS and SNAP_SEED choose more, or one again.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "os/mount.h"
#include "snap/snap_change.h"
#include "snap/snap_private.h"
#include "snap_world.h"
#include "tap.h"
#include "util/parse.h"

#define ROUNDS_DEFAULT 40

static char scratch[] = "/tmp/agentrun-snap-random-XXXXXX";

struct round {
	struct world_rng rng;
	uint64_t seed;
	char original[80];
	int original_fd, plain_fd, merged_fd; /* not O_PATH */
	char *path;			      /* of the session */
	struct error err;
	const char *step;
};

static bool fail(struct round *r, const char *what)
{
	printf("# seed %llu, %s: %s %s\n", (unsigned long long)r->seed, r->step, what, r->err.text);
	return false;
}

/* The first line that differs. */
static bool same(struct round *r, char *got, char *want, const char *what)
{
	const char *g = got, *w = want;
	bool equal = str_eq(got, want);

	if (!equal) {
		while (*g && *g == *w)
			g++, w++;
		while (g > got && g[-1] != '\n')
			g--, w--;
		printf("#   got  %.*s\n#   want %.*s\n", (int)strcspn(g, "\n"), g, (int)strcspn(w, "\n"), w);
	}
	free(got);
	free(want);
	return equal || fail(r, what);
}

static int folder(const char *name, char path[80])
{
	(void)snprintf(path, 80, "%s/%s", scratch, name);
	(void)mkdir(path, 0755);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool begin(struct round *r)
{
	struct snap_layer layer = { .destination = "/work", .source = r->original };
	struct snap_record rec = { .id = "random", .root = scratch, .size = UINT64_C(32) << 20, .inodes = 4000, .layers = &layer, .n_layers = 1 };
	struct snap_over over = SNAP_OVER_NULL;
	int fd = open(r->original, O_PATH | O_DIRECTORY | O_CLOEXEC), n;
	bool done;

	over.source = r->original;
	done = mount_tree_clone(fd, &over.lower_fd, &r->err) == 0 && snap_make(r->path, &rec, &over, &r->err) == 0;
	(void)close(fd);
	cleanup_closep(&over.lower_fd);
	arena_done(&rec.arena);
	if (!done)
		return fail(r, "begin");
	n = openat(over.mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)close(over.mount_fd);
	r->merged_fd = n;
	return n >= 0;
}

/* The same edits in both, each from the same state of the generator. */
static void edit_both(struct round *r, unsigned edits)
{
	while (edits-- > 0) {
		struct world_rng rng = r->rng;

		world_edit(r->merged_fd, &r->rng);
		world_edit(r->plain_fd, &rng);
		if (getenv("SNAP_DEBUG")) {
			char *a = world_list(r->merged_fd, false, false), *b = world_list(r->plain_fd, false, false);

			if (!str_eq(a, b)) {
				printf("# differ %u before the end\n%s\n%s\n", edits, a, b);
				return;
			}
			free(a);
			free(b);
		}
	}
}

/* Another process, killed at a random moment. 0 = it came to its end, 1 = it was killed. */
static int killed(struct round *r, int (*fn)(struct round *r, struct snap *s, const int *merged), const int *merged)
{
	struct timespec pause = { .tv_nsec = (long)world_below(&r->rng, 6000000) };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct snap s = SNAP_NULL;

		_exit(snap_open(r->path, true, &s, &r->err) != 0 || fn(r, &s, merged) < 0);
	}
	(void)nanosleep(&pause, NULL);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 1 : WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int do_commit(struct round *r, struct snap *s, const int *merged)
{
	const struct snap_commit_options opt = { .force = false };
	struct snap_report report = { 0 };
	int ret = snap_recover(s, merged, false, &report, &r->err);

	if (ret == 0)
		ret = snap_commit(s, &opt, &report, &r->err);
	if (ret > 0)
		printf("# %s", report.text.data ? report.text.data : "");
	snap_report_done(&report);
	return ret > 0 ? -EBUSY : ret;
}

static int do_rollback(struct round *r, struct snap *s, const int *merged)
{
	struct snap_report report = { 0 };
	int ret = snap_recover(s, merged, false, &report, &r->err);

	if (ret == 0)
		ret = snap_rollback(s, "middle", NULL, merged, &report, &r->err);
	snap_report_done(&report);
	return ret;
}

static int do_undo(struct round *r, struct snap *s, const int *merged)
{
	struct snap_report report = { 0 };
	int ret;

	(void)merged;
	ret = snap_undo(s, false, &report, &r->err);
	snap_report_done(&report);
	return ret;
}

static int do_recover(struct round *r, struct snap *s, const int *merged)
{
	struct snap_report report = { 0 };
	int ret = snap_recover(s, merged, false, &report, &r->err);

	snap_report_done(&report);
	return ret;
}

static bool with_session(struct round *r, int (*fn)(struct round *r, struct snap *s, const int *merged), const int *merged)
{
	_cleanup_snap_ struct snap s = SNAP_NULL;

	return snap_open(r->path, true, &s, &r->err) == 0 && fn(r, &s, merged) == 0;
}

static int do_take(struct round *r, struct snap *s, const int *merged)
{
	_cleanup_free_ char *name = NULL;

	(void)merged;
	return snap_take(s, "middle", "on the way", &name, &r->err);
}

static int do_untake(struct round *r, struct snap *s, const int *merged)
{
	(void)merged;
	return snap_take_remove(s, "middle", &r->err);
}

/* diff finds nothing where the original is what the session shows. */
static bool diff_empty(struct round *r)
{
	_cleanup_snap_changes_ struct snap_changes changes = { 0 };
	_cleanup_snap_view_ struct snap_view v = SNAP_VIEW_NULL;
	_cleanup_snap_ struct snap s = SNAP_NULL;
	size_t i;

	if (snap_open(r->path, false, &s, &r->err) != 0 || snap_view_open(&s, 0, false, &v, &r->err) < 0 ||
	    snap_walk(&v, "", false, &changes, &r->err) < 0)
		return fail(r, "diff");
	for (i = 0; i < changes.n; i++)
		if (!changes.items[i].implied && changes.items[i].attrs != SNAP_ATTR_TIME) {
			printf("# %s %d %x\n", changes.items[i].path, changes.items[i].kind, changes.items[i].attrs);
			return fail(r, "diff after commit");
		}
	return true;
}

/* Edits, then back to the state of before: live through the overlay, stopped by another image. */
static bool snapshot(struct round *r, bool live, bool crash)
{
	char *want = world_list(r->merged_fd, true, false);
	const int merged[] = { r->merged_fd };

	r->step = "snapshot";
	/* It may be there already then, or half of it. */
	if (crash) {
		(void)killed(r, do_take, NULL);
		(void)with_session(r, do_untake, NULL);
	}
	if (!with_session(r, do_take, NULL)) {
		free(want);
		return fail(r, "take");
	}
	for (unsigned i = world_below(&r->rng, 30); i > 0; i--)
		world_edit(r->merged_fd, &r->rng);
	r->step = live ? "live rollback" : "rollback";
	if (!live) {
		/* The container has stopped: nobody has the old image. */
		(void)close(r->merged_fd);
		r->merged_fd = -EBADF;
	}
	if (crash)
		(void)killed(r, do_rollback, live ? merged : NULL);
	if (!with_session(r, do_rollback, live ? merged : NULL)) {
		free(want);
		return fail(r, "rollback");
	}
	if (!live) {
		_cleanup_snap_ struct snap s = SNAP_NULL;
		_cleanup_close_ int image_fd = -EBADF, mount_fd = -EBADF, fd = open(r->original, O_PATH | O_DIRECTORY | O_CLOEXEC);
		struct snap_over over = SNAP_OVER_NULL;

		over.source = r->original;
		if (snap_open(r->path, false, &s, &r->err) != 0 || mount_tree_clone(fd, &over.lower_fd, &r->err) < 0)
			return fail(r, "open again");
		image_fd = openat(s.dir_fd, SNAP_IMAGE_FILE, O_RDWR | O_CLOEXEC);
		if (snap_image_mount(image_fd, 0, &mount_fd, &r->err) < 0 || snap_overlays(mount_fd, &over, 1, false, &r->err) < 0)
			return fail(r, "mount again");
		(void)close(over.lower_fd);
		r->merged_fd = openat(over.mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(over.mount_fd);
	}
	return same(r, world_list(r->merged_fd, true, false), want, "the snapshot came back");
}

static bool commit(struct round *r, char *before, bool crash, bool linked)
{
	char *want = world_list(r->merged_fd, true, false);
	int how = 0;

	r->step = crash ? "commit, killed" : "commit";
	if (crash) {
		how = killed(r, do_commit, NULL);
		if (!with_session(r, do_recover, NULL)) {
			free(want);
			return fail(r, "recover");
		}
	}
	/* A commit that had not begun leaves nothing to be finished. */
	if (how != 0 || !crash) {
		if (!with_session(r, do_commit, NULL)) {
			free(want);
			return fail(r, "commit");
		}
	}
	if (!same(r, world_list(r->original_fd, true, false), want, "the original is what the session showed") || !diff_empty(r))
		return false;
	/* An overlay gives the names of one file numbers of their own: only the plain folder tells. */
	if (!linked && !same(r, world_list(r->original_fd, false, true), world_list(r->plain_fd, false, true), "the original is like the plain folder"))
		return false;
	if (!same(r, world_list(r->merged_fd, true, false), world_list(r->original_fd, true, false), "the session goes on showing it"))
		return false;
	r->step = "undo";
	if (str_eq(before, want = world_list(r->original_fd, true, !linked))) {
		free(want);
		return true;
	}
	free(want);
	if (crash) {
		(void)killed(r, do_undo, NULL);
		if (!with_session(r, do_recover, NULL))
			return fail(r, "recover");
		want = world_list(r->original_fd, true, !linked);
		if (str_eq(want, before)) {
			free(want);
			return true;
		}
		free(want);
	}
	if (!with_session(r, do_undo, NULL))
		return fail(r, "undo");
	return same(r, world_list(r->original_fd, true, !linked), strdup(before), "the original is what it was");
}

static bool play(struct round *r, bool linked)
{
	char *before = world_list(r->original_fd, true, !linked);
	bool good;

	r->step = "edit";
	edit_both(r, 5 + world_below(&r->rng, 60));
	/* A hard link of the original is one file no more once one name of it was changed. */
	good = linked || same(r, world_list(r->merged_fd, false, false), world_list(r->plain_fd, false, false), "the session is like a plain folder");
	if (good && world_below(&r->rng, 2))
		good = snapshot(r, world_below(&r->rng, 2), world_below(&r->rng, 3) == 0);
	if (good)
		good = commit(r, before, world_below(&r->rng, 3) == 0, linked);
	free(before);
	return good;
}

static bool one_round(uint64_t seed)
{
	struct round r = { .rng = { seed * 2654435769u + 88172645463325252u }, .seed = seed, .merged_fd = -EBADF, .step = "begin" };
	struct error ignored = ERROR_NULL;
	char plain[80];
	unsigned i, linked;
	bool good;

	r.original_fd = folder("original", r.original);
	r.plain_fd = folder("plain", plain);
	for (i = 0; i < 20; i++)
		(void)world_below(&r.rng, 2);
	linked = world_below(&r.rng, 4) == 0;
	/* Built twice in the same way, as edits of nothing; without hard links unless they are wanted. */
	for (i = 10 + world_below(&r.rng, 80); i > 0; i--) {
		struct world_rng rng = r.rng;

		world_edit(r.original_fd, &r.rng);
		world_edit(r.plain_fd, &rng);
	}
	good = snap_path(scratch, "random", &r.path, &r.err) == 0;
	if (good && !linked) {
		char *with = world_list(r.original_fd, false, true), *without = world_list(r.original_fd, false, false);

		linked = !str_eq(with, without);
		free(with);
		free(without);
	}
	good = good && begin(&r) && play(&r, linked);
	cleanup_closep(&r.merged_fd);
	if (r.path)
		(void)snap_remove(r.path, &ignored);
	free(r.path);
	(void)close(r.plain_fd);
	(void)close(r.original_fd);
	{
		int top = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		world_remove(top, "original");
		world_remove(top, "plain");
		(void)close(top);
	}
	return good;
}

int main(void)
{
	const char *rounds_text = getenv("SNAP_ROUNDS"), *seed_text = getenv("SNAP_SEED");
	uint64_t rounds = ROUNDS_DEFAULT, seed = (uint64_t)time(NULL) * 1000, i, bad = 0;

	if (geteuid() != 0 || access("/dev/loop-control", R_OK | W_OK) < 0)
		return TAP_SKIP_ALL("needs root and loop devices");
	if (rounds_text)
		(void)parse_u64(rounds_text, &rounds);
	if (seed_text && parse_u64(seed_text, &seed) == 0 && !rounds_text)
		rounds = 1;
	TAP_BEGIN();
	umask(0);
	if (!ok(mkdtemp(scratch) != NULL, "scratch folder"))
		return TAP_END();
	printf("# seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)(seed + rounds - 1));
	for (i = 0; i < rounds && bad < 3; i++)
		bad += !one_round(seed + i);
	is_int(bad, 0, "random sessions");
	(void)rmdir(scratch);
	return TAP_END();
}
