/*
 * Capability sets as 64-bit masks over the raw system calls. The names of the
 * bits live in the specification's table, which this layer does not know.
 */
#include "os/creds.h"

#include <assert.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>

#include "os/procfs.h"
#include "os/syscalls.h"
#include "util/parse.h"

#define CAPS_BITS 64

static uint64_t caps_join(uint32_t low, uint32_t high)
{
	return ((uint64_t)high << 32) | low;
}

int caps_known(int proc_fd, uint64_t *ret_mask, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t last;
	int r;

	assert(ret_mask);

	r = procfs_read(proc_fd, "sys/kernel/cap_last_cap", &text, err);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	r = parse_u64(text, &last);
	if (r < 0 || last >= CAPS_BITS)
		return error_text(err, -EBADMSG, "/proc/sys/kernel/cap_last_cap says \"%.32s\"",
				  text);
	*ret_mask = last == CAPS_BITS - 1 ? UINT64_MAX : (UINT64_C(1) << (last + 1)) - 1;
	return 0;
}

int caps_held(struct caps_sets *ret, struct error *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	assert(ret);

	if (syscall(SYS_capget, &head, data) < 0)
		return error_set(err, -errno, "read capabilities");
	*ret = (struct caps_sets){
		.effective = caps_join(data[0].effective, data[1].effective),
		.permitted = caps_join(data[0].permitted, data[1].permitted),
		.inheritable = caps_join(data[0].inheritable, data[1].inheritable),
	};
	return 0;
}

int caps_current(struct caps_sets *ret, struct error *err)
{
	struct caps_sets got;
	unsigned bit;
	int r;

	assert(ret);

	r = caps_held(&got, err);
	if (r < 0)
		return r;
	for (bit = 0; bit < CAPS_BITS; bit++) {
		r = prctl(PR_CAPBSET_READ, bit, 0, 0, 0);
		if (r < 0) /* the first one that the kernel does not know */
			break;
		if (r > 0)
			got.bounding |= UINT64_C(1) << bit;
		/* Ambient is a subset of inheritable, which is nearly always empty. */
		if ((got.inheritable & (UINT64_C(1) << bit)) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, bit, 0, 0) > 0)
			got.ambient |= UINT64_C(1) << bit;
	}
	*ret = got;
	return 0;
}

void caps_grantable(const struct caps_sets *want, const struct caps_sets *have,
		    struct caps_sets *ret, uint64_t *ret_dropped)
{
	struct caps_sets got;

	assert(want && have && ret && ret_dropped);

	got.bounding = want->bounding & have->bounding;
	got.permitted = want->permitted & have->permitted;
	got.effective = want->effective & got.permitted;
	/* What capset(2) takes without CAP_SETPCAP, after the bounding set was cut. */
	got.inheritable =
		want->inheritable & (have->inheritable | (have->permitted & got.bounding));
	got.ambient = want->ambient & got.permitted & got.inheritable;
	*ret_dropped = (want->bounding & ~got.bounding) | (want->permitted & ~got.permitted) |
		       (want->effective & ~got.effective) | (want->inheritable & ~got.inheritable) |
		       (want->ambient & ~got.ambient);
	*ret = got;
}

int caps_set(const struct caps_sets *sets)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	unsigned i;

	assert(sets);

	for (i = 0; i < ELEMENTSOF(data); i++) {
		data[i].effective = (uint32_t)(sets->effective >> (32 * i));
		data[i].permitted = (uint32_t)(sets->permitted >> (32 * i));
		data[i].inheritable = (uint32_t)(sets->inheritable >> (32 * i));
	}
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}
