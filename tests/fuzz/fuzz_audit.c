/*
 * Any bytes as a log: read, judged, paired, printed in every form. Nothing is read outside of it,
 * and nothing that comes out holds a byte that a terminal obeys.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/audit_read.h"
#include "audit/audit_replay.h"
#include "audit/audit_table.h"
#include "audit/audit_tail.h"
#include "audit/audit_value.h"
#include "audit/audit_verify.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_safe(const struct buf *b)
{
	size_t i;

	for (i = 0; i < b->len; i++)
		if (((unsigned char)b->data[i] < 0x20 && b->data[i] != '\n' && b->data[i] != '\t') ||
		    b->data[i] == 0x7f || ((unsigned char)b->data[i] == 0xc2 && (unsigned char)b->data[i + 1] < 0xa0))
			abort();
}

static void print(const struct audit_record *rec)
{
	_cleanup_buf_ struct buf out = BUF_NULL, bytes = BUF_NULL, screen = BUF_NULL;
	struct audit_screen filter = { 0 };

	audit_table_row(&out, rec, -1, NULL);
	text_print(&out, rec->line, rec->len, true);
	if (rec->json && audit_value_bytes(json_member(rec->json, "data"), &bytes) && bytes.len)
		audit_screen_filter(&filter, bytes.data, bytes.len, &screen);
	(void)audit_table_dull(rec);
	check_safe(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct audit_reader r = AUDIT_READER_NULL;
	struct error err = ERROR_NULL;
	struct audit_verdict v;
	struct audit_record rec;
	struct audit_head head;
	int fd = memfd_create("log", MFD_CLOEXEC), copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool torn;

	if (write(fd, data, size) != (ssize_t)size || audit_tail_read(fd, &head, &torn) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		abort();
	audit_reader_open_fd(&r, fd);
	while (audit_reader_next(&r, &rec, &err) == AUDIT_READ_RECORD)
		print(&rec);
	audit_reader_done(&r);
	if (lseek(copy, 0, SEEK_SET) < 0 || audit_verify_file(copy, "log", &v, &err) < 0)
		abort();
	return 0;
}
