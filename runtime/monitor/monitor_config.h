/*
 * What the monitor is told of its container: monitor.json, written by `create` into the
 * state folder and read while the monitor is still privileged.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/error.h"
#include "util/json_dispatch.h"

struct monitor_rule {
	char *host, *cidr; /* one of them */
	char *ports; /* "443", "8000-8010", blank-separated; NULL = every port */
	uint32_t protocol; /* 0 = any, IPPROTO_* */
	bool metadata;
	uint32_t scope; /* of a cidr: prefix of the policy's rule for it, at most its own; always written */
	char *verify; /* "sni", "address"; NULL = by port */
};

/* For the log: struct policy_decision in words. */
struct monitor_decision {
	char *control, *action, *asked, *given, *rule;
};

struct monitor_config {
	struct arena arena;
	char *id, *root, *profile, *policy_file, *policy_hash; /* hash: SHA-256 in hexadecimal; NULL = built in */
	char *bundle, *rootfs, *owner, *version;
	char *argv; /* first argument alone */
	uint32_t uid, gid;
	struct json_list decisions; /* struct monitor_decision */
	bool rootless;
	char *calls_profile; /* seccomp profile whose denied calls are reported; NULL = none are */
	struct {
		bool exec;
		struct strv redact;
		uint64_t output_max; /* bytes of each stream */
		uint64_t log_max; /* of the log; 0 = no limit */
		uint64_t input_max; /* of each standard input; 0 = it does not come here */
		bool stop; /* a log that cannot be written ends the container */
	} audit;
	struct {
		bool enabled, host_network;
		struct json_list rules; /* struct monitor_rule */
		char *resolv_conf; /* text of the container's; NULL = none */
	} egress;
};

int monitor_config_write(int dir_fd, const struct monitor_config *c, struct error *err);
int monitor_config_read(int dir_fd, struct monitor_config **ret, struct error *err);
/* The same from a descriptor, from its beginning. */
int monitor_config_read_fd(int fd, struct monitor_config **ret, struct error *err);
struct monitor_config *monitor_config_free(struct monitor_config *c);
