/*
 * Owns loading: hands the loading program of a light skeleton to the kernel, runs it once,
 * and turns the verifier's log into the end of an error message.
 */
#include "os/ebpf_skel.h"

#include <assert.h>

#include "util/cleanup.h"

/* Far above what a rejected program of ours writes; only allocated after a failure. */
#define LOG_SIZE (UINT32_C(1) << 20)
#define LOG_LINE_MAX 200

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : r;
}

/* The map with what the loading program works on: programs, type information, texts. */
static int make_data_map(const struct bpf_load_and_run_opts *opts)
{
	_cleanup_close_ int map = -EBADF;
	union bpf_attr attr;
	uint32_t key = 0;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(key);
	attr.value_size = opts->data_sz;
	attr.max_entries = 1;
	memcpy(attr.map_name, "agentrun_load", sizeof("agentrun_load"));
	map = sys_bpf(BPF_MAP_CREATE, &attr);
	if (map < 0)
		return map;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)opts->data;
	r = sys_bpf(BPF_MAP_UPDATE_ELEM, &attr);
	return r < 0 ? r : take_fd(&map);
}

static int load_loader(const struct bpf_load_and_run_opts *opts, int map)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.insns = (uintptr_t)opts->insns;
	attr.insn_cnt = opts->insns_sz / (uint32_t)sizeof(struct bpf_insn);
	attr.license = (uintptr_t)"GPL";
	memcpy(attr.prog_name, "agentrun_load", sizeof("agentrun_load"));
	attr.fd_array = (uintptr_t)&map;
	attr.log_level = opts->ctx->log_level;
	attr.log_size = opts->ctx->log_size;
	attr.log_buf = opts->ctx->log_buf;
	attr.prog_flags = BPF_F_SLEEPABLE;
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

int ebpf_load_and_run(struct bpf_load_and_run_opts *opts)
{
	_cleanup_close_ int map = -EBADF, prog = -EBADF;
	union bpf_attr attr;
	int r;

	map = make_data_map(opts);
	if (map < 0)
		return map;
	prog = load_loader(opts, map);
	if (prog < 0)
		return prog;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog;
	attr.test.ctx_in = (uintptr_t)opts->ctx;
	attr.test.ctx_size_in = opts->ctx->sz;
	r = sys_bpf(BPF_PROG_TEST_RUN, &attr);
	if (r < 0)
		return r;
	return (int)attr.test.retval < 0 ? (int)attr.test.retval : 0;
}

void ebpf_log_begin(struct bpf_loader_ctx *ctx)
{
	char *log = calloc(1, LOG_SIZE);

	if (!log)
		return;
	ctx->log_level = 1;
	ctx->log_size = LOG_SIZE;
	ctx->log_buf = (uintptr_t)log;
}

/* The verifier's complaint is its last line but the statistics. */
static const char *complaint(char *log)
{
	char *line = log, *last = NULL, *next;

	for (; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (*line != '\0' && strncmp(line, "processed ", 10) != 0 &&
		    strncmp(line, "verification time", 17) != 0 && strncmp(line, "stack depth", 11) != 0)
			last = line;
	}
	if (last && strlen(last) > LOG_LINE_MAX)
		last[LOG_LINE_MAX] = '\0';
	return last;
}

int ebpf_log_end(struct bpf_loader_ctx *ctx, int code, int again, const char *name, struct error *err)
{
	_cleanup_free_ char *log = (char *)(uintptr_t)ctx->log_buf;
	const char *why;

	assert(code < 0);

	ctx->log_level = ctx->log_size = 0;
	ctx->log_buf = 0;
	if (again == 0)
		return 0;
	why = log ? complaint(log) : NULL;
	/* A kernel without the support has no log: the first program is refused before verification. */
	return error_set(err, code, "load the BPF programs \"%s\"%s%s%s", name, why ? " (verifier: " : "",
			 why ? why : "", why ? ")" : "");
}
