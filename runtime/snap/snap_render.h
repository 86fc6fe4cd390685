/*
 * Changes for people, for programs, and as a patch. Names come from an agent: what is not plain
 * text is quoted, so that nothing reaches a terminal as a control sequence.
 */
#pragma once

#include "snap/snap_change.h"
#include "util/json_write.h"
#include "util/str.h"

/* As git writes names: plain, or in double quotes with C escapes. */
void snap_quote(struct buf *b, const char *prefix, const char *name);
/* "file", "folder", "link", ... */
const char *snap_type_name(mode_t mode);

void snap_render_text(struct buf *b, const struct snap_layer *layer, const struct snap_changes *c);
/* An object in the present array of w. */
void snap_render_json(struct json_writer *w, const struct snap_layer *layer, const struct snap_changes *c);
/*
 * A unified diff for `git apply`, and mostly for patch(1). Files that are no text are only
 * named; folders, sockets and devices are left out.
 */
int snap_render_patch(const struct snap_view *v, const struct snap_changes *c, const struct snap_out *out, struct error *err);

/* snap_lines.c: the hunks that turn one text into the other, appended to b. -ENOMEM. */
int snap_lines_diff(const char *a, size_t a_len, const char *b_text, size_t b_len, struct buf *b);
