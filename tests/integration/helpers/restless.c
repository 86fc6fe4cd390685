/*
 * restless FILES: writes a growing number into FILES files of the current folder in turn, into the even ones through a
 * shared mapping, the odd ones by pwrite(2). The file "ready" says that all are there.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 4096

int main(int argc, char **argv)
{
	int files = argc > 1 ? atoi(argv[1]) : 8, i;
	volatile uint64_t **maps = calloc((size_t)files, sizeof(*maps));
	int *fds = calloc((size_t)files, sizeof(*fds));
	uint64_t n;
	char name[32];

	if (!maps || !fds)
		return 1;
	for (i = 0; i < files; i++) {
		(void)snprintf(name, sizeof(name), "r%d", i);
		fds[i] = open(name, O_RDWR | O_CREAT, 0644);
		if (fds[i] < 0 || ftruncate(fds[i], SIZE) < 0)
			return 1;
		maps[i] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (maps[i] == MAP_FAILED)
			return 1;
	}
	if (open("ready", O_CREAT | O_WRONLY, 0644) < 0)
		return 1;
	for (n = 1;; n++) {
		i = (int)(n % (unsigned)files);
		if (i % 2 == 0)
			*maps[i] = n;
		else if (pwrite(fds[i], &n, sizeof(n), 0) < 0)
			return 1;
		/* So that each rests long enough to be copied ahead, and changes then. */
		usleep(50000);
	}
}
