/*
 * Owns the binary form of criu's requests and answers: protobuf, of which these need numbers, texts and messages.
 * The numbers of fields are those of rpc.proto, which never change their meaning.
 */
#include "os/criu.h"

#include <errno.h>
#include <string.h>

#define WIRE_NUMBER 0u
#define WIRE_64	    1u
#define WIRE_TEXT   2u
#define WIRE_32	    5u
#define LOG_LEVEL   4u

static void put_varint(struct buf *b, uint64_t v)
{
	uint8_t byte;

	for (; v >= 0x80; v >>= 7) {
		byte = (uint8_t)(v | 0x80);
		buf_add(b, &byte, 1);
	}
	byte = (uint8_t)v;
	buf_add(b, &byte, 1);
}

static void put_number(struct buf *b, unsigned field, uint64_t v)
{
	put_varint(b, (uint64_t)field << 3 | WIRE_NUMBER);
	put_varint(b, v);
}

static void put_flag(struct buf *b, unsigned field, bool v)
{
	if (v)
		put_number(b, field, 1);
}

static void put_bytes(struct buf *b, unsigned field, const void *data, size_t len)
{
	put_varint(b, (uint64_t)field << 3 | WIRE_TEXT);
	put_varint(b, len);
	buf_add(b, data, len);
}

static void put_text(struct buf *b, unsigned field, const char *text)
{
	if (text)
		put_bytes(b, field, text, strlen(text));
}

/* Takes inner. */
static void put_message(struct buf *b, unsigned field, struct buf *inner)
{
	put_bytes(b, field, inner->len ? inner->data : "", inner->len);
	buf_done(inner);
	*inner = BUF_NULL;
}

static void put_lists(const struct criu_options *o, struct buf *b)
{
	_cleanup_buf_ struct buf inner = BUF_NULL;
	size_t i;

	for (i = 0; i < o->n_cgroup_roots; i++) {
		put_text(&inner, 1, o->cgroup_roots[i].controllers);
		put_text(&inner, 2, o->cgroup_roots[i].path);
		put_message(b, 25, &inner);
	}
	for (i = 0; i < o->n_inherit; i++) {
		put_text(&inner, 1, o->inherit[i].key);
		put_number(&inner, 2, (uint64_t)o->inherit[i].fd);
		put_message(b, 27, &inner);
	}
	for (i = 0; i < o->n_external; i++)
		put_text(b, 37, o->external[i]);
	if (o->page_server_address) {
		put_text(&inner, 1, o->page_server_address);
		put_number(&inner, 2, o->page_server_port);
		put_message(b, 11, &inner);
	}
}

static void put_options(enum criu_request type, const struct criu_options *o, struct buf *b)
{
	put_number(b, 1, (uint64_t)o->images_fd);
	if (o->pid > 0)
		put_number(b, 2, (uint64_t)o->pid);
	put_flag(b, 3, o->leave_running);
	put_flag(b, 4, o->external_sockets);
	put_flag(b, 5, o->tcp_established);
	/* a device whose path cannot be opened any more is opened by another one */
	put_flag(b, 6, true);
	put_flag(b, 7, o->shell_job);
	put_flag(b, 8, o->file_locks);
	put_number(b, 9, LOG_LEVEL);
	put_text(b, 10, o->log_file);
	put_flag(b, 12, type == CRIU_DUMP || type == CRIU_RESTORE);
	put_text(b, 13, o->root);
	put_text(b, 14, o->parent_images);
	put_flag(b, 15, o->track_memory);
	put_flag(b, 16, o->auto_dedup);
	put_number(b, 17, (uint64_t)o->work_fd);
	put_flag(b, 18, o->link_remap);
	put_flag(b, 24, o->cgroups != CRIU_CG_IGNORE);
	put_flag(b, 26, o->sibling);
	put_number(b, 34, o->cgroups);
	if (o->empty_namespaces)
		put_number(b, 38, o->empty_namespaces);
	put_text(b, 44, o->freeze_cgroup);
	put_flag(b, 46, o->tcp_skip_in_flight);
	put_flag(b, 48, o->lazy_pages);
	if (o->status_fd > 0)
		put_number(b, 49, (uint64_t)o->status_fd);
	/* the master of the container's terminal is outside, with whoever started it */
	put_flag(b, 50, true);
	put_text(b, 51, o->config_file);
	put_flag(b, 52, o->tcp_close);
	put_text(b, 53, o->lsm_profile);
	put_text(b, 63, o->lsm_mount_context);
	put_lists(o, b);
}

