/*
 * Sizes of tmpfs and devpts, and the root filesystem of profiles that want it read-only with a few
 * writable places in memory.
 */
#include <inttypes.h>

#include "policy/policy_internal.h"
#include "util/parse.h"

#define PAGE 4096
/* Of one container: all draw on one pool of the host, kernel.pty.max, of which 3072 are for them. */
#define TERMINALS_MAX 256

/*
 * The kernel's memparse() for decimal numbers. What it would read otherwise (octal,
 * hexadecimal) counts as "without limit", and so does 0, as in the kernel.
 */
static uint64_t size_parse(const struct policy_work *w, const char *s)
{
	static const char units[] = "kmgtpe";
	char digits[21] = "";
	size_t n = strspn(s, "0123456789");
	const char *unit;
	uint64_t v;
	unsigned shift = 0;

	if (n == 0 || n >= sizeof(digits) || s[0] == '0')
		return POLICY_UNLIMITED;
	memcpy(digits, s, n);
	if (parse_u64(digits, &v) < 0)
		return POLICY_UNLIMITED;
	s += n;
	if (*s == '%' && !s[1]) {
		/* Of the host's memory. */
		if (v > 100 || !w->facts->host_memory)
			return POLICY_UNLIMITED;
		return w->facts->host_memory / 100 * v;
	}
	if (*s) {
		unit = strchr(units, *s | 0x20);
		if (!unit || s[1])
			return POLICY_UNLIMITED;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	return v > UINT64_MAX >> shift ? POLICY_UNLIMITED : v << shift;
}

/* The last word of its kind counts; all are taken out. */
static bool take_option(struct strv *list, const char *name, const char **ret)
{
	const char *value;
	bool found = false;
	size_t i, n = 0;

	for (i = 0; i < list->count; i++) {
		value = str_after(list->items[i], name);
		if (value) {
			*ret = value;
			found = true;
		} else {
			list->items[n++] = list->items[i];
		}
	}
	if (list->items)
		list->items[n] = NULL;
	list->count = n;
	return found;
}

static void add_option(struct policy_work *w, struct spec_mount *m, const char *name, uint64_t n)
{
	char word[64];

	(void)snprintf(word, sizeof(word), "%s%" PRIu64, name, n);
	policy_word_add(w, &m->options, word);
}

static uint64_t auto_or(const struct policy_value *v, uint64_t automatic)
{
	uint64_t n = v->n == POLICY_AUTO ? automatic : v->n;

	return n < PAGE ? PAGE : n;
}

/* "a,b" in one word is two options to the kernel. */
static void split_words(struct policy_work *w, struct strv *list)
{
	char **items, *s;
	size_t i, n = list->count;

	for (i = 0; i < list->count; i++)
		for (s = list->items[i]; *s; s++)
			n += *s == ',';
	items = policy_alloc(w, n + 1, sizeof(*items));
	if (!items)
		return;
	n = 0;
	for (i = 0; i < list->count; i++) {
		char *word = arena_strdup(w->arena, list->items[i]);

		if (!word) {
			w->failed = true;
			return;
		}
		while ((s = strsep(&word, ",")))
			if (*s)
				items[n++] = s;
	}
	list->items = items;
	list->count = n;
}

struct size_decision {
	const struct spec_mount *m;
	const char *control; /* NULL = "tmpfs" */
	const char *what; /* "bytes", "inodes" */
	const struct policy_value *rule, *excess;
	bool given;
	uint64_t asked, def, max;
	const char *(*text)(char buf[POLICY_TEXT_MAX], uint64_t n);
};

/* As policy_limit_decide(), but silent where nothing changes: there are many of them. */
static uint64_t decide(struct policy_work *w, const struct size_decision *d)
{
	const char *control = d->control ? d->control : "tmpfs";
	bool unlimited = d->given && d->asked == POLICY_UNLIMITED;
	char number[POLICY_TEXT_MAX], asked[200], given[POLICY_TEXT_MAX];
	uint64_t n = !d->given || unlimited ? d->def : MIN(d->asked, d->max);

	if (d->given && n == d->asked)
		return n;
	(void)snprintf(asked, sizeof(asked), "%s %s on %.100s",
		       d->given ? d->text(number, d->asked) : "any number of", d->what,
		       d->m->destination);
	d->text(given, n);
	if (d->given && !unlimited && d->excess->n == POLICY_REFUSE)
		policy_refuse(w->v, control, d->rule, asked, "ask for at most %s, or raise %s",
			      given, policy_place(w->v, d->rule));
	else
		policy_note(w->v, control, d->given ? POLICY_CLAMPED : POLICY_ADDED, d->rule, asked,
			    given);
	return n;
}

void policy_do_tmpfs(struct policy_work *w, struct spec_mount *m)
{
	const struct policy_limit *limit = &w->profile->disk.tmpfs_size;
	const struct policy_value *excess =
		limit->excess.from.path ? &limit->excess : &w->profile->disk.excess;
	uint64_t memory = w->memory ? w->memory : w->profile->resources.memory.def.n;
	const char *size = NULL, *blocks = NULL, *inodes = NULL;
	struct size_decision d = { .m = m,
				   .what = "bytes",
				   .rule = &limit->max,
				   .excess = excess,
				   .text = policy_bytes_text };
	bool has_size, has_blocks, has_inodes;
	uint64_t n;

	split_words(w, &m->options);
	has_size = take_option(&m->options, "size=", &size);
	has_blocks = take_option(&m->options, "nr_blocks=", &blocks);
	has_inodes = take_option(&m->options, "nr_inodes=", &inodes);
	d.given = has_size || has_blocks;
	if (has_blocks) {
		n = size_parse(w, blocks);
		d.asked = n > UINT64_MAX / PAGE ? POLICY_UNLIMITED : n * PAGE;
	}
	if (has_size) {
		n = size_parse(w, size);
		d.asked = has_blocks ? MAX(d.asked, n) : n;
	}
	d.max = auto_or(&limit->max, memory);
	d.def = MIN(auto_or(&limit->def, memory / 2), d.max);
	add_option(w, m, "size=", decide(w, &d));

	d = (struct size_decision){ .m = m,
				    .what = "inodes",
				    .excess = excess,
				    .rule = &w->profile->disk.tmpfs_inodes,
				    .given = has_inodes,
				    .text = policy_count_text };
	d.def = d.max = MAX(d.rule->n, 1);
	if (has_inodes)
		d.asked = size_parse(w, inodes);
	add_option(w, m, "nr_inodes=", decide(w, &d));
}

void policy_do_devpts(struct policy_work *w, struct spec_mount *m)
{
	struct size_decision d = { .m = m,
				   .control = "mounts",
				   .what = "terminals",
				   .rule = &w->profile->mounts.types,
				   .excess = &w->profile->disk.excess,
				   .def = TERMINALS_MAX,
				   .max = TERMINALS_MAX,
				   .text = policy_count_text };
	const char *max = NULL;

	split_words(w, &m->options);
	d.given = take_option(&m->options, "max=", &max);
	if (d.given)
		d.asked = size_parse(w, max);
	add_option(w, m, "max=", decide(w, &d));
}

/* The home folder as the process will see it, or NULL. */
static const char *home_of(struct policy_work *w, const struct spec_process *proc)
{
	const char *home = NULL, *value;
	size_t i;

	if (!proc)
		return NULL;
	for (i = 0; i < proc->env.count; i++) {
		value = str_after(proc->env.items[i], "HOME=");
		if (value)
			home = value;
	}
	if (!home || !*home)
		return proc->user.uid == 0 ? "/root" : NULL;
	if (*home != '/')
		return NULL;
	home = policy_path_clean(w->arena, home);
	if (!home)
		w->failed = true;
	return home && home[1] ? home : NULL;
}

static bool is_mounted(struct policy_work *w, const struct spec *spec, const char *path)
{
	size_t i;

	for (i = 0; i < spec->mounts.count; i++) {
		char *clean = policy_path_clean(w->arena, spec->mounts.items[i].destination);

		if (!clean)
			w->failed = true;
		else if (str_eq(clean, path))
			return true;
	}
	return false;
}

static void make_tmpfs(struct policy_work *w, struct spec_mount *m, const char *path, bool home,
		       const struct spec_process *proc)
{
	char ids[64];

	*m = (struct spec_mount){ .type = arena_strdup(w->arena, "tmpfs"),
				  .source = arena_strdup(w->arena, "tmpfs"),
				  .destination = arena_strdup(w->arena, path) };
	if (!m->type || !m->source || !m->destination) {
		w->failed = true;
		return;
	}
	policy_word_add(w, &m->options, "nosuid");
	policy_word_add(w, &m->options, "nodev");
	policy_word_add(w, &m->options, home ? "mode=0700" : "mode=1777");
	if (home) {
		(void)snprintf(ids, sizeof(ids), "uid=%" PRIu32, proc->user.uid);
		policy_word_add(w, &m->options, ids);
		(void)snprintf(ids, sizeof(ids), "gid=%" PRIu32, proc->user.gid);
		policy_word_add(w, &m->options, ids);
	}
}

/* In front of the configuration's own: a volume below the home folder must stay visible. */
static void add_tmpfs(struct policy_work *w, struct spec *spec)
{
	const struct policy_value *rule = &w->profile->rootfs.tmpfs;
	struct spec_mount *items =
		policy_alloc(w, spec->mounts.count + rule->list.count, sizeof(*items));
	size_t i, n = 0;

	if (!items)
		return;
	for (i = 0; i < rule->list.count; i++) {
		bool home = str_eq(rule->list.items[i], "~");
		const char *path = home ? home_of(w, spec->process) : rule->list.items[i];

		if (!path || is_mounted(w, spec, path))
			continue;
		make_tmpfs(w, &items[n++], path, home, spec->process);
		policy_note(w->v, "rootfs", POLICY_ADDED, rule, path, "an empty folder in memory");
	}
	if (n == 0)
		return;
	if (spec->mounts.count)
		memcpy(items + n, spec->mounts.items, spec->mounts.count * sizeof(*items));
	spec->mounts.items = items;
	spec->mounts.count += n;
}

void policy_do_rootfs(struct policy_work *w, struct spec *spec)
{
	if (w->profile->rootfs.readonly.n && spec->root && !spec->root->readonly) {
		spec->root->readonly = true;
		policy_note(w->v, "rootfs", POLICY_CLAMPED, &w->profile->rootfs.readonly,
			    "writable", "read-only");
	}
	if (w->profile->rootfs.tmpfs.list.count)
		add_tmpfs(w, spec);
}
