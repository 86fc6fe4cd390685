/*
 * Whole-file input and output, atomic replacement, close-on-exec sweeps and
 * descriptor passing, on real files and sockets.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"
#include "util/fd.h"

static char folder[] = "/tmp/agentrun-test-fd-XXXXXX";

static int count_entries(int dirfd)
{
	_cleanup_closedir_ DIR *d =
		fdopendir(openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	return n;
}

static int count_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_read(int dirfd)
{
	_cleanup_free_ char *text = NULL, *proc = NULL, *big = NULL, *none = NULL;
	struct error err = ERROR_NULL;
	_cleanup_close_ int fd = -EBADF;
	size_t len = 0;
	int r;

	fd = openat(dirfd, "in", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ok(fd_write_all(fd, "12345", 5) == 0, "write");
	is_int(file_read_all(dirfd, "in", 5, &text, &len, &err), 0, "a file of exactly the limit");
	ok(len == 5 && strcmp(text, "12345") == 0, "is read whole and terminated");
	is_int(file_read_all(dirfd, "in", 4, &none, &len, &err), -EFBIG,
	       "one byte more is refused");
	is_str(err.text, "read in: larger than the limit of 4 bytes", "with its limit");
	is_int(file_read_all(dirfd, "missing", 9, &none, &len, &err), -ENOENT, "a missing file");
	is_str(err.text, "open missing: no such file or directory", "is named");
	ok(file_read_all(dirfd, ".", 9, &none, &len, &err) == -EISDIR, "a folder is refused");
	ok(!none, "nothing was returned on failure");

	/* Files of size 0 that do have content. */
	r = file_read_all(AT_FDCWD, "/proc/self/status", 1 << 20, &proc, &len, &err);
	ok(r == 0 && strstr(proc, "Pid:") && strlen(proc) == len, "a file in /proc");
	r = file_read_all(AT_FDCWD, "/dev/zero", 100000, &none, &len, &err);
	ok(r == -EFBIG, "an endless file ends at the limit");

	big = malloc(300000);
	memset(big, 'b', 300000);
	ok(ftruncate(fd, 0) == 0 && pwrite(fd, big, 300000, 0) == 300000, "a larger file");
	free(take_ptr(text));
	is_int(file_read_all(dirfd, "in", 400000, &text, &len, &err), 0, "is read");
	ok(len == 300000 && memcmp(text, big, len) == 0, "and complete");
}

static void test_pipe_read(void)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int p[2], i;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		for (i = 0; i < 10; i++)
			if (fd_write_all(p[1], "0123456789abcdef", 16) < 0)
				_exit(1);
		_exit(0);
	}
	(void)close(p[1]);
	is_int(fd_read_all(p[0], 1000, &text, &len), 0, "a pipe is read to its end");
	is_int(len, 160, "in pieces");
	(void)close(p[0]);
	(void)waitpid(pid, NULL, 0);
}

static void test_write_once(int dirfd)
{
	struct stat st;

	is_int(file_write_once(dirfd, "new", "x", 1), -ENOENT, "write_once does not create");
	ok(symlinkat("in", dirfd, "link") == 0, "a link");
	is_int(file_write_once(dirfd, "link", "x", 1), -ELOOP, "write_once follows no link");
	is_int(file_write_once(dirfd, "in", "x", 1), 0, "write_once writes");
	ok(fstatat(dirfd, "in", &st, 0) == 0 && st.st_size == 300000, "without truncating");
	is_int(file_write_once(AT_FDCWD, "/dev/full", "x", 1), -ENOSPC, "the error is kept");
}

