/*
 * Test program for os/ebpf: the verifier must refuse it, and its words must reach the user.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} table SEC(".maps");

SEC("syscall")
int unchecked_lookup(void *ctx)
{
	__u32 key = 0;
	__u64 *value = bpf_map_lookup_elem(&table, &key);

	return (int)*value;
}
