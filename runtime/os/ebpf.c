/*
 * Owns the calls of bpf(2) on maps, pins and cgroup attachments. Knows no program.
 */
#include "os/ebpf.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cleanup.h"

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : r;
}

static uint64_t ptr(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int ebpf_map_create(unsigned type, const char *name, size_t key_size, size_t value_size,
		    size_t entries, unsigned flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = (uint32_t)key_size;
	attr.value_size = (uint32_t)value_size;
	attr.max_entries = (uint32_t)entries;
	attr.map_flags = flags;
	(void)strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

int ebpf_map_by_id(uint32_t id, unsigned flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_id = id;
	attr.open_flags = flags;
	return sys_bpf(BPF_MAP_GET_FD_BY_ID, &attr);
}

static int map_call(int cmd, int map, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = ptr(key);
	attr.value = ptr(value); /* and next_key: the same place */
	attr.flags = flags;
	return sys_bpf(cmd, &attr);
}

int ebpf_map_lookup(int map, const void *key, void *ret_value)
{
	return map_call(BPF_MAP_LOOKUP_ELEM, map, key, ret_value, 0);
}

int ebpf_map_update(int map, const void *key, const void *value, uint64_t flags)
{
	return map_call(BPF_MAP_UPDATE_ELEM, map, key, value, flags);
}

int ebpf_map_delete(int map, const void *key)
{
	return map_call(BPF_MAP_DELETE_ELEM, map, key, NULL, 0);
}

int ebpf_map_next_key(int map, const void *key, void *ret_next)
{
	return map_call(BPF_MAP_GET_NEXT_KEY, map, key, ret_next, 0);
}

int ebpf_map_update_many(int map, const void *keys, size_t key_size, const void *values,
			 size_t value_size, size_t count)
{
	union bpf_attr attr;
	size_t i;
	int r;

	if (count == 0)
		return 0;
	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = (uint32_t)map;
	attr.batch.keys = ptr(keys);
	attr.batch.values = ptr(values);
	attr.batch.count = (uint32_t)count;
	r = sys_bpf(BPF_MAP_UPDATE_BATCH, &attr);
	/* What a kernel without the call for this kind of map says has varied. */
	if (r != -EINVAL && r != -EOPNOTSUPP && r != -524 /* ENOTSUPP */)
		return r;
	for (i = 0; i < count; i++) {
		r = ebpf_map_update(map, (const char *)keys + i * key_size,
				    (const char *)values + i * value_size, BPF_ANY);
		if (r < 0)
			return r;
	}
	return 0;
}

static int obj_info(int fd, void *info, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = ptr(info);
	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

int ebpf_map_max_entries(int map, uint32_t *ret)
{
	struct bpf_map_info info;
	int r;

	memset(&info, 0, sizeof(info));
	r = obj_info(map, &info, sizeof(info));
	if (r < 0)
		return r;
	*ret = info.max_entries;
	return 0;
}

int ebpf_map_freeze(int map)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	return sys_bpf(BPF_MAP_FREEZE, &attr);
}

int ebpf_obj_pin(int fd, const char *path)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = ptr(path);
	attr.bpf_fd = (uint32_t)fd;
	return sys_bpf(BPF_OBJ_PIN, &attr);
}

int ebpf_obj_get(const char *path)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = ptr(path);
	return sys_bpf(BPF_OBJ_GET, &attr);
}

static int prog_call(int cmd, int cgroup, int prog, unsigned type, unsigned flags)
{
	union bpf_attr attr;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (uint32_t)cgroup;
	attr.attach_bpf_fd = (uint32_t)prog;
	attr.attach_type = type;
	attr.attach_flags = flags;
	r = sys_bpf(cmd, &attr);
	return r < 0 ? r : 0;
}

int ebpf_prog_attach(int cgroup, int prog, unsigned type, unsigned flags)
{
	return prog_call(BPF_PROG_ATTACH, cgroup, prog, type, flags);
}

int ebpf_prog_detach(int cgroup, int prog, unsigned type)
{
	return prog_call(BPF_PROG_DETACH, cgroup, prog, type, 0);
}

int ebpf_prog_query(int cgroup, unsigned type, uint32_t *ids, size_t room, size_t *ret_count)
{
	union bpf_attr attr;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (uint32_t)cgroup;
	attr.query.attach_type = type;
	attr.query.prog_ids = ptr(ids);
	attr.query.prog_cnt = (uint32_t)room;
	r = sys_bpf(BPF_PROG_QUERY, &attr);
	if (r < 0 && r != -ENOSPC)
		return r;
	*ret_count = attr.query.prog_cnt;
	return r < 0 ? r : 0;
}

int ebpf_prog_id(int prog, uint32_t *ret)
{
	struct bpf_prog_info info;
	int r;

	memset(&info, 0, sizeof(info));
	r = obj_info(prog, &info, sizeof(info));
	if (r < 0)
		return r;
	*ret = info.id;
	return 0;
}

int ebpf_prog_info(int prog, char ret_name[BPF_OBJ_NAME_LEN], uint32_t *maps, size_t *ret_count)
{
	struct bpf_prog_info info;
	int r;

	memset(&info, 0, sizeof(info));
	info.nr_map_ids = maps ? (uint32_t)*ret_count : 0;
	info.map_ids = ptr(maps);
	r = obj_info(prog, &info, sizeof(info));
	if (r < 0)
		return r;
	memcpy(ret_name, info.name, BPF_OBJ_NAME_LEN);
	ret_name[BPF_OBJ_NAME_LEN - 1] = '\0';
	if (maps)
		*ret_count = info.nr_map_ids < *ret_count ? info.nr_map_ids : *ret_count;
	return 0;
}

int ebpf_map_name(int map, char ret_name[BPF_OBJ_NAME_LEN])
{
	struct bpf_map_info info;
	int r;

	memset(&info, 0, sizeof(info));
	r = obj_info(map, &info, sizeof(info));
	if (r < 0)
		return r;
	memcpy(ret_name, info.name, BPF_OBJ_NAME_LEN);
	ret_name[BPF_OBJ_NAME_LEN - 1] = '\0';
	return 0;
}

int ebpf_prog_by_id(uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	return sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
}