static void test_replace(int dirfd)
{
	_cleanup_free_ char *text = NULL, *again = NULL;
	struct error err = ERROR_NULL;
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = RLIM_INFINITY }, old;
	struct stat st, before;
	char path[128];
	int entries;

	(void)umask(0077);
	is_int(file_replace(dirfd, "out", "one", 3, 0644, 1, &err), 0, "replace makes the file");
	ok(fstatat(dirfd, "out", &before, 0) == 0 && (before.st_mode & 07777) == 0644,
	   "with the exact mode, whatever the umask");
	is_int(file_replace(dirfd, "out", "two!", 4, 0600, 0, &err), 0, "replace replaces");
	ok(fstatat(dirfd, "out", &st, 0) == 0 && st.st_ino != before.st_ino, "by another file");
	is_int(file_read_all(dirfd, "out", 100, &text, NULL, &err), 0, "which is read back");
	is_str(text, "two!", "with the new content");
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	is_int(file_replace(AT_FDCWD, path, "three", 5, 0600, 0, &err), 0, "replace takes a path");

	entries = count_entries(dirfd);
	ok(mkdirat(dirfd, "dir", 0700) == 0, "a folder in the way");
	is_int(file_replace(dirfd, "dir", "x", 1, 0600, 0, &err), -EISDIR, "is an error");
	is_str(err.text, "write dir: is a directory", "that names the file");
	is_int(count_entries(dirfd), entries + 1, "nothing is left behind");

	/* The disk is full, as far as this process can tell. */
	(void)getrlimit(RLIMIT_FSIZE, &old);
	(void)signal(SIGXFSZ, SIG_IGN);
	limit.rlim_max = old.rlim_max;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	{
		_cleanup_free_ char *big = calloc(1, 10000);

		is_int(file_replace(dirfd, "out", big, 10000, 0600, 1, &err), -EFBIG,
		       "a failed write");
	}
	(void)setrlimit(RLIMIT_FSIZE, &old);
	is_int(count_entries(dirfd), entries + 1, "leaves nothing behind");
	is_int(file_read_all(dirfd, "out", 100, &again, NULL, &err), 0, "and the old file");
	is_str(again, "three", "as it was");
	is_int(file_replace(dirfd, "no/such", "x", 1, 0600, 0, &err), -ENOENT, "a missing folder");
}

