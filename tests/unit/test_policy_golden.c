/*
 * What the shipped profiles make of captured configurations: the decisions and the plans
 * equal tests/golden/policy. With --update the golden files are written instead.
 *
 * A file holds the decisions and the whole plan under the default profile; of the others
 * the decisions, and the lines in which their plan differs from the default's.
 */
#include <fcntl.h>

#include "plan/plan.h"
#include "policy_captured.h"

#define LINES_MAX 2000

/* Each stands for something the others do not have. */
static const char *const golden[] = {
	"buildah128-build-run",
	"containerd16-ctr-limits",
	"containerd16-ctr-privileged-nethost",
	"cri-container-securitycontext",
	"cri-hostpid-container",
	"docker20-buildkit-run",
	"docker20-device",
	"docker20-join-container-ns",
	"docker20-mount-bind-tmpfs",
	"docker20-pid-ipc-uts-host",
	"docker20-privileged",
	"docker20-run-tty",
	"docker20-sysctl",
	"podman43-mask-unmask",
	"podman43-privileged",
	"podman43-rootless-keep-id",
	"podman43-run",
	"podman43-userns-uidmap",
	"podman43-volumes",
};

struct lines {
	const char *at[LINES_MAX];
	size_t len[LINES_MAX], n;
};

static void lines_of(const char *text, struct lines *l)
{
	const char *end;

	for (l->n = 0; *text && l->n < LINES_MAX; l->n++, text = end + 1) {
		end = strchrnul(text, '\n');
		l->at[l->n] = text;
		l->len[l->n] = (size_t)(end - text);
		if (!*end)
			end--;
	}
}

static bool same_line(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
	return a->len[i] == b->len[j] && memcmp(a->at[i], b->at[j], a->len[i]) == 0;
}

/* The lines of the longest common sequence left out. */
static void add_difference(struct buf *out, const char *was, const char *is)
{
	static unsigned short common[LINES_MAX + 1][LINES_MAX + 1];
	static struct lines a, b;
	size_t i, j;

	lines_of(was, &a);
	lines_of(is, &b);
	memset(common, 0, sizeof(common));
	for (i = a.n; i-- > 0;)
		for (j = b.n; j-- > 0;) {
			if (same_line(&a, i, &b, j))
				common[i][j] = common[i + 1][j + 1] + 1;
			else
				common[i][j] = common[i + 1][j] > common[i][j + 1] ?
						       common[i + 1][j] :
						       common[i][j + 1];
		}
	for (i = j = 0; i < a.n || j < b.n;) {
		if (i < a.n && j < b.n && same_line(&a, i, &b, j)) {
			i++;
			j++;
		} else if (j == b.n || (i < a.n && common[i + 1][j] >= common[i][j + 1])) {
			buf_addf(out, "-%.*s\n", (int)a.len[i], a.at[i]);
			i++;
		} else {
			buf_addf(out, "+%.*s\n", (int)b.len[j], b.at[j]);
			j++;
		}
	}
}

static void add_decisions(struct buf *out, const struct policy_verdict *v)
{
	const struct policy_decision *d;
	size_t i;

	for (i = 0; i < v->count; i++) {
		d = &v->items[i];
		buf_addf(out, "%s %s: %s", enum_to_name(&policy_action_table, d->action),
			 d->control, d->asked);
		if (d->action != POLICY_REFUSED)
			buf_addf(out, " > %s", d->given);
		buf_addf(out, " (%s)\n", d->rule);
	}
}

