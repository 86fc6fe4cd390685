/*
 * The words of a mount's option list, in one table that serves the parser and the
 * `features` document. Makes no system call.
 */
#include <assert.h>

#include "os/mount_impl.h"
#include "util/parse.h"
#include "util/str.h"

#define IDMAP_OPTION_LINES 340 /* of one map: user_namespaces(7) */

enum option_verb {
	OPTION_NOTHING,
	OPTION_BIND, /* value: recursive */
	OPTION_REMOUNT,
	OPTION_SB_SET,
	OPTION_SB_CLEAR,
	OPTION_SET,
	OPTION_CLEAR,
	OPTION_ATIME, /* value: one of the exclusive atime modes */
	OPTION_ATIME_CLEAR,
	OPTION_PROPAGATION,
	OPTION_IDMAP, /* value: recursive */
	OPTION_TMPCOPYUP,
	OPTION_COPY_SYMLINK,
	OPTION_SRC_NOFOLLOW,
	OPTION_DEST_NOFOLLOW,
	/* Added to the four flag verbs above: the r… words, for the whole tree. */
	OPTION_RECURSIVE = 32,
};

struct option {
	const char *name;
	unsigned verb;
	uint64_t value;
};

#define R OPTION_RECURSIVE

static const struct option options[] = {
	{ "async", OPTION_SB_CLEAR, MS_SYNCHRONOUS },
	{ "atime", OPTION_ATIME_CLEAR, MOUNT_ATTR_NOATIME },
	{ "bind", OPTION_BIND, 0 },
	{ "copy-symlink", OPTION_COPY_SYMLINK, 0 },
	{ "defaults", OPTION_NOTHING, 0 },
	{ "dest-nofollow", OPTION_DEST_NOFOLLOW, 0 },
	{ "dev", OPTION_CLEAR, MOUNT_ATTR_NODEV },
	{ "diratime", OPTION_CLEAR, MOUNT_ATTR_NODIRATIME },
	{ "dirsync", OPTION_SB_SET, MS_DIRSYNC },
	{ "exec", OPTION_CLEAR, MOUNT_ATTR_NOEXEC },
	{ "idmap", OPTION_IDMAP, 0 },
	{ "iversion", OPTION_SB_SET, MS_I_VERSION },
	{ "lazytime", OPTION_SB_SET, MS_LAZYTIME },
	{ "loud", OPTION_SB_CLEAR, MS_SILENT },
	{ "mand", OPTION_SB_SET, MS_MANDLOCK },
	{ "noatime", OPTION_ATIME, MOUNT_ATTR_NOATIME },
	{ "nodev", OPTION_SET, MOUNT_ATTR_NODEV },
	{ "nodiratime", OPTION_SET, MOUNT_ATTR_NODIRATIME },
	{ "noexec", OPTION_SET, MOUNT_ATTR_NOEXEC },
	{ "noiversion", OPTION_SB_CLEAR, MS_I_VERSION },
	{ "nolazytime", OPTION_SB_CLEAR, MS_LAZYTIME },
	{ "nomand", OPTION_SB_CLEAR, MS_MANDLOCK },
	{ "norelatime", OPTION_ATIME_CLEAR, MOUNT_ATTR_RELATIME },
	{ "nostrictatime", OPTION_ATIME_CLEAR, MOUNT_ATTR_STRICTATIME },
	{ "nosuid", OPTION_SET, MOUNT_ATTR_NOSUID },
	{ "nosymfollow", OPTION_SET, MOUNT_ATTR_NOSYMFOLLOW },
	{ "private", OPTION_PROPAGATION, MS_PRIVATE },
	{ "ratime", R | OPTION_ATIME_CLEAR, MOUNT_ATTR_NOATIME },
	{ "rbind", OPTION_BIND, 1 },
	{ "rdev", R | OPTION_CLEAR, MOUNT_ATTR_NODEV },
	{ "rdiratime", R | OPTION_CLEAR, MOUNT_ATTR_NODIRATIME },
	{ "relatime", OPTION_ATIME, MOUNT_ATTR_RELATIME },
	{ "remount", OPTION_REMOUNT, 0 },
	{ "rexec", R | OPTION_CLEAR, MOUNT_ATTR_NOEXEC },
	{ "ridmap", OPTION_IDMAP, 1 },
	{ "rnoatime", R | OPTION_ATIME, MOUNT_ATTR_NOATIME },
	{ "rnodev", R | OPTION_SET, MOUNT_ATTR_NODEV },
	{ "rnodiratime", R | OPTION_SET, MOUNT_ATTR_NODIRATIME },
	{ "rnoexec", R | OPTION_SET, MOUNT_ATTR_NOEXEC },
	{ "rnorelatime", R | OPTION_ATIME_CLEAR, MOUNT_ATTR_RELATIME },
	{ "rnostrictatime", R | OPTION_ATIME_CLEAR, MOUNT_ATTR_STRICTATIME },
	{ "rnosuid", R | OPTION_SET, MOUNT_ATTR_NOSUID },
	{ "rnosymfollow", R | OPTION_SET, MOUNT_ATTR_NOSYMFOLLOW },
	{ "ro", OPTION_SET, MOUNT_ATTR_RDONLY },
	{ "rprivate", OPTION_PROPAGATION, MS_PRIVATE | MS_REC },
	{ "rrelatime", R | OPTION_ATIME, MOUNT_ATTR_RELATIME },
	{ "rro", R | OPTION_SET, MOUNT_ATTR_RDONLY },
	{ "rrw", R | OPTION_CLEAR, MOUNT_ATTR_RDONLY },
	{ "rshared", OPTION_PROPAGATION, MS_SHARED | MS_REC },
	{ "rslave", OPTION_PROPAGATION, MS_SLAVE | MS_REC },
	{ "rstrictatime", R | OPTION_ATIME, MOUNT_ATTR_STRICTATIME },
	{ "rsuid", R | OPTION_CLEAR, MOUNT_ATTR_NOSUID },
	{ "rsymfollow", R | OPTION_CLEAR, MOUNT_ATTR_NOSYMFOLLOW },
	{ "runbindable", OPTION_PROPAGATION, MS_UNBINDABLE | MS_REC },
	{ "rw", OPTION_CLEAR, MOUNT_ATTR_RDONLY },
	{ "shared", OPTION_PROPAGATION, MS_SHARED },
	{ "silent", OPTION_SB_SET, MS_SILENT },
	{ "slave", OPTION_PROPAGATION, MS_SLAVE },
	{ "src-nofollow", OPTION_SRC_NOFOLLOW, 0 },
	{ "strictatime", OPTION_ATIME, MOUNT_ATTR_STRICTATIME },
	{ "suid", OPTION_CLEAR, MOUNT_ATTR_NOSUID },
	{ "symfollow", OPTION_CLEAR, MOUNT_ATTR_NOSYMFOLLOW },
	{ "sync", OPTION_SB_SET, MS_SYNCHRONOUS },
	{ "tmpcopyup", OPTION_TMPCOPYUP, 0 },
	{ "unbindable", OPTION_PROPAGATION, MS_UNBINDABLE },
};