/* In a child: the descriptors above 2 that are kept are open, all others are not. */
static bool only_these_stay(const int *keep, size_t n, unsigned first)
{
	int status = 0, fd, i, copies[6];
	pid_t pid = fork();

	if (pid == 0) {
		for (i = 0; i < 6; i++) {
			copies[i] = 60 + i;
			if (dup2(0, copies[i]) < 0)
				_exit(2);
		}
		if (fd_close_others(first, keep, n) < 0)
			_exit(3);
		for (fd = (int)first; fd < 80; fd++) {
			bool wanted = false;
			size_t k;

			for (k = 0; k < n; k++)
				wanted |= keep[k] == fd;
			if (wanted != (fcntl(fd, F_GETFD) >= 0))
				_exit(4);
		}
		_exit(first > 60 && fcntl(60, F_GETFD) < 0 ? 5 : 0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void test_close_others(void)
{
	const int keep[] = { 64, -EBADF, 61, 65, 64 };

	ok(only_these_stay(NULL, 0, 3), "close_others keeps none");
	ok(only_these_stay(keep, 5, 3), "keeps what was named, in any order and twice");
	ok(only_these_stay(keep, 2, 62), "does not look below its first");
	ok(only_these_stay((const int[]){ 62 }, 1, 62), "the first itself may stay");
}

static void test_cloexec(void)
{
	int fd = open("/dev/null", O_RDONLY);
	int fd2 = fcntl(fd, F_DUPFD, fd + 1);
	int status;
	pid_t pid;

	ok(!(fcntl(fd, F_GETFD) & FD_CLOEXEC), "open without close-on-exec");
	is_int(fd_cloexec_from((unsigned)fd2), 0, "sweep from the second");
	ok(!(fcntl(fd, F_GETFD) & FD_CLOEXEC), "the first is untouched");
	ok(fcntl(fd2, F_GETFD) & FD_CLOEXEC, "the second is marked");
	ok(fd_set_cloexec(fd, 1) == 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC), "set on");
	ok(fd_set_cloexec(fd, 0) == 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC), "set off");
	is_int(fd_set_cloexec(250, 1), -EBADF, "a bad descriptor");
	pid = fork();
	if (pid == 0) {
		if (fd_close_from((unsigned)fd2) < 0 || fcntl(fd, F_GETFD) < 0)
			_exit(1);
		_exit(fcntl(fd2, F_GETFD) < 0 ? 0 : 2);
	}
	ok(waitpid(pid, &status, 0) == pid && status == 0, "close_from closes from there on");
	(void)close(fd);
	(void)close(fd2);
}

static void test_passing(int type)
{
	int s[2], fds[FD_SEND_MAX], got[FD_SEND_MAX], i, before;
	char data[8] = "";
	size_t n = 99;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, s) < 0)
		return;
	before = count_fds();
	for (i = 0; i < FD_SEND_MAX; i++)
		fds[i] = s[i % 2];

	is_int(fd_send(s[0], "abc", 3, fds, 2), 0, "send two descriptors");
	is_int(fd_recv(s[1], data, sizeof(data), &n, got, 3), 0, "receive up to three");
	ok(n == 3 && memcmp(data, "abc", 3) == 0, "the bytes came");
	ok(got[0] >= 0 && got[1] >= 0 && got[2] == -EBADF, "the descriptors came");
	ok(fcntl(got[0], F_GETFD) & FD_CLOEXEC, "close-on-exec");
	(void)close(got[0]);
	(void)close(got[1]);

	is_int(fd_send(s[0], "x", 1, fds, FD_SEND_MAX), 0, "send the most");
	is_int(fd_recv(s[1], data, sizeof(data), &n, got, 1), -EPROTO,
	       "more than asked for is refused");
	ok(got[0] == -EBADF && count_fds() == before, "and all of them are closed");

	is_int(fd_send(s[0], "x", 1, fds, 1), 0, "send one");
	is_int(fd_recv(s[1], data, sizeof(data), &n, NULL, 0), -EPROTO, "where none is wanted");
	is_int(count_fds(), before, "it is closed");

	is_int(fd_send(s[0], "x", 1, NULL, 0), 0, "send none");
	ok(fd_recv(s[1], data, sizeof(data), &n, got, 1) == 0 && n == 1 && got[0] == -EBADF,
	   "get none");
	if (type == SOCK_SEQPACKET) {
		is_int(fd_send(s[0], "0123456789", 10, fds, 1), 0, "a long message");
		is_int(fd_recv(s[1], data, sizeof(data), &n, got, 1), -EPROTO,
		       "is refused, not cut");
		is_int(count_fds(), before, "and its descriptor closed");
	}

	(void)close(s[0]);
	n = 99;
	ok(fd_recv(s[1], data, sizeof(data), &n, got, 1) == 0 && n == 0, "the peer is gone");
	is_int(fd_send(s[1], "x", 1, NULL, 0), -EPIPE,
	       "sending to nobody is an error, not a signal");
	(void)close(s[1]);
}

int main(void)
{
	_cleanup_close_ int dirfd = -EBADF;

	if (!mkdtemp(folder))
		return TAP_SKIP_ALL("no temporary folder");
	dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	TAP_BEGIN();
	test_read(dirfd);
	test_pipe_read();
	test_write_once(dirfd);
	test_replace(dirfd);
	test_cloexec();
	test_close_others();
	test_passing(SOCK_STREAM);
	test_passing(SOCK_SEQPACKET);
	(void)unlinkat(dirfd, "in", 0);
	(void)unlinkat(dirfd, "link", 0);
	(void)unlinkat(dirfd, "out", 0);
	(void)unlinkat(dirfd, "dir", AT_REMOVEDIR);
	ok(rmdir(folder) == 0, "the folder is empty at the end");
	return TAP_END();
}
