/* os/ebpf against the kernel: light skeletons, maps, the ring buffer, the verifier's words. */
#include "os/ebpf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "bpf/bad_probe.skel.h"
#include "bpf/ring_probe.skel.h"
#include "tap.h"
#include "util/cleanup.h"

struct seen {
	uint64_t next, wrong;
	int stop_after;
};

static int see(void *userdata, const void *data, size_t len)
{
	struct seen *seen = userdata;
	const uint64_t *record = data;

	if (len != 24 || record[1] != ~record[0])
		seen->wrong++;
	/* every fourth one was discarded */
	if (record[0] != seen->next)
		seen->wrong++;
	seen->next++;
	if ((seen->next - 100) % 4 == 3)
		seen->next++;
	return seen->stop_after > 0 && --seen->stop_after == 0 ? -ECANCELED : 0;
}

static int run_with(int prog, uint32_t records)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog;
	attr.test.ctx_in = (uintptr_t)&records;
	attr.test.ctx_size_in = sizeof(records);
	return syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

static void test_ring(struct ring_probe *skel)
{
	struct ebpf_ring ring = EBPF_RING_NULL;
	struct error err = ERROR_NULL;
	struct seen seen = { .next = 100 };
	uint64_t written;

	is_int(ebpf_ring_open(skel->maps.ring.map_fd, &ring, &err), 0, "ring opened");
	is_int(ebpf_ring_consume(&ring, see, &seen, 100), 0, "empty");
	is_int(run_with(skel->progs.write_records.prog_fd, 12), 0, "program run");
	is_int(skel->bss->written, 9, "nine records, three discarded");
	is_int(ebpf_ring_consume(&ring, see, &seen, 4), 4, "at most four");
	is_int(ebpf_ring_consume(&ring, see, &seen, 100), 5, "the rest");
	is_int(seen.wrong, 0, "all as written, in order");

	is_int(run_with(skel->progs.write_records.prog_fd, 3), 0, "program run again");
	seen = (struct seen){ .next = 100, .stop_after = 2 };
	is_int(ebpf_ring_consume(&ring, see, &seen, 100), -ECANCELED, "callback stops");
	is_int(ebpf_ring_consume(&ring, see, &seen, 100), 1, "and what it saw is consumed");

	/* 4096 bytes hold 128 records of 32: round and round, then too many */
	written = skel->bss->written;
	for (int i = 0; i < 10; i++) {
		seen = (struct seen){ .next = 100 };
		(void)run_with(skel->progs.write_records.prog_fd, 60);
		if (ebpf_ring_consume(&ring, see, &seen, 100) != 45 || seen.wrong)
			break;
	}
	is_int(skel->bss->written - written, 450, "around the end of the ring");
	is_int(seen.wrong, 0, "records that wrap are whole");
	for (int i = 0; i < 3; i++)
		(void)run_with(skel->progs.write_records.prog_fd, 60);
	ok(skel->bss->lost > 0, "a full ring loses");
	ebpf_ring_close(&ring);
	ebpf_ring_close(&ring);
}

static void test_map(int map)
{
	uint32_t keys[4] = { 1, 2, 3, 4 }, key, max, found = 0;
	uint64_t values[4] = { 10, 20, 30, 40 }, value = 0;

	is_int(ebpf_map_max_entries(map, &max), 0, "size asked");
	is_int(max, 8, "size");
	is_int(ebpf_map_update_many(map, keys, sizeof(*keys), values, sizeof(*values), 4), 0, "many");
	key = 3;
	is_int(ebpf_map_lookup(map, &key, &value), 0, "lookup");
	is_int(value, 30, "value");
	is_int(ebpf_map_delete(map, &key), 0, "delete");
	is_int(ebpf_map_lookup(map, &key, &value), -ENOENT, "gone");
	is_int(ebpf_map_update(map, &keys[0], &value, BPF_NOEXIST), -EEXIST, "flags are passed on");
	for (int r = ebpf_map_next_key(map, NULL, &key); r == 0; r = ebpf_map_next_key(map, &key, &key))
		found++;
	is_int(found, 3, "walk");
	is_int(ebpf_map_freeze(map), 0, "freeze");
	is_int(ebpf_map_update(map, &keys[0], &value, BPF_ANY), -EPERM, "frozen");
}

int main(void)
{
	struct ring_probe *skel = ring_probe__open();
	struct bad_probe *bad = bad_probe__open();
	struct error err = ERROR_NULL;
	int r;

	TAP_BEGIN();
	if (!skel || !bad)
		return 1;
	skel->rodata->first = 100;
	r = EBPF_LOAD(ring_probe, skel, &err);
	if (r == -EPERM)
		return TAP_SKIP_ALL("bpf(2) is not permitted here");
	is_int(r, 0, "skeleton loaded");
	if (r < 0) {
		printf("# %s\n", err.text);
		return TAP_END();
	}
	is_int(fcntl(skel->progs.write_records.prog_fd, F_GETFD), FD_CLOEXEC, "close-on-exec");
	test_ring(skel);
	test_map(skel->maps.table.map_fd);

	r = EBPF_LOAD(bad_probe, bad, &err);
	ok(r == -EACCES, "the verifier refuses");
	ok(strstr(err.text, "load the BPF programs \"bad_probe\"") && strstr(err.text, "invalid mem access"),
	   "and says why: %s", err.text);
	ring_probe__destroy(skel);
	bad_probe__destroy(bad);
	return TAP_END();
}
