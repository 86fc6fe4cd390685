/*
 * criu's binary form: known bytes of requests, and answers whole, cut at every byte, and of nonsense.
 */
#include "os/criu.h"
#include "tap.h"

#include <errno.h>

/* Whether bytes are somewhere in b. */
static bool holds(const struct buf *b, const void *bytes, size_t n)
{
	return memmem(b->data, b->len, bytes, n) != NULL;
}

static void requests(void)
{
	static const char *const external[] = { "mnt[/a]:/b" };
	static const struct criu_inherit inherit[] = { { "pipe:[300]", 1 } };
	static const struct criu_cgroup_root roots[] = { { "cpu", "/x" }, { "", "/y" } };
	const struct criu_options o = { .images_fd = 5, .work_fd = 6, .pid = 300, .log_file = "l", .tcp_established = true,
					.cgroups = CRIU_CG_SOFT, .external = external, .n_external = 1, .inherit = inherit,
					.n_inherit = 1, .cgroup_roots = roots, .n_cgroup_roots = 2 };
	_cleanup_buf_ struct buf dump = BUF_NULL, pre = BUF_NULL, note = BUF_NULL;

	criu_request_write(CRIU_DUMP, &o, &dump);
	ok(buf_ok(&dump) && memcmp(dump.data, "\x08\x01\x12", 3) == 0, "a dump, with options");
	ok(holds(&dump, "\x08\x05", 2), "the folder of images");
	ok(holds(&dump, "\x10\xac\x02", 3), "a number of two bytes");
	ok(holds(&dump, "\x28\x01", 2) && !holds(&dump, "\x20\x01\x28", 3), "flags that are set, and no others");
	ok(holds(&dump, "\x52\x01l", 3), "a text");
	ok(holds(&dump, "\x60\x01", 2), "it wants to be told of steps");
	ok(holds(&dump, "\x88\x01\x06", 3), "a field above 15");
	ok(holds(&dump, "\xaa\x02\x0amnt[/a]:/b", 13), "what is outside");
	ok(holds(&dump, "\xda\x01\x0e\x0a\x0apipe:[300]\x10\x01", 17), "a descriptor");
	ok(holds(&dump, "\xca\x01\x09\x0a\x03" "cpu\x12\x02/x", 12), "a cgroup");
	ok(holds(&dump, "\xca\x01\x06\x0a\x00\x12\x02/y", 9), "the v2 hierarchy has an empty name");
	criu_request_write(CRIU_PRE_DUMP, &o, &pre);
	ok(memcmp(pre.data, "\x08\x04\x12", 3) == 0 && !holds(&pre, "\x60\x01", 2), "a pre-dump, without steps");
	criu_notified_write(&note);
	ok(note.len == 4 && memcmp(note.data, "\x08\x06\x18\x01", 4) == 0, "go on");
}

static void answers(void)
{
	static const char step[] = "\x08\x06\x10\x01\x2a\x12\x0a\x0cpost-restore\x10\xac\x82\x01";
	static const char back[] = "\x08\x02\x10\x01\x22\x02\x08\x07";
	static const char failed[] = "\x08\x01\x10\x00\x38\x0d\x4a\x02no";
	struct criu_answer a;
	size_t i, wrong = 0;

	is_int(criu_answer_read(step, sizeof(step) - 1, &a), 0, "a step");
	is_int(a.type, CRIU_NOTIFY, "is a notification");
	is_str(a.script, "post-restore", "its name");
	is_int(a.pid, 16684, "its process");
	is_int(criu_answer_read(back, sizeof(back) - 1, &a), 0, "what was restored");
	ok(a.success && a.pid == 7, "process 7");
	is_int(criu_answer_read(failed, sizeof(failed) - 1, &a), 0, "a failure");
	ok(!a.success && a.code == 13, "with its errno");
	is_str(a.message, "no", "and its text");
	/* Cut between two fields it is an answer that says less. */
	for (i = 0; i < sizeof(step) - 1; i++)
		if (criu_answer_read(step, i, &a) == 0 && i != 2 && i != 4)
			wrong++;
	is_int(wrong, 0, "cut anywhere else it is none");
	is_int(criu_answer_read("", 0, &a), -EBADMSG, "nothing");
	is_int(criu_answer_read("\x0b", 1, &a), -EBADMSG, "a group, which nobody uses");
	is_int(criu_answer_read("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, &a), -EBADMSG, "a number without an end");
	is_int(criu_answer_read("\x08\x01\x4a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12, &a), -EBADMSG, "a text longer than memory");
	is_int(criu_answer_read("\x08\x01\xfa\x7f\x01x\x5d....\x59........", 20, &a), 0, "fields that we do not know");
}

int main(void)
{
	TAP_BEGIN();
	requests();
	answers();
	return TAP_END();
}
