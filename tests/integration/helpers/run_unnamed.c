/*
 * run-unnamed PROGRAM ARGUMENT...: executes a copy of PROGRAM that has no name, from a memfd; prints why it could
 * not. Before that it prints whether code in a memfd can be mapped, which compilers at run time need.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

int main(int argc, char **argv, char **envp)
{
	int from, fd;

	if (argc < 3)
		return 2;
	from = open(argv[1], O_RDONLY | O_CLOEXEC);
	fd = memfd_create("copy", 0);
	if (from < 0 || fd < 0) {
		printf("memfd: %s\n", strerrorname_np(errno));
		return 3;
	}
	while (sendfile(fd, from, NULL, 1 << 20) > 0)
		;
	printf("mapped: %s\n", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? "no" : "yes");
	(void)fflush(stdout);
	(void)fexecve(fd, argv + 2, envp);
	printf("not executed: %s\n", strerrorname_np(errno));
	return 4;
}
