/*
 * What both tiers share in user space: the table of programs and how a set of them is put on
 * a cgroup, taken away and found there. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "egress/egress_abi.h"
#include "util/error.h"

enum { EGRESS_PROGRAMS = 12 };
#define EGRESS_PROGRAM_NAME_MAX 16

struct egress_program {
	const char *name; /* of the pin; the program's own has the prefix of its set before it */
	unsigned type; /* enum bpf_attach_type */
};
/* In the order of attaching: the floor first. */
extern const struct egress_program egress_programs[EGRESS_PROGRAMS];

/* The id that programs know the cgroup by. */
int egress_cgroup_id(int cgroup_fd, uint64_t *ret, struct error *err);
/* On failure none is attached. */
int egress_set_attach(int cgroup_fd, const int progs[EGRESS_PROGRAMS], struct error *err);
/* Detaches what of the set is attached right here. */
int egress_set_detach(int cgroup_fd, const char *prefix, struct error *err);
/*
 * How many of the set's programs are attached. With ret_prog the descriptor of one of them is
 * returned, too (-EBADF when there is none).
 */
int egress_set_find(int cgroup_fd, const char *prefix, size_t *ret_count, int *ret_prog, struct error *err);
/* A program of the private set; -ENOENT without one. */
int egress_private_find(int cgroup_fd, int *ret_prog, struct error *err);
/* A map that the program uses, by its name. -ENOENT. */
int egress_map_of(int prog, const char *name, int *ret, struct error *err);

/* The folder of the pins of this build. */
extern const char egress_pin_dir[];
/* Below the pin folder. -ENOENT when the set is not loaded. */
int egress_pin_open(const char *name);
