/*
 * Owns the list of findings.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "container/doctor.h"

void doctor_add(struct doctor *d, enum doctor_state state, const char *subject, const char *remedy,
		const char *found_fmt, ...)
{
	struct doctor_finding *f = &d->findings[d->n];
	char text[1024];
	va_list ap;

	assert(subject && remedy && found_fmt);

	if (d->n == ELEMENTSOF(d->findings)) {
		d->failed = true;
		return;
	}
	va_start(ap, found_fmt);
	(void)vsnprintf(text, sizeof(text), found_fmt, ap);
	va_end(ap);
	*f = (struct doctor_finding){
		.subject = subject,
		.found = arena_strdup(&d->arena, text),
		.remedy = arena_strdup(&d->arena, remedy),
		.state = state,
	};
	if (f->found && f->remedy)
		d->n++;
	else
		d->failed = true;
}