#undef R

static const struct option *option_find(const char *word)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(options); i++)
		if (str_eq(options[i].name, word))
			return &options[i];
	return NULL;
}

/*
 * The atime mode is one value, not flags: the whole field in *clr says that a mode was
 * asked, its value is in *set. As with mount(8), taking a mode back only undoes an earlier
 * word of the list, it chooses nothing; but for a whole tree "not that mode" has to choose
 * one, and that is the kernel's default.
 */
static void apply_atime_clear(uint64_t mode, bool recursive, uint64_t *set, uint64_t *clr)
{
	if ((*clr & MOUNT_ATIME) && (*set & MOUNT_ATIME) == mode) {
		*set &= ~MOUNT_ATIME;
		*clr &= ~MOUNT_ATIME;
	}
	if (recursive)
		*clr |= MOUNT_ATIME;
}

static void apply_attr(const struct option *o, uint64_t *set, uint64_t *clr)
{
	switch (o->verb & ~(unsigned)OPTION_RECURSIVE) {
	case OPTION_SET:
		*set |= o->value;
		*clr &= ~o->value;
		break;
	case OPTION_CLEAR:
		*set &= ~o->value;
		*clr |= o->value;
		break;
	case OPTION_ATIME:
		*set = (*set & ~MOUNT_ATIME) | o->value;
		*clr |= MOUNT_ATIME;
		break;
	default:
		apply_atime_clear(o->value, (o->verb & OPTION_RECURSIVE) != 0, set, clr);
	}
}

static int apply_propagation(const struct option *o, struct mount_op *op, struct error *err)
{
	size_t i;

	/* The last slot stays 0, the terminator. */
	for (i = 0; i + 1 < ELEMENTSOF(op->propagation); i++) {
		if (op->propagation[i] == o->value)
			return 0;
		if (!op->propagation[i]) {
			op->propagation[i] = o->value;
			return 0;
		}
	}
	return error_text(err, -EINVAL, "mount option \"%s\": too many propagation options",
			  o->name);
}

static int apply_option(const struct option *o, struct mount_op *op, bool *remount,
			struct error *err)
{
	switch (o->verb) {
	case OPTION_NOTHING:
		return 0;
	case OPTION_BIND:
		op->kind = MOUNT_BIND;
		op->recursive |= o->value != 0;
		return 0;
	case OPTION_REMOUNT:
		*remount = true;
		return 0;
	case OPTION_SB_SET:
		op->sb_flags |= o->value;
		return 0;
	case OPTION_SB_CLEAR:
		op->sb_flags &= ~o->value;
		return 0;
	case OPTION_PROPAGATION:
		return apply_propagation(o, op, err);
	case OPTION_IDMAP:
		op->idmap = true;
		op->idmap_recursive |= o->value != 0;
		return 0;
	case OPTION_TMPCOPYUP:
		op->tmpcopyup = true;
		return 0;
	case OPTION_COPY_SYMLINK:
		op->copy_symlink = true;
		return 0;
	case OPTION_SRC_NOFOLLOW:
		op->src_nofollow = true;
		return 0;
	case OPTION_DEST_NOFOLLOW:
		op->dest_nofollow = true;
		return 0;
	default:
		break;
	}
	if (o->verb & OPTION_RECURSIVE)
		apply_attr(o, &op->rec_set, &op->rec_clr);
	else
		apply_attr(o, &op->attr_set, &op->attr_clr);
	return 0;
}

