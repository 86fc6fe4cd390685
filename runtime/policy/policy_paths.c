/*
 * Paths inside the container: what is masked or read-only on top of the configuration's
 * own list, the service account token, the root filesystem.
 */
#include <inttypes.h>
#include <linux/sched.h>

#include "policy/policy_internal.h"

/* Kernel state that tells about the host or acts on it, whatever the engine left open. */
static const char *const masked[] = {
	"/proc/acpi",	     "/proc/asound",  "/proc/interrupts",
	"/proc/kcore",	     "/proc/keys",    "/proc/latency_stats",
	"/proc/sched_debug", "/proc/scsi",    "/proc/timer_list",
	"/proc/timer_stats", "/sys/firmware", "/sys/devices/virtual/powercap",
};
static const char *const readonly[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

char *policy_path_clean(struct arena *a, const char *path)
{
	char *out = arena_alloc(a, strlen(path) + 2);
	size_t len = 0, n;

	if (!out)
		return NULL;
	for (; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
			continue;
		}
		out[len++] = '/';
		memcpy(out + len, path, n);
		len += n;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

static bool listed(struct policy_work *w, const struct strv *list, const char *path)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		char *clean = policy_path_clean(w->arena, list->items[i]);

		if (!clean)
			w->failed = true;
		else if (str_eq(clean, path))
			return true;
	}
	return false;
}

struct addition {
	struct strv *list;
	const struct strv *except;
	struct buf text;
};

static void add_path(struct policy_work *w, struct addition *a, const char *path)
{
	if (listed(w, a->except, path) || listed(w, a->list, path))
		return;
	policy_word_add(w, a->list, path);
	policy_list_add(&a->text, "%.100s", path);
}

static void add_thermal(struct policy_work *w, struct addition *a)
{
	char path[80];
	size_t i;

	for (i = 0; i < w->facts->n_cpus; i++) {
		(void)snprintf(path, sizeof(path),
			       "/sys/devices/system/cpu/cpu%" PRIu32 "/thermal_throttle",
			       w->facts->cpus[i]);
		add_path(w, a, path);
	}
}

static void note_paths(struct policy_work *w, struct addition *a, const struct policy_value *rule,
		       const char *given)
{
	if (!buf_ok(&a->text))
		w->failed = true;
	else if (a->text.len)
		policy_note(w->v, "paths", POLICY_ADDED, rule, a->text.data, given);
	buf_done(&a->text);
}

static bool is_token(const struct spec_mount *m, const char *clean)
{
	static const char *const places[] = { "/var/run/secrets/kubernetes.io/serviceaccount",
					      "/run/secrets/kubernetes.io/serviceaccount" };
	const char *below;
	size_t i;

	for (i = 0; i < ELEMENTSOF(places); i++) {
		below = str_after(clean, places[i]);
		if (below && (!*below || *below == '/'))
			return true;
	}
	return m->source && strstr(m->source, "/kubernetes.io~projected/kube-api-access-");
}

/* A credential for the cluster that engines mount without anybody asking. */
static void decide_token(struct policy_work *w, struct spec *spec)
{
	const struct policy_value *rule = &w->profile->mounts.service_account_token;
	struct strv *list = &spec->linux_cfg->masked_paths;
	size_t i;

	if (rule->n)
		return;
	for (i = 0; i < spec->mounts.count; i++) {
		const struct spec_mount *m = &spec->mounts.items[i];
		char *clean = policy_path_clean(w->arena, m->destination);

		if (!clean) {
			w->failed = true;
			return;
		}
		if (!is_token(m, clean))
			continue;
		if (listed(w, list, clean))
			continue;
		policy_word_add(w, list, clean);
		policy_note(w->v, "service account token", POLICY_DROPPED, rule, clean,
			    "an empty folder");
	}
}

void policy_do_paths(struct policy_work *w, struct spec *spec)
{
	const struct policy_profile *p = w->profile;
	struct spec_linux *l = spec->linux_cfg;
	struct addition mask = { &l->masked_paths, &p->paths.unmasked.list, BUF_NULL };
	struct addition ro = { &l->readonly_paths, &p->paths.unmasked.list, BUF_NULL };
	size_t i;

	if (!spec_namespace_find(spec, CLONE_NEWNS)) {
		/* Only where the policy lets the host's be used: masking would hide from the host.
		 */
		policy_note(w->v, "paths", POLICY_DROPPED, &p->namespaces.host, "masked paths",
			    "none: the mounts are the host's");
		return;
	}
	for (i = 0; i < ELEMENTSOF(masked); i++)
		add_path(w, &mask, masked[i]);
	add_thermal(w, &mask);
	for (i = 0; i < p->paths.masked.list.count; i++)
		add_path(w, &mask, p->paths.masked.list.items[i]);
	for (i = 0; i < ELEMENTSOF(readonly); i++)
		add_path(w, &ro, readonly[i]);
	for (i = 0; i < p->paths.readonly.list.count; i++)
		add_path(w, &ro, p->paths.readonly.list.items[i]);
	note_paths(w, &mask, &p->paths.unmasked, "masked");
	note_paths(w, &ro, &p->paths.unmasked, "read-only");
	decide_token(w, spec);
}