void criu_request_write(enum criu_request type, const struct criu_options *o, struct buf *ret)
{
	_cleanup_buf_ struct buf inner = BUF_NULL;

	put_number(ret, 1, type);
	put_options(type, o, &inner);
	put_message(ret, 2, &inner);
}

void criu_notified_write(struct buf *ret)
{
	put_number(ret, 1, CRIU_NOTIFY);
	put_flag(ret, 3, true);
}

struct reader {
	const uint8_t *at, *end;
};

/* One field; text is empty for a number. False: the end, or what is none (then at is NULL). */
struct field {
	unsigned number;
	uint64_t value;
	struct reader text;
};

static bool take_varint(struct reader *r, uint64_t *ret)
{
	unsigned shift = 0;

	for (*ret = 0; r->at < r->end && shift < 64; shift += 7) {
		*ret |= (uint64_t)(*r->at & 0x7f) << shift;
		if (!(*r->at++ & 0x80))
			return true;
	}
	r->at = NULL;
	return false;
}

static bool skip(struct reader *r, size_t n)
{
	bool there = (size_t)(r->end - r->at) >= n;

	r->at = there ? r->at + n : NULL;
	return there;
}

static bool take_field(struct reader *r, struct field *f)
{
	uint64_t key;

	if (r->at == r->end || !take_varint(r, &key))
		return false;
	*f = (struct field){ .number = (unsigned)(key >> 3) };
	switch (key & 7) {
	case WIRE_NUMBER:
		return take_varint(r, &f->value);
	case WIRE_64:
		return skip(r, 8);
	case WIRE_32:
		return skip(r, 4);
	case WIRE_TEXT:
		if (!take_varint(r, &f->value) || !skip(r, f->value))
			return false;
		f->text = (struct reader){ .at = r->at - f->value, .end = r->at };
		return true;
	default:
		r->at = NULL;
		return false;
	}
}

static void copy_text(const struct reader *from, char *to, size_t size)
{
	size_t n = (size_t)(from->end - from->at);

	n = n < size ? n : size - 1;
	memcpy(to, from->at, n);
	to[n] = '\0';
	to[strcspn(to, "\n")] = '\0';
}

static bool read_notify(struct reader r, struct criu_answer *a)
{
	struct field f;

	while (take_field(&r, &f)) {
		if (f.number == 1 && f.text.at)
			copy_text(&f.text, a->script, sizeof(a->script));
		else if (f.number == 2)
			a->pid = (pid_t)f.value;
	}
	return r.at;
}

static bool read_restored(struct reader r, struct criu_answer *a)
{
	struct field f;

	while (take_field(&r, &f))
		if (f.number == 1)
			a->pid = (pid_t)f.value;
	return r.at;
}

int criu_answer_read(const void *data, size_t len, struct criu_answer *ret)
{
	struct reader r = { .at = data, .end = (const uint8_t *)data + len };
	struct criu_answer a = { .type = 0 };
	bool good = true;
	struct field f;

	while (good && take_field(&r, &f)) {
		if (f.number == 1)
			a.type = f.value;
		else if (f.number == 2)
			a.success = f.value != 0;
		else if (f.number == 4 && f.text.at)
			good = read_restored(f.text, &a);
		else if (f.number == 5 && f.text.at)
			good = read_notify(f.text, &a);
		else if (f.number == 7)
			a.code = f.value <= 4095 ? (int)f.value : 0;
		else if (f.number == 9 && f.text.at)
			copy_text(&f.text, a.message, sizeof(a.message));
	}
	if (!good || !r.at || a.type == 0)
		return -EBADMSG;
	*ret = a;
	return 0;
}
