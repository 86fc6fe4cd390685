/*
 * What commands render: tables, formats, and limits laid over a document.
 */
#include <errno.h>

#include "commands/commands.h"
#include "tap.h"

static void test_table(void)
{
	static const char *const cells[] = { "ID", "STATUS", "a-name-of-15-ch", "running" };
	_cleanup_buf_ struct buf b = BUF_NULL;

	command_render_table(&b, cells, 2, 2);
	is_str(b.data, "ID                STATUS\na-name-of-15-ch   running\n",
	       "a wide cell and three blanks");
	buf_done(&b);
	command_render_table(&b, cells, 1, 2);
	is_str(b.data, "ID          STATUS\n", "at least twelve columns, none after the last cell");
}

static void test_format(void)
{
	struct error err = ERROR_NULL;
	bool json = true;

	is_int(command_parse_format(NULL, &json, &err), 0, "no format");
	ok(!json, "is a table");
	is_int(command_parse_format("json", &json, &err), 0, "json");
	ok(json, "is JSON");
	is_int(command_parse_format("table", &json, &err), 0, "table");
	ok(!json, "is a table");
	is_int(command_parse_format("yaml", &json, &err), -EINVAL, "another format");
	is_str(err.text, "unknown format \"yaml\": it must be \"table\" or \"json\"",
	       "its message");
}

static void test_limits(void)
{
	struct spec_cpu cpu = { .quota = { true, 5 },
				.period = { true, 7 },
				.cpus = (char[]){ "0" } };
	struct spec_resources res = { .cpu = &cpu, .pids_limit = { true, 3 } };
	struct command_limits limits = { .cpu = { .quota = { true, -1 } },
					 .memory = { .limit = { true, 9 } } };
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;

	is_int(command_limits_merge(&limits, &arena, &res), 0, "merge");
	is_int(res.cpu->quota.value, -1, "an option replaces the document's member");
	is_int((long long)res.cpu->period.value, 7, "other members stay");
	is_str(res.cpu->cpus, "0", "strings too");
	ok(res.memory->limit.set && res.memory->limit.value == 9, "a missing part is made");
	ok(!res.memory->swap.set && !res.block_io->weight.set, "with nothing else set");
	is_int(res.pids_limit.value, 3, "pids stays");
	limits.pids_limit = (struct opt_i64){ true, 0 };
	ok(command_limits_merge(&limits, &arena, &res) == 0 && res.pids_limit.value == 1,
	   "0 as an option is the least there is");
}

int main(void)
{
	TAP_BEGIN();
	test_table();
	test_format();
	test_limits();
	return TAP_END();
}
