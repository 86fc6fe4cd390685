/*
 * Other ways into the kernel than the native one: i386's gate, x32's numbers, numbers that no
 * table knows.
 */
#include "probe.h"

#include <sys/mman.h>

#define CALL(name, nr)                                                                             \
	static long name(void)                                                                     \
	{                                                                                          \
		return syscall(nr);                                                                \
	}

CALL(next_number, 470)
CALL(thousand, 1000)
CALL(hole, 400)
CALL(minus_one, -1)

#ifdef __x86_64__
CALL(x32_getpid, 0x40000000 | 39)
CALL(x32_execve, 0x40000000 | 520)

static long int80(long nr, long a, long b)
{
	long r = nr;

	__asm__ volatile("int $0x80" : "+a"(r) : "b"(a), "c"(b) : "memory", "r8", "r9", "r10", "r11");
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

/* socketcall(SYS_SOCKET, args): the family lies behind a pointer of 32 bits. */
static long socketcall(uint32_t family, uint32_t type)
{
	uint32_t *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (args == MAP_FAILED)
		return -1;
	args[0] = family;
	args[1] = type;
	args[2] = 0;
	return int80(102, 1, (long)args);
}

static long int80_getpid(void) { return int80(20, 0, 0); }
static long int80_alg(void) { return socketcall(38, 5); }
static long int80_vsock(void) { return socketcall(40, 1); }
static long int80_socket(void) { return int80(359, 38, 5); }
#endif

const struct probe probe_entries[] = {
	{ "number_470", next_number, PROBE_ALL(ENOSYS) },
	{ "number_1000", thousand, PROBE_ALL(ENOSYS) },
	{ "number_400", hole, PROBE_ALL(ENOSYS) },
	{ "number_minus_one", minus_one, PROBE_ALL(PROBE_REACHES) },
#ifdef __x86_64__
	{ "x32_getpid", x32_getpid, PROBE_ALL(ENOSYS) },
	{ "x32_execve", x32_execve, PROBE_ALL(ENOSYS) },
	{ "int80_getpid", int80_getpid, PROBE_ALL(PROBE_KILLED) },
	{ "AF_ALG_int80", int80_alg, PROBE_ALL(PROBE_KILLED) },
	{ "AF_VSOCK_int80", int80_vsock, PROBE_ALL(PROBE_KILLED) },
	{ "socket_int80", int80_socket, PROBE_ALL(PROBE_KILLED) },
#endif
	{ 0 },
};
