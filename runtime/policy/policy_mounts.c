/*
 * Options of mounts: what each one may be, never what it shows. Which folders of the host
 * may be seen is decided in policy_fs.c.
 */
#include "policy/policy_internal.h"

enum words {
	WORD_OTHER,
	WORD_DEV,
	WORD_BIND,
	WORD_RBIND,
	WORD_REMOUNT,
	WORD_RO,
	WORD_RW,
	WORD_SLAVE,
	WORD_SHARED,
	WORD_PRIVATE
};

/* What is done to many mounts is one decision. */
struct summary {
	struct buf hardened, private, readonly, recursive, slave;
};

static enum words word_of(const char *s)
{
	static const struct {
		const char *name;
		enum words word;
	} table[] = {
		{ "dev", WORD_DEV },
		{ "suid", WORD_DEV },
		{ "rdev", WORD_DEV },
		{ "rsuid", WORD_DEV },
		{ "bind", WORD_BIND },
		{ "rbind", WORD_RBIND },
		{ "remount", WORD_REMOUNT },
		{ "ro", WORD_RO },
		{ "rro", WORD_RO },
		{ "rw", WORD_RW },
		{ "rrw", WORD_RW },
		{ "slave", WORD_SLAVE },
		{ "rslave", WORD_SLAVE },
		{ "shared", WORD_SHARED },
		{ "rshared", WORD_SHARED },
		{ "private", WORD_PRIVATE },
		{ "rprivate", WORD_PRIVATE },
		{ "unbindable", WORD_PRIVATE },
		{ "runbindable", WORD_PRIVATE },
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(table); i++)
		if (str_eq(table[i].name, s))
			return table[i].word;
	return WORD_OTHER;
}

static bool has_word(const struct strv *list, const char *word)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (str_eq(list->items[i], word))
			return true;
	return false;
}

static bool has_kind(const struct strv *list, enum words kind)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (word_of(list->items[i]) == kind)
			return true;
	return false;
}

static void drop_kind(struct strv *list, enum words kind)
{
	size_t i, n = 0;

	for (i = 0; i < list->count; i++)
		if (word_of(list->items[i]) != kind)
			list->items[n++] = list->items[i];
	if (list->items)
		list->items[n] = NULL;
	list->count = n;
}

void policy_word_add(struct policy_work *w, struct strv *list, const char *word)
{
	char **items = policy_alloc(w, list->count + 2, sizeof(*items));

	if (!items)
		return;
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	items[list->count] = arena_strdup(w->arena, word);
	if (!items[list->count]) {
		w->failed = true;
		return;
	}
	list->items = items;
	list->count++;
}

static bool is_bind(const struct spec_mount *m)
{
	return (m->type && str_eq(m->type, "bind")) || has_kind(&m->options, WORD_BIND) ||
	       has_kind(&m->options, WORD_RBIND);
}

/* The last word counts. */
static bool is_readonly(const struct strv *options)
{
	bool ro = false;
	size_t i;

	for (i = 0; i < options->count; i++) {
		enum words word = word_of(options->items[i]);

		if (word == WORD_RO || word == WORD_RW)
			ro = word == WORD_RO;
	}
	return ro;
}

/*
 * No set-user-id programs and no device nodes, in what lies below a recursive bind, too. The r… words for every
 * bind: a plain one would be the first flag that is asked, and with one asked the others of the source are
 * cleared as by mount(8), so that a read-only source became writable.
 * The nodes of the container itself are in its /dev and /dev/pts.
 */
static void harden(struct policy_work *w, struct spec_mount *m, bool bind, const char *clean,
		   struct summary *sum)
{
	bool recursive = bind && has_kind(&m->options, WORD_RBIND);
	bool nodes = !bind && (str_eq(clean, "/dev") || (m->type && str_eq(m->type, "devpts")));
	const char *suid = bind ? "rnosuid" : "nosuid", *dev = bind ? "rnodev" : "nodev";
	bool changed = has_kind(&m->options, WORD_DEV);

	drop_kind(&m->options, WORD_DEV);
	if (!has_word(&m->options, suid) && (recursive || !has_word(&m->options, "nosuid"))) {
		policy_word_add(w, &m->options, suid);
		changed = true;
	}
	if (!nodes && !has_word(&m->options, dev) && (recursive || !has_word(&m->options, "nodev"))) {
		policy_word_add(w, &m->options, dev);
		changed = true;
	}
	if (changed)
		policy_list_add(&sum->hardened, "%.100s", m->destination);
}

static void refuse_shared(struct policy_work *w, const char *where)
{
	const struct policy_value *allow = &w->profile->mounts.propagation;
	char asked[160];

	(void)snprintf(asked, sizeof(asked), "shared propagation of %.100s", where);
	policy_refuse(w->v, "mounts", allow, asked, "add \"shared\" to %s",
		      policy_place(w->v, allow));
}

static void decide_propagation(struct policy_work *w, struct spec_mount *m, bool bind,
			       struct summary *sum)
{
	uint64_t allow = w->profile->mounts.propagation.n;

	if (has_kind(&m->options, WORD_SHARED)) {
		if (!(allow & POLICY_PROPAGATION_SHARED))
			refuse_shared(w, m->destination);
		return;
	}
	if (has_kind(&m->options, WORD_SLAVE)) {
		if (allow & POLICY_PROPAGATION_SLAVE)
			return;
		drop_kind(&m->options, WORD_SLAVE);
		policy_word_add(w, &m->options, "rprivate");
		policy_list_add(&sum->slave, "%.100s", m->destination);
	} else if (bind && !has_kind(&m->options, WORD_PRIVATE)) {
		policy_word_add(w, &m->options, "rprivate");
		policy_list_add(&sum->private, "%.100s", m->destination);
	}
}

