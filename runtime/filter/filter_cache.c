/*
 * Compiled programs on disk, by content: the file name is the hash of everything that the
 * program depends on, so an entry is never stale and never updated. A file is believed
 * only when nobody but us can have written it; everything else, and every failure, just
 * means compiling again.
 */
#include "filter/filter_private.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fd.h"
#include "util/log.h"
#include "util/sha256.h"
#include "util/str.h"

/* Raise it with every change of what filter_compile() makes of a profile, or of the layout. */
#define CACHE_FORMAT 1u
#define CACHE_MAGIC "agfilter"
/* Listing stops here: a folder with so many foreign files is not ours to clean. */
#define CACHE_SCAN_MAX 4096

struct cache_header {
	char magic[8];
	uint32_t format;
	uint32_t count;
	/* Of the instructions: detects a damaged file, not an attacker, who would match it. */
	uint8_t digest[SHA256_BYTES];
};

#define CACHE_FILE_MAX (sizeof(struct cache_header) + BPF_MAXINSNS * sizeof(struct sock_filter))

/* Every field with its length or at fixed width, so that two profiles cannot give one text. */
static void put_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

static void put_str(struct buf *b, const char *s)
{
	size_t len = strlen(s);

	put_u64(b, len);
	buf_add(b, s, len);
}

static void put_strv(struct buf *b, const struct strv *v)
{
	size_t i;

	put_u64(b, v->count);
	for (i = 0; i < v->count; i++)
		put_str(b, v->items[i]);
}

static void put_errno(struct buf *b, const struct opt_u32 *e)
{
	put_u64(b, e->set);
	put_u64(b, e->set ? e->value : 0);
}

static void put_rule(struct buf *b, const struct spec_seccomp_rule *r)
{
	size_t i;

	put_strv(b, &r->names);
	put_u64(b, r->action);
	put_errno(b, &r->errno_ret);
	put_u64(b, r->args.count);
	for (i = 0; i < r->args.count; i++) {
		put_u64(b, r->args.items[i].index);
		put_u64(b, r->args.items[i].op);
		put_u64(b, r->args.items[i].value);
		put_u64(b, r->args.items[i].value_two);
	}
}

/* Flags and the listener's path are not part of the program. */
int filter_cache_key(const struct spec_seccomp *p, bool fail_unknown, struct filter_key *ret)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	static_assert(sizeof(ret->name) == SHA256_HEX_SIZE, "the name is a hash as text");

	put_str(&b, CACHE_MAGIC);
	put_u64(&b, CACHE_FORMAT);
	put_str(&b, filter_library_version());
	put_u64(&b, seccomp_arch_native());
	put_u64(&b, fail_unknown);
	put_u64(&b, p->default_action);
	put_errno(&b, &p->default_errno_ret);
	put_strv(&b, &p->architectures);
	put_u64(&b, p->syscalls.count);
	for (i = 0; i < p->syscalls.count; i++)
		put_rule(&b, &p->syscalls.items[i]);
	if (!buf_ok(&b))
		return -ENOMEM;
	sha256_hex_of(b.data, b.len, ret->name);
	return 0;
}

int filter_cache_decode(const void *data, size_t len, struct sock_filter **ret, size_t *ret_count)
{
	struct cache_header h;
	uint8_t digest[SHA256_BYTES];
	struct sock_filter *insns;
	size_t size;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, data, sizeof(h));
	if (memcmp(h.magic, CACHE_MAGIC, sizeof(h.magic)) != 0 || h.format != CACHE_FORMAT)
		return -EBADMSG;
	if (h.count == 0 || h.count > BPF_MAXINSNS)
		return -EBADMSG;
	size = h.count * sizeof(*insns);
	if (len != sizeof(h) + size)
		return -EBADMSG;
	sha256_digest_of((const char *)data + sizeof(h), size, digest);
	if (memcmp(digest, h.digest, sizeof(digest)) != 0)
		return -EBADMSG;
	insns = malloc(size);
	if (!insns)
		return -ENOMEM;
	memcpy(insns, (const char *)data + sizeof(h), size);
	*ret = insns;
	*ret_count = h.count;
	return 0;
}

