/*
 * Runs a fuzz target over files, where libFuzzer is not linked in: every input that
 * ever broke a parser stays a test. TAP: one line per file; a crash ends the program.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

#include "util/fd.h"
#include "util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	struct error err = ERROR_NULL;
	struct dirent *e;
	int n = 0, failed = 0;
	DIR *dir;

	dir = argc == 2 ? opendir(argv[1]) : NULL;
	if (!dir) {
		fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
		return 2;
	}
	while ((e = readdir(dir))) {
		_cleanup_free_ char *text = NULL;
		size_t len;

		if (e->d_name[0] == '.')
			continue;
		if (file_read_all(dirfd(dir), e->d_name, 1 << 24, &text, &len, &err) < 0) {
			printf("not ok %d - %s: %s\n", ++n, e->d_name, err.text);
			failed = 1;
			continue;
		}
		(void)LLVMFuzzerTestOneInput((const uint8_t *)text, len);
		printf("ok %d - %s\n", ++n, e->d_name);
	}
	(void)closedir(dir);
	printf("1..%d\n", n);
	return failed || n == 0;
}