/* Decisions to out; the plan, or NULL with refused when there is none. NULL and err: a fault. */
static char *plan_under(int configs, const char *file, const struct policy *policy,
			const char *profile, struct buf *out, bool *refused, struct error *err)
{
	const bool rootless = strstr(file, "rootless") != NULL;
	const struct plan_request req = { .id = "golden",
					  .bundle = "/bundle",
					  .rootless = rootless,
					  .in_userns = rootless };
	enum policy_ns_owner owners[CAPTURED_NAMESPACES_MAX];
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	_cleanup_plan_ struct plan *p = NULL;
	char *text = NULL;

	*refused = false;
	facts.namespaces = owners;
	if (spec_load(configs, file, &d.spec, err) < 0 ||
	    policy_profile_get(policy, profile, &d.profile, err) < 0)
		return NULL;
	captured_owners(file, d.spec, owners);
	d.r = policy_apply(d.spec, &d.profile, NULL, &facts, &d.v, err);
	if (d.r < 0 && d.v.refused == 0)
		return NULL;
	add_decisions(out, &d.v);
	if (d.r < 0) {
		*refused = true;
		return NULL;
	}
	if (plan_build(d.spec, &req, &p, err) < 0 || plan_print(p, &text, err) < 0)
		return NULL;
	return text;
}

/* The content of the golden file, or NULL and err. */
static char *golden_text(int configs, const char *file, const struct policy *policy,
			 struct error *err)
{
	_cleanup_buf_ struct buf out = BUF_NULL;
	_cleanup_free_ char *base = NULL;
	size_t i;

	for (i = 0; i < ELEMENTSOF(captured_profiles); i++) {
		const char *profile = captured_profiles[i];
		_cleanup_free_ char *text = NULL;
		bool refused;

		buf_addf(&out, "== decisions of profile %s\n", profile);
		text = plan_under(configs, file, policy, profile, &out, &refused, err);
		if (!text && !refused)
			return NULL;
		if (!text)
			buf_addf(&out, "== no plan: refused\n");
		else if (base) {
			buf_addf(&out, "== its plan differs from the default's in\n");
			add_difference(&out, base, text);
		} else {
			buf_addf(&out, "== its plan\n%s\n", text);
			base = take_ptr(text);
		}
	}
	return buf_take(&out);
}

static void golden_one(int configs, int plans, const struct policy *policy, const char *name,
		       bool update)
{
	_cleanup_free_ char *config = str_printf("%s.json", name), *file = str_printf("%s.txt", name);
	_cleanup_free_ char *want = NULL, *got = NULL;
	struct error err = ERROR_NULL;
	size_t len, i, line = 1;

	got = config && file ? golden_text(configs, config, policy, &err) : NULL;
	if (!got) {
		ok(false, "%s: %s", name, err.text);
		return;
	}
	if (update) {
		ok(file_replace(plans, file, got, strlen(got), 0644, 0, &err) == 0, "wrote %s %s", name,
		   err.text);
		return;
	}
	if (file_read_all(plans, file, 1u << 20, &want, &len, &err) < 0) {
		ok(false, "golden decisions: %s", err.text);
		return;
	}
	if (ok(str_eq(got, want), "decisions and plans of %s", name))
		return;
	for (i = 0; got[i] && got[i] == want[i]; i++)
		line += got[i] == '\n';
	printf("#   first difference in line %zu; tests/golden/update-plans accepts the new one\n", line);
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *data = str_printf("%s/tests/data/configs", fixture_srcdir());
	_cleanup_free_ char *folder = str_printf("%s/tests/golden/policy", fixture_srcdir());
	_cleanup_close_ int configs = data ? open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	_cleanup_close_ int plans = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	_cleanup_policy_ struct policy *policy = NULL;
	struct error err = ERROR_NULL;
	size_t i;

	if (configs < 0 || plans < 0)
		return TAP_SKIP_ALL("tests/data or tests/golden not found; set srcdir");
	TAP_BEGIN();
	if (policy_builtin(&policy, &err) < 0)
		ok(false, "built-in policy: %s", err.text);
	else
		for (i = 0; i < ELEMENTSOF(golden); i++)
			golden_one(configs, plans, policy, golden[i],
				   argc > 1 && str_eq(argv[1], "--update"));
	return TAP_END();
}
