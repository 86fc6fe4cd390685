/* What the monitor is told: rules come back as they were written, and none without its scope. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/monitor_config.h"
#include "state/state.h"
#include "tap.h"
#include "util/cleanup.h"
#include "util/fd.h"
#include "util/str.h"

static struct monitor_rule rules[] = {
	{ .cidr = (char *)"10.0.0.5/32", .ports = (char *)"80 8000-8010", .protocol = 6, .scope = 0 },
	{ .cidr = (char *)"10.0.0.0/8", .scope = 8 },
	{ .cidr = (char *)"169.254.169.254/32", .metadata = true, .scope = 32 },
	{ .host = (char *)"a.test", .verify = (char *)"sni" },
};

static void test_rules(int dir_fd)
{
	struct monitor_config c = { .id = (char *)"x", .root = (char *)"/r", .bundle = (char *)"/b",
				    .profile = (char *)"default", .policy_file = (char *)"built-in" }, *got = NULL;
	const struct monitor_rule *r;
	struct error err = ERROR_NULL;

	c.egress.enabled = true;
	c.egress.rules = (struct json_list){ .items = rules, .count = ELEMENTSOF(rules) };
	is_int(monitor_config_write(dir_fd, &c, &err), 0, "written");
	is_int(monitor_config_read(dir_fd, &got, &err), 0, "read");
	if (!got)
		return;
	is_int(got->egress.rules.count, ELEMENTSOF(rules), "every rule");
	r = got->egress.rules.items;
	is_str(r[0].cidr, rules[0].cidr, "range");
	is_str(r[0].ports, rules[0].ports, "ports");
	is_int(r[0].scope, 0, "a part of every address");
	is_int(r[1].scope, 8, "a range of its own");
	ok(r[2].scope == 32 && r[2].metadata, "metadata");
	is_str(r[3].verify, "sni", "verify");
	monitor_config_free(got);
}

/* An older or damaged file: what is not said must not become the rule's own prefix. */
static void test_no_scope(int dir_fd)
{
	_cleanup_free_ char *text = NULL;
	struct monitor_config *got = NULL;
	struct error err = ERROR_NULL;
	char *at;

	is_int(file_read_all(dir_fd, STATE_MONITOR_FILE, 65536, &text, NULL, &err), 0, "the file");
	at = text ? strstr(text, "\"scope\"") : NULL;
	ok(at != NULL, "has the member");
	if (!at)
		return;
	at[1] = '_';
	is_int(file_replace(dir_fd, STATE_MONITOR_FILE, text, strlen(text), 0600, 0, &err), 0, "renamed in one rule");
	ok(monitor_config_read(dir_fd, &got, &err) < 0 && strstr(err.text, "scope"), "refused: %s", err.text);
}

int main(void)
{
	char dir[] = "/tmp/test_monitor_config.XXXXXX";
	int fd;

	TAP_BEGIN();
	if (!mkdtemp(dir))
		return 1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_rules(fd);
	test_no_scope(fd);
	(void)unlinkat(fd, STATE_MONITOR_FILE, 0);
	(void)close(fd);
	(void)rmdir(dir);
	return TAP_END();
}