/* Nobody else (but root) can have written it. */
static bool ours(const struct stat *st)
{
	return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool dir_trusted(int dir_fd)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	if (ours(&st))
		return true;
	log_debugf("seccomp cache: the folder is not ours alone: not used");
	return false;
}

int filter_cache_get(int dir_fd, const struct filter_key *key, struct sock_filter **ret,
		     size_t *ret_count)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *data = NULL;
	struct stat st;
	size_t len;
	int r;

	if (!dir_trusted(dir_fd))
		return -ENOENT;
	/* O_NONBLOCK: a FIFO put there must not hold us up. */
	fd = openat(dir_fd, key->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !ours(&st)) {
		log_debugf("seccomp cache: %s is not a file of ours alone: ignored", key->name);
		return -ENOENT;
	}
	r = fd_read_all(fd, CACHE_FILE_MAX, &data, &len);
	if (r == 0)
		r = filter_cache_decode(data, len, ret, ret_count);
	if (r < 0) {
		log_debugf("seccomp cache: %s is damaged: ignored", key->name);
		return -ENOENT;
	}
	return 0;
}

/* Counts the entries and finds the one that was written first. */
static int cache_scan(int dir_fd, size_t *ret_count, char *ret_oldest, size_t size)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct timespec best = { 0 };
	const struct dirent *e;
	size_t count = 0, seen = 0;
	struct stat st;
	int fd;

	/* Opened anew: a duplicate would share its position with the caller's. */
	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		cleanup_closep(&fd);
		return -ENOMEM;
	}
	ret_oldest[0] = '\0';
	while ((e = readdir(d)) != NULL && seen++ < CACHE_SCAN_MAX) {
		if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || strlen(e->d_name) >= size)
			continue;
		count++;
		if (ret_oldest[0] && (st.st_mtim.tv_sec > best.tv_sec ||
				      (st.st_mtim.tv_sec == best.tv_sec &&
				       st.st_mtim.tv_nsec >= best.tv_nsec)))
			continue;
		best = st.st_mtim;
		memcpy(ret_oldest, e->d_name, strlen(e->d_name) + 1);
	}
	*ret_count = count;
	return 0;
}

/* Makes room for one more; temporary files that a killed process left behind count and go too. */
static int cache_evict(int dir_fd)
{
	char oldest[NAME_MAX + 1];
	size_t count = 0;
	int r;

	for (;;) {
		r = cache_scan(dir_fd, &count, oldest, sizeof(oldest));
		if (r < 0)
			return r;
		if (count < FILTER_CACHE_ENTRIES_MAX)
			return 0;
		if (unlinkat(dir_fd, oldest, 0) < 0 && errno != ENOENT)
			return -errno;
	}
}

void filter_cache_put(int dir_fd, const struct filter_key *key, const struct sock_filter *insns,
		      size_t count)
{
	struct cache_header h = { .format = CACHE_FORMAT, .count = (uint32_t)count };
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t size = count * sizeof(*insns);
	struct error err = ERROR_NULL;
	int r;

	if (!dir_trusted(dir_fd))
		return;
	memcpy(h.magic, CACHE_MAGIC, sizeof(h.magic));
	sha256_digest_of(insns, size, h.digest);
	buf_add(&b, &h, sizeof(h));
	buf_add(&b, insns, size);
	if (!buf_ok(&b))
		return;
	r = cache_evict(dir_fd);
	if (r < 0) {
		log_debugf("seccomp cache: cannot make room: %s", error_errno_text(r));
		return;
	}
	/* Not made durable: after a crash the worst is a file that decoding refuses. */
	if (file_replace(dir_fd, key->name, b.data, b.len, 0600, 0, &err) < 0)
		log_debugf("seccomp cache: %s", err.text);
}