/* One number of a line; *text moves behind it and the character that must follow. */
static int idmap_number(char **text, char end, uint32_t *ret)
{
	char *stop = end ? strchr(*text, end) : *text + strlen(*text);
	int r;

	if (!stop)
		return -EINVAL;
	*stop = '\0';
	r = parse_u32(*text, ret);
	*text = end ? stop + 1 : stop;
	return r;
}

/* "0-1000-10#10-2000-5": ids of the files, ids that they become, how many (spec: containerID, hostID, size). */
static int idmap_lines(struct arena *arena, char *text, struct id_maps *ret)
{
	struct id_map *items = arena_calloc(arena, IDMAP_OPTION_LINES, sizeof(*items));
	char *line, *save = NULL;
	size_t n = 0;

	if (!items)
		return -ENOMEM;
	for (line = strtok_r(text, "#", &save); line; line = strtok_r(NULL, "#", &save)) {
		struct id_map *m = &items[n];

		if (n++ == IDMAP_OPTION_LINES || idmap_number(&line, '-', &m->container_id) < 0 ||
		    idmap_number(&line, '-', &m->host_id) < 0 || idmap_number(&line, '\0', &m->size) < 0 ||
		    m->size == 0)
			return -EINVAL;
	}
	*ret = (struct id_maps){ .items = items, .count = n };
	return n ? 0 : -EINVAL;
}

/*
 * "uids=LINES;gids=LINES" behind idmap= or ridmap=: how Podman writes the mapping of a volume. Lines that start
 * with '@' are relative to the container's own mapping; they are not supported and fail as numbers.
 */
static int apply_idmap_maps(struct arena *arena, const char *word, struct mount_op *op, struct error *err)
{
	struct id_maps uids = { 0 }, gids = { 0 };
	char *copy = arena_strdup(arena, strchr(word, '=') + 1), *part, *save = NULL;
	int r = 0;

	if (!copy)
		return error_oom(err);
	for (part = strtok_r(copy, ";", &save); part && r == 0; part = strtok_r(NULL, ";", &save)) {
		struct id_maps *maps = str_after(part, "uids=") ? &uids : str_after(part, "gids=") ? &gids : NULL;

		r = maps && maps->count == 0 ? idmap_lines(arena, part + strlen("uids="), maps) : -EINVAL;
	}
	if (r == -ENOMEM)
		return error_oom(err);
	if (r < 0 || !uids.count || !gids.count)
		return error_text(err, -EINVAL,
				  "mount option \"%s\": write idmap=uids=FROM-TO-SIZE;gids=FROM-TO-SIZE", word);
	op->idmap = true;
	op->idmap_recursive |= *word == 'r';
	op->uid_maps = uids;
	op->gid_maps = gids;
	return 0;
}

int mount_options_parse(struct arena *arena, char *const *words, size_t count, struct mount_op *op,
			struct error *err)
{
	_cleanup_buf_ struct buf data = BUF_NULL;
	bool remount = false;
	size_t i;

	assert(arena && op);
	assert(words || count == 0);

	if (op->data)
		buf_adds(&data, op->data);
	for (i = 0; i < count; i++) {
		const struct option *o = option_find(words[i]);
		int r;

		if (str_after(words[i], "idmap=") || str_after(words[i], "ridmap=")) {
			r = apply_idmap_maps(arena, words[i], op, err);
			if (r < 0)
				return r;
			continue;
		}
		if (!o) {
			if (*words[i])
				buf_addf(&data, "%s%s", data.len ? "," : "", words[i]);
			continue;
		}
		r = apply_option(o, op, &remount, err);
		if (r < 0)
			return r;
	}
	if (remount)
		op->kind = MOUNT_REMOUNT;
	/* One word for both levels; the executor decides which of them this filesystem gets. */
	if (op->attr_set & MOUNT_ATTR_RDONLY)
		op->sb_flags |= MS_RDONLY;
	else
		op->sb_flags &= ~(uint64_t)MS_RDONLY;
	if (!buf_ok(&data))
		return error_oom(err);
	if (data.len) {
		op->data = arena_strdup(arena, data.data);
		if (!op->data)
			return error_oom(err);
	}
	return 0;
}

const char *mount_option_name(size_t i)
{
	return i < ELEMENTSOF(options) ? options[i].name : NULL;
}
