/*
 * The cache of compiled programs: hits, what makes a key, files that must not be
 * believed, the bound on entries.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "filter/filter_private.h"
#include "filter_profile.h"
#include "tap.h"
#include "util/sha256.h"

static char dir_path[] = "/tmp/agentrun-filter-XXXXXX";

static bool same(const struct filter *a, const struct filter *b)
{
	return a->count == b->count && a->count > 0 && a->flags == b->flags &&
	       memcmp(a->insns, b->insns, a->count * sizeof(*a->insns)) == 0;
}

static void profile_small(struct profile *p)
{
	profile_init(p, SPEC_SECCOMP_ERRNO, -1);
	profile_call(p, "openat", SPEC_SECCOMP_ALLOW, -1);
	profile_call(p, "mkdir", SPEC_SECCOMP_ERRNO, 5);
}

static int compile(const struct profile *p, int dir, struct filter *f)
{
	struct error err = ERROR_NULL;

	return filter_compile(&p->s, false, dir, f, &err);
}

static size_t entries(int dir)
{
	_cleanup_closedir_ DIR *d = NULL;
	const struct dirent *e;
	size_t n = 0;

	d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (d && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	return n;
}

static void empty(int dir)
{
	_cleanup_closedir_ DIR *d = NULL;
	const struct dirent *e;

	d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && unlinkat(dir, e->d_name, 0) < 0)
			unlinkat(dir, e->d_name, AT_REMOVEDIR);
}

static void file_write(int dir, const char *name, const void *data, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = -EBADF;

	unlinkat(dir, name, 0);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || fchmod(fd, mode) < 0)
		printf("# cannot write %s\n", name);
}

static size_t file_read(int dir, const char *name, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, size);

	return n < 0 ? 0 : (size_t)n;
}

static void test_hit(int dir)
{
	struct profile p;
	struct filter plain = FILTER_NULL, cold = FILTER_NULL, warm = FILTER_NULL;
	struct filter_key key;
	struct stat st;

	profile_small(&p);
	is_int(compile(&p, -EBADF, &plain), 0, "without a cache");
	is_int(compile(&p, dir, &cold), 0, "first time");
	is_int(entries(dir), 1, "one entry was stored");
	is_int(filter_cache_key(&p.s, false, &key), 0, "its name");
	is_int(fstatat(dir, key.name, &st, AT_SYMLINK_NOFOLLOW), 0, "is the key");
	is_int(st.st_mode, S_IFREG | 0600, "readable by us alone");
	is_int(compile(&p, dir, &warm), 0, "second time");
	is_int(entries(dir), 1, "no further entry");
	ok(same(&plain, &cold) && same(&plain, &warm), "all three programs are equal");
	filter_done(&plain);
	filter_done(&cold);
	filter_done(&warm);

	/* Proof that a hit is a hit: an entry that says something else is what comes out. */
	filter_cache_put(dir, &key, (struct sock_filter[]){ { 6, 0, 0, 0x7fff0000 } }, 1);
	is_int(compile(&p, dir, &warm), 0, "planted by ourselves");
	is_int(warm.count, 1, "is what we get");
	filter_done(&warm);
	empty(dir);
}

static void test_key(void)
{
	static const struct spec_seccomp_arg arg[] = { { .index = 0, .op = SPEC_SECCOMP_EQ } };
	static const char *const joined[] = { "openatmkdir" };
	static const char *const two[] = { "openat", "mkdir" };
	struct filter_key base, k[9];
	struct profile p;
	size_t i, j, n = 0, twins = 0;

	profile_small(&p);
	(void)filter_cache_key(&p.s, false, &base);
	(void)filter_cache_key(&p.s, true, &k[n++]);
	p.s.default_errno_ret = (struct opt_u32){ true, 1 };
	(void)filter_cache_key(&p.s, false, &k[n++]);
	profile_small(&p);
	p.s.default_action = SPEC_SECCOMP_KILL_PROCESS;
	(void)filter_cache_key(&p.s, false, &k[n++]);
	profile_small(&p);
	profile_arch(&p, "SCMP_ARCH_X86");
	(void)filter_cache_key(&p.s, false, &k[n++]);
	profile_small(&p);
	profile_args(&p.rules[0], arg, 1);
	(void)filter_cache_key(&p.s, false, &k[n++]);
	profile_small(&p);
	p.rules[1].errno_ret.value = 6;
	(void)filter_cache_key(&p.s, false, &k[n++]);
	profile_init(&p, SPEC_SECCOMP_ERRNO, -1);
	profile_rule(&p, joined, 1, SPEC_SECCOMP_ALLOW, -1);
	(void)filter_cache_key(&p.s, false, &k[n++]);
	profile_init(&p, SPEC_SECCOMP_ERRNO, -1);
	profile_rule(&p, two, 2, SPEC_SECCOMP_ALLOW, -1);
	(void)filter_cache_key(&p.s, false, &k[n++]);
	k[n++] = base;
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			twins += strcmp(k[i].name, k[j].name) == 0;
	is_int(twins, 0, "every change of the profile changes the key");

	profile_small(&p);
	profile_flag(&p, "SECCOMP_FILTER_FLAG_LOG");
	p.s.listener_path = p.archs[0];
	(void)filter_cache_key(&p.s, false, &k[0]);
	is_str(k[0].name, base.name, "flags are not part of the program");
}