static void force_readonly(struct policy_work *w, struct spec_mount *m, struct summary *sum)
{
	if (is_readonly(&m->options))
		return;
	drop_kind(&m->options, WORD_RW);
	policy_word_add(w, &m->options, "ro");
	policy_list_add(&sum->readonly, "%.100s", m->destination);
}

static void decide_bind(struct policy_work *w, struct spec_mount *m, struct summary *sum)
{
	/* Plain "ro" leaves the mounts below writable. */
	if (!has_kind(&m->options, WORD_RBIND) || !is_readonly(&m->options) ||
	    has_word(&m->options, "rro"))
		return;
	drop_kind(&m->options, WORD_RW);
	policy_word_add(w, &m->options, "rro");
	policy_list_add(&sum->recursive, "%.100s", m->destination);
}

static bool type_listed(const struct policy_work *w, const char *type)
{
	return has_word(&w->profile->mounts.types.list, type);
}

/* False: refused. */
static bool check_type(struct policy_work *w, const struct spec_mount *m, const char *type)
{
	const struct policy_value *types = &w->profile->mounts.types;
	char asked[200];

	if (type_listed(w, type))
		return true;
	(void)snprintf(asked, sizeof(asked), "a mount of type %.40s on %.100s", type,
		       m->destination);
	policy_refuse(w->v, "mounts", types, asked, "add \"%.40s\" to %s", type,
		      policy_place(w->v, types));
	return false;
}

/* A second instance elsewhere would show what is masked in the first. */
static void check_place(struct policy_work *w, const struct spec_mount *m, const char *clean,
			const char *place)
{
	char asked[160];

	if (str_eq(clean, place))
		return;
	(void)snprintf(asked, sizeof(asked), "%s on %.100s", m->type, m->destination);
	policy_refuse(w->v, "mounts", &w->profile->mounts.types, asked, "mount it on %s", place);
}

static void decide_fs(struct policy_work *w, struct spec_mount *m, const char *clean,
		      struct summary *sum)
{
	const char *type = m->type ? m->type : "";

	if (!check_type(w, m, type))
		return;
	if (str_eq(type, "proc"))
		check_place(w, m, clean, "/proc");
	if (str_eq(type, "sysfs")) {
		check_place(w, m, clean, "/sys");
		/* Root of the container owns the files of the host's devices, without any
		 * capability. */
		force_readonly(w, m, sum);
	}
	if (str_eq(type, "cgroup") || str_eq(type, "cgroup2"))
		force_readonly(w, m, sum);
	if (str_eq(type, "tmpfs"))
		policy_do_tmpfs(w, m);
	if (str_eq(type, "devpts"))
		policy_do_devpts(w, m);
}

static void decide_mount(struct policy_work *w, struct spec_mount *m, struct summary *sum)
{
	bool bind = is_bind(m);
	char *clean = policy_path_clean(w->arena, m->destination);

	if (!clean) {
		w->failed = true;
		return;
	}
	if (has_kind(&m->options, WORD_REMOUNT) && !check_type(w, m, "remount"))
		return;
	if (bind)
		decide_bind(w, m, sum);
	else
		decide_fs(w, m, clean, sum);
	harden(w, m, bind, clean, sum);
	decide_propagation(w, m, bind, sum);
}

static void note_summary(struct policy_work *w, struct buf *b, enum policy_action action,
			 const struct policy_value *rule, const char *given)
{
	if (!buf_ok(b))
		w->failed = true;
	else if (b->len)
		policy_note(w->v, "mounts", action, rule, b->data, given);
	buf_done(b);
}

void policy_do_mounts(struct policy_work *w, struct spec *spec)
{
	const struct policy_value *types = &w->profile->mounts.types,
				  *propagation = &w->profile->mounts.propagation;
	struct summary sum = { BUF_NULL, BUF_NULL, BUF_NULL, BUF_NULL, BUF_NULL };
	size_t i;

	for (i = 0; i < spec->mounts.count; i++)
		decide_mount(w, &spec->mounts.items[i], &sum);
	note_summary(w, &sum.hardened, POLICY_ADDED, types, "nosuid, nodev");
	note_summary(w, &sum.private, POLICY_ADDED, propagation, "private propagation");
	note_summary(w, &sum.slave, POLICY_CLAMPED, propagation,
		     "private propagation instead of slave");
	note_summary(w, &sum.readonly, POLICY_CLAMPED, types, "read-only");
	note_summary(w, &sum.recursive, POLICY_ADDED, types, "read-only with all mounts below");
}

void policy_do_propagation(struct policy_work *w, struct spec_linux *l)
{
	const struct policy_value *allow = &w->profile->mounts.propagation;
	enum words word = l->rootfs_propagation ? word_of(l->rootfs_propagation) : WORD_OTHER;

	if (word == WORD_SHARED) {
		if (!(allow->n & POLICY_PROPAGATION_SHARED))
			refuse_shared(w, "the root filesystem");
		return;
	}
	if (word == WORD_PRIVATE || (word == WORD_SLAVE && (allow->n & POLICY_PROPAGATION_SLAVE)))
		return;
	/* Without pivot_root the host's mounts stay reachable and must follow the host. */
	if (w->facts->no_pivot)
		return;
	policy_note(w->v, "mounts", word == WORD_SLAVE ? POLICY_CLAMPED : POLICY_ADDED, allow,
		    "the root filesystem", "private propagation");
	l->rootfs_propagation = arena_strdup(w->arena, "rprivate");
	if (!l->rootfs_propagation)
		w->failed = true;
}
