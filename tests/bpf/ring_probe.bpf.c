/*
 * Test program for os/ebpf: writes records of growing length into a ring buffer, counts them
 * in a variable, and keeps one entry in a map.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 first = 1;
__u64 written;
__u64 lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} table SEC(".maps");

struct request {
	__u32 records;
};

SEC("syscall")
int write_records(struct request *request)
{
	__u32 i, count = request->records;

	for (i = 0; i < 64 && i < count; i++) {
		__u64 *record = bpf_ringbuf_reserve(&ring, 24, 0);

		if (!record) {
			lost++;
			continue;
		}
		record[0] = first + i;
		record[1] = ~record[0];
		record[2] = 0;
		if (i % 4 == 3) {
			bpf_ringbuf_discard(record, 0);
		} else {
			bpf_ringbuf_submit(record, 0);
			written++;
		}
	}
	return 0;
}