/* After each of these, compiling must give the right program and heal the entry. */
static void test_poison(int dir)
{
	struct filter want = FILTER_NULL, got = FILTER_NULL;
	static char good[70000], bad[70000];
	struct filter_key key;
	struct profile p;
	size_t len, i;
	static const char *const what[] = { "truncated header", "truncated program",   "empty",
					    "garbage header",	"changed instruction", "too long",
					    "group can write",	"others can write" };

	profile_small(&p);
	(void)filter_cache_key(&p.s, false, &key);
	is_int(compile(&p, dir, &want), 0, "the right program");
	len = file_read(dir, key.name, good, sizeof(good) - 1);
	ok(len > 48, "the entry has %zu bytes", len);

	for (i = 0; i < ELEMENTSOF(what); i++) {
		size_t n = i == 0 ? 20 : i == 1 ? len - 8 : i == 2 ? 0 : i == 5 ? len + 1 : len;
		mode_t mode = i == 6 ? 0620 : i == 7 ? 0602 : 0600;

		memcpy(bad, good, len);
		/* A permissive program that a hit would hand out; of valid form where the mode is
		 * the flaw. */
		if (i == 3)
			bad[0] ^= 1;
		if (i == 4)
			bad[len - 1] ^= 0x7f;
		if (i >= 6) {
			filter_cache_put(dir, &key,
					 (struct sock_filter[]){ { 6, 0, 0, 0x7fff0000 } }, 1);
			n = file_read(dir, key.name, bad, sizeof(bad));
		}
		file_write(dir, key.name, bad, n, mode);
		is_int(compile(&p, dir, &got), 0, what[i]);
		ok(same(&want, &got), "%s: compiled anew", what[i]);
		filter_done(&got);
		is_int(file_read(dir, key.name, bad, sizeof(bad)), len, "the entry is healed");
		ok(memcmp(bad, good, len) == 0, "%s: to the right bytes", what[i]);
	}
	filter_done(&want);
	empty(dir);
}

static void test_not_files(int dir)
{
	struct filter want = FILTER_NULL, got = FILTER_NULL;
	struct filter_key key;
	struct profile p;

	profile_small(&p);
	(void)filter_cache_key(&p.s, false, &key);
	is_int(compile(&p, -EBADF, &want), 0, "the right program");
	is_int(mkfifoat(dir, key.name, 0600), 0, "a FIFO under the name");
	is_int(compile(&p, dir, &got), 0, "does not hold us up");
	ok(same(&want, &got), "and gives nothing");
	filter_done(&got);
	empty(dir);
	is_int(symlinkat("/dev/zero", dir, key.name), 0, "a symlink under the name");
	is_int(compile(&p, dir, &got), 0, "is not followed");
	ok(same(&want, &got), "and gives nothing");
	filter_done(&got);
	empty(dir);
	is_int(mkdirat(dir, key.name, 0700), 0, "a folder under the name");
	is_int(compile(&p, dir, &got), 0, "is no reason to fail");
	ok(same(&want, &got), "the program is right");
	filter_done(&got);
	empty(dir);

	if (geteuid() == 0) {
		is_int(compile(&p, dir, &got), 0, "stored");
		filter_done(&got);
		filter_cache_put(dir, &key, (struct sock_filter[]){ { 6, 0, 0, 0x7fff0000 } }, 1);
		is_int(fchownat(dir, key.name, 4242, 0, 0), 0, "an entry of another user");
		is_int(compile(&p, dir, &got), 0, "is ignored");
		ok(same(&want, &got), "the program is right");
		filter_done(&got);
		empty(dir);
	}
	is_int(fchmod(dir, 0770), 0, "a folder that the group may write");
	is_int(compile(&p, dir, &got), 0, "is not used");
	is_int(entries(dir), 0, "nothing was stored");
	filter_done(&got);
	is_int(fchmod(dir, 0700), 0, "back");
	filter_done(&want);
}

static void test_bound(int dir)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct filter f = FILTER_NULL;
	struct filter_key key;
	struct profile p;
	unsigned i;

	profile_small(&p);
	for (i = 0; i < FILTER_CACHE_ENTRIES_MAX; i++) {
		p.rules[1].errno_ret.value = 100 + i;
		if (compile(&p, dir, &f) == 0)
			filter_done(&f);
	}
	is_int(entries(dir), FILTER_CACHE_ENTRIES_MAX, "full");
	p.rules[1].errno_ret.value = 117;
	(void)filter_cache_key(&p.s, false, &key);
	is_int(utimensat(dir, key.name, old, 0), 0, "the seventeenth becomes the oldest");
	p.rules[1].errno_ret.value = 99;
	is_int(compile(&p, dir, &f), 0, "one more");
	filter_done(&f);
	is_int(entries(dir), FILTER_CACHE_ENTRIES_MAX, "still full");
	is_int(faccessat(dir, key.name, F_OK, 0), -1, "the oldest is gone");
	(void)filter_cache_key(&p.s, false, &key);
	is_int(faccessat(dir, key.name, F_OK, 0), 0, "the new one is there");
	empty(dir);
}

static void test_sha256(void)
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex_of("abc", 3, hex);
	is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	       "SHA-256 of FIPS 180's example");
}

int main(void)
{
	_cleanup_close_ int dir = -EBADF;

	TAP_BEGIN();
	if (!mkdtemp(dir_path))
		return TAP_SKIP_ALL("no temporary folder");
	dir = open(dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_sha256();
	test_hit(dir);
	test_key();
	test_poison(dir);
	test_not_files(dir);
	test_bound(dir);
	(void)rmdir(dir_path);
	return TAP_END();
}
