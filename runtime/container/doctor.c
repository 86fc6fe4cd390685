/*
 * `doctor`: whether containers can start here under the policy, what is missing for it, and what
 * to do. The findings are made elsewhere (doctor.h); this puts them in order and prints them.
 */
#include "container/doctor.h"

#include <assert.h>

#include "util/json_write.h"
#include "util/str.h"

static const char *const state_words[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_LACKING] = "lacking",
};

static int print_text(const struct doctor *d, size_t lacking, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct doctor_finding *f = &d->findings[i];

		buf_addf(&b, "%-8s%-12s%s\n", state_words[f->state], f->subject, f->found);
		if (*f->remedy)
			buf_addf(&b, "%20s%s\n", "", f->remedy);
	}
	if (lacking)
		buf_addf(&b, "containers under this policy do not start here: %zu of the above %s lacking\n",
			 lacking, lacking == 1 ? "is" : "are");
	else
		buf_addf(&b, "containers under this policy can start here\n");
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return 0;
}

static int print_json(const struct doctor *d, size_t lacking, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	size_t i;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_bool(w, "ready", lacking == 0);
	json_array_begin(w, "findings");
	for (i = 0; i < d->n; i++) {
		const struct doctor_finding *f = &d->findings[i];

		json_object_begin(w, NULL);
		json_string(w, "subject", f->subject);
		json_string(w, "state", state_words[f->state]);
		json_string(w, "found", f->found);
		if (*f->remedy)
			json_string(w, "remedy", f->remedy);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
	return json_take(w, ret, err);
}

int container_doctor(const struct container_env *env, bool json, bool *ret_ready, char **ret_text, struct error *err)
{
	struct doctor d = { .env = env };
	size_t i, lacking = 0;
	int r;

	assert(env && ret_ready && ret_text && err);

	doctor_host(&d);
	doctor_engines(&d, "/etc");
	for (i = 0; i < d.n; i++)
		lacking += d.findings[i].state == DOCTOR_LACKING;
	if (d.failed)
		r = error_text(err, -ENOMEM, "more findings than there is room for");
	else
		r = json ? print_json(&d, lacking, ret_text, err) : print_text(&d, lacking, ret_text, err);
	*ret_ready = lacking == 0;
	arena_done(&d.arena);
	return r;
}
