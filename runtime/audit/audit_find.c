/*
 * Finds logs by id. Names hold the id, so that no log has to be opened; only ids too long
 * for a name are read from the first record.
 */
#include "audit/audit_find.h"

#include <assert.h>
#include <errno.h>

#include "audit/audit_name.h"
#include "audit/audit_read.h"
#include "audit/audit_value.h"

#define LISTED_MAX 5

int audit_find_id(int dirfd, const char *name, char **ret, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	struct audit_record rec;
	struct audit_name parsed;
	const char *id = NULL;

	if (!audit_name_parse(name, &parsed))
		return error_text(err, -EINVAL, "\"%s\" is no name of an audit log", name);
	if (parsed.id_len == AUDIT_ID_CUT && audit_reader_open(&r, dirfd, name, true, err) == 0 &&
	    audit_reader_next(&r, &rec, err) == AUDIT_READ_RECORD)
		id = audit_value_string(rec.json, "id");
	/* What the record says counts only where the name agrees. */
	if (id && (strlen(id) < AUDIT_ID_CUT || strncmp(id, name, AUDIT_ID_CUT) != 0))
		id = NULL;
	*ret = id ? strdup(id) : strndup(name, parsed.id_len);
	return *ret ? 0 : error_oom(err);
}

enum match { MATCH_NONE, MATCH_NAME_PREFIX, MATCH_PREFIX, MATCH_ID, MATCH_NAME };

static enum match match_of(int dirfd, const char *name, const char *key)
{
	_cleanup_free_ char *id = NULL;
	struct error err = ERROR_NULL;

	if (str_eq(name, key))
		return MATCH_NAME;
	if (audit_find_id(dirfd, name, &id, &err) < 0)
		return MATCH_NONE;
	if (str_eq(id, key))
		return MATCH_ID;
	if (str_after(id, key))
		return MATCH_PREFIX;
	return str_after(name, key) ? MATCH_NAME_PREFIX : MATCH_NONE;
}

/* Two logs of the same container, as far as names tell: the id, and the folder. */
static bool same_container(const char *a, const char *b)
{
	struct audit_name p, q;

	return audit_name_parse(a, &p) && audit_name_parse(b, &q) && p.id_len == q.id_len &&
	       memcmp(a, b, p.id_len) == 0 && str_eq(p.root, q.root);
}

struct search {
	enum match best;
	const char *found[LISTED_MAX + 1]; /* one for each container, the newest log of it */
	size_t n;
};

static void consider(struct search *s, enum match m, const char *name)
{
	size_t i;

	if (m == MATCH_NONE || m < s->best)
		return;
	if (m > s->best) {
		s->best = m;
		s->n = 0;
	}
	/* The scan gives the oldest first. */
	for (i = 0; i < s->n; i++)
		if (same_container(s->found[i], name)) {
			s->found[i] = name;
			return;
		}
	if (s->n <= LISTED_MAX)
		s->found[s->n++] = name;
}

static int ambiguous(const struct search *s, const char *key, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	for (i = 0; i < MIN(s->n, (size_t)LISTED_MAX); i++)
		buf_addf(&b, "%s%s", i ? ", " : "", s->found[i]);
	if (s->n > LISTED_MAX)
		buf_adds(&b, ", ...");
	return error_text(err, -EINVAL, "\"%s\" could be several containers: %s; give more of the id, or the whole name",
			  key, buf_ok(&b) ? b.data : "");
}

int audit_find(int dirfd, const char *key, const char *root, char ret_name[AUDIT_NAME_SIZE],
	       struct error *err)
{
	_cleanup_(audit_scan_done) struct audit_scan scan = AUDIT_SCAN_NULL;
	char digits[AUDIT_ROOT_DIGITS + 1];
	struct search s = { 0 };
	struct audit_name parsed;
	size_t i;
	int r;

	assert(dirfd >= 0 && key && ret_name && err);
	if (!*key)
		return error_text(err, -EINVAL, "container id cannot be empty");
	r = audit_scan_read(dirfd, &scan, err);
	if (r < 0)
		return r;
	if (root)
		audit_name_root(root, digits);
	for (i = 0; i < scan.count; i++) {
		if (root && (!audit_name_parse(scan.logs[i].name, &parsed) || !str_eq(parsed.root, digits)))
			continue;
		consider(&s, match_of(dirfd, scan.logs[i].name, key), scan.logs[i].name);
	}
	if (s.n == 0)
		return error_text(err, -ENOENT, "no audit log of a container \"%s\"; \"agentrun audit list\" shows which there are", key);
	if (s.n > 1)
		return ambiguous(&s, key, err);
	memcpy(ret_name, s.found[0], strlen(s.found[0]) + 1);
	return 0;
}
