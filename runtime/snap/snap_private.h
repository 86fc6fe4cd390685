/*
 * What the files of runtime/snap share among themselves.
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "snap/snap.h"
#include "util/cleanup.h"

#define SNAP_RECORD_FILE "session.json"
#define SNAP_IMAGE_FILE	 "layer.img"
/* A template is an image without content; see snap_image.c. */
#define SNAP_TEMPLATE_PREFIX ".template-"

/* snap_place.c */

/*
 * SNAP_DIR, made when missing: root's alone, and no link on the way. Failing that nothing below it
 * could be trusted.
 */
int snap_top_open(bool create, int *ret_fd, struct error *err);
/*
 * Keeps other sessions' commits and undos away from the originals of this one, from the check for conflicts to the last change;
 * waits for them. Closing *ret_fd lets them go on.
 */
int snap_originals_lock(const struct snap *s, int *ret_fd, struct error *err);
/* The session's folder by its path; create also makes the folder of the root. SNAP_E_NOT_FOUND. */
int snap_dir_open(const char *path, bool create, int *ret_fd, struct error *err);
/* Removes a file or folder below dirfd with all it holds; follows nothing. 0 when missing, or negative errno. */
int snap_tree_remove(int dirfd, const char *name);
/* Everything in the session's folder, the record last. */
int snap_dir_clear(int dir_fd);

/* snap_record.c */

/* Records and journals are JSON, which has no other bytes: -EILSEQ for a text that is not UTF-8. */
int snap_check_text(const char *what, const char *text, struct error *err);
/* durable: on the disk on return. A new session need not be: what it would lose has not been written yet. */
int snap_record_write(int dir_fd, const struct snap_record *rec, bool durable, struct error *err);
/* SNAP_E_NOT_FOUND. */
int snap_record_read(int dir_fd, struct snap_record **ret, struct error *err);
/* Id of this boot: 36 characters and the NUL. */
int snap_boot_id(char ret[37], struct error *err);

/* snap_image.c */

/* An empty image of these caps as dirfd/name; top_fd: snap_top_open(). lasting: it is to survive a crash of the host. */
int snap_image_make(int top_fd, uint64_t size, uint64_t inodes, bool lasting, int dirfd, const char *name, struct error *err);
/* A copy with its holes, shared blocks where the filesystem can; dirfd/name must not exist. */
int snap_image_copy(int from_fd, int dirfd, const char *name, struct error *err);
/* Caps as an image can have them. */
int snap_image_caps(uint64_t *size, uint64_t *inodes, struct error *err);

/* snap_loop.c */

/*
 * The filesystem in the image, detached; shared with others who have it mounted. The device goes
 * with the last mount.
 */
enum snap_mount_flags {
	SNAP_MOUNT_FRESH = 1u << 0,    /* the image was just made, nobody else can have it */
	SNAP_MOUNT_READONLY = 1u << 1,
	/*
	 * Nothing in it is worth anything after a crash of the host: nothing waits for the disk. Counts for
	 * whoever mounts it first.
	 */
	SNAP_MOUNT_VOLATILE = 1u << 2,
};
int snap_image_mount(int image_fd, unsigned flags, int *ret_mount_fd, struct error *err);

/* snap_overlay.c */

/*
 * The overlays of all layers; mount_fd: the image, detached. Without attach they are made of detached
 * mounts where the kernel can; mount_fd is used up otherwise.
 */
int snap_overlays(int mount_fd, struct snap_over *overs, size_t n, bool attach, struct error *err);

/* snap_make.c: the upper and work folder of a layer, with the top's attributes of the original. */
int snap_upper_make(int mount_fd, size_t index, const struct snap_over *over, const struct snap_layer *layer, struct error *err);

/* snap_view.c: when the object was made, in ns; 0 = unknown. An inode number alone may be used again. */
uint64_t snap_born(int fd);

/* snap_take.c: the image of a snapshot; -ENOENT. */
int snap_taken_image(const struct snap *s, const char *name, int *ret_fd, struct error *err);
