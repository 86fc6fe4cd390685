/*
 * The option table: what each kind of word does to a mount operation.
 */
#include <linux/mount.h>
#include <sys/mount.h>

#include "os/mount.h"
#include "tap.h"
#include "util/cleanup.h"

static struct arena arena;

static int parse(struct mount_op *op, struct error *err, const char *text)
{
	char copy[512], *words[32], *save = NULL, *w;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save))
		words[n++] = w;
	*op = MOUNT_OP_NULL;
	return mount_options_parse(&arena, words, n, op, err);
}

static void test_flags(void)
{
	struct mount_op op;
	struct error err = ERROR_NULL;

	is_int(parse(&op, &err, "nosuid,noexec,nodev,ro"), 0, "common flags parse");
	is_int(op.attr_set,
	       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY,
	       "common flags are set");
	is_int(op.attr_clr, 0, "nothing is cleared");
	is_int(op.sb_flags, MS_RDONLY, "ro reaches the superblock flags too");
	is_int(op.kind, MOUNT_FS, "kind stays");
	ok(op.data == NULL, "no data");

	parse(&op, &err, "ro,rw,nodev,dev");
	is_int(op.attr_set, 0, "the last word wins: not set");
	is_int(op.attr_clr, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, "the last word wins: cleared");
	is_int(op.sb_flags, 0, "rw takes the superblock flag away");

	parse(&op, &err, "sync,dirsync,lazytime,mand,iversion,silent");
	is_int(op.sb_flags,
	       MS_SYNCHRONOUS | MS_DIRSYNC | MS_LAZYTIME | MS_MANDLOCK | MS_I_VERSION | MS_SILENT,
	       "superblock flags");
	parse(&op, &err,
	      "sync,async,lazytime,nolazytime,mand,nomand,iversion,noiversion,silent,loud");
	is_int(op.sb_flags, 0, "superblock flags taken back");
	parse(&op, &err, "nosymfollow,nodiratime");
	is_int(op.attr_set, MOUNT_ATTR_NOSYMFOLLOW | MOUNT_ATTR_NODIRATIME,
	       "nosymfollow, nodiratime");
}

static void test_idmap(void)
{
	static const char *const wrong[] = { "idmap=",		     "idmap=uids=0-1-2",
					     "idmap=gids=0-1-2",     "idmap=uids=0-1;gids=0-1-2",
					     "idmap=uids=0-1-0;gids=0-1-2", "idmap=uids=@0-1-2;gids=0-1-2",
					     "idmap=uids=0-1-2;uids=0-1-2", "idmap=uids=0-1-2-3;gids=0-1-2",
					     "idmap=uids=-1-2;gids=0-1-2",  "ridmap=x" };
	struct mount_op op;
	struct error err = ERROR_NULL;
	size_t i;

	is_int(parse(&op, &err, "bind,idmap=uids=0-1000-1#5-2000-10;gids=1-2-3,ro"), 0, "maps in the option");
	ok(op.idmap && !op.idmap_recursive, "idmap");
	is_int((long long)op.uid_maps.count, 2, "two lines of users");
	ok(op.uid_maps.items[1].container_id == 5 && op.uid_maps.items[1].host_id == 2000 &&
		   op.uid_maps.items[1].size == 10,
	   "the second line of users");
	ok(op.gid_maps.count == 1 && op.gid_maps.items[0].container_id == 1 && op.gid_maps.items[0].host_id == 2 &&
		   op.gid_maps.items[0].size == 3,
	   "the line of groups");
	ok(op.attr_set == MOUNT_ATTR_RDONLY && !op.data, "the words around it count");
	is_int(parse(&op, &err, "ridmap=uids=0-1-1;gids=0-1-1"), 0, "for the whole tree");
	ok(op.idmap && op.idmap_recursive, "ridmap");
	for (i = 0; i < ELEMENTSOF(wrong); i++)
		is_int(parse(&op, &err, wrong[i]), -EINVAL, wrong[i]);
	is_str(err.text, "mount option \"ridmap=x\": write idmap=uids=FROM-TO-SIZE;gids=FROM-TO-SIZE",
	       "the error says how to write it");
}

static void test_atime(void)
{
	struct mount_op op;
	struct error err = ERROR_NULL;

	parse(&op, &err, "noatime,strictatime");
	is_int(op.attr_set, MOUNT_ATTR_STRICTATIME, "atime modes exclude each other");
	is_int(op.attr_clr, MOUNT_ATTR__ATIME, "an asked atime mode clears the whole field");
	parse(&op, &err, "relatime");
	is_int(op.attr_set, 0, "relatime is the value 0");
	is_int(op.attr_clr, MOUNT_ATTR__ATIME, "relatime is asked");
	parse(&op, &err, "noatime,atime");
	is_int(op.attr_set | op.attr_clr, 0, "atime undoes noatime");
	parse(&op, &err, "strictatime,atime");
	is_int(op.attr_set, MOUNT_ATTR_STRICTATIME, "atime does not undo strictatime");
	parse(&op, &err, "atime");
	is_int(op.attr_set | op.attr_clr, 0, "atime alone asks nothing, as with mount(8)");
	parse(&op, &err, "ratime");
	is_int(op.rec_clr, MOUNT_ATTR__ATIME, "ratime chooses the default mode");
	is_int(op.rec_set, 0, "ratime sets no mode");
	parse(&op, &err, "rstrictatime");
	is_int(op.rec_set, MOUNT_ATTR_STRICTATIME, "rstrictatime");
	is_int(op.rec_clr, MOUNT_ATTR__ATIME, "rstrictatime clears the field");
	is_int(op.attr_set | op.attr_clr, 0, "recursive words leave the plain flags alone");
}

static void test_kinds(void)
{
	struct mount_op op;
	struct error err = ERROR_NULL;

	parse(&op, &err, "rbind,rprivate,rw");
	is_int(op.kind, MOUNT_BIND, "rbind");
	ok(op.recursive, "rbind is recursive");
	is_int(op.propagation[0], MS_PRIVATE | MS_REC, "rprivate");
	is_int(op.propagation[1], 0, "one propagation");
	parse(&op, &err, "remount,bind,ro");
	is_int(op.kind, MOUNT_REMOUNT, "remount wins over bind");
	parse(&op, &err, "shared,rslave,shared");
	is_int(op.propagation[0], MS_SHARED, "propagation in order, first");
	is_int(op.propagation[1], MS_SLAVE | MS_REC, "propagation in order, second");
	is_int(op.propagation[2], 0, "repeated one is not kept twice");
	is_int(parse(&op, &err, "shared,slave,private,unbindable"), -EINVAL,
	       "too many propagations");
	ok(strstr(err.text, "\"unbindable\"") != NULL, "the error names the word: %s", err.text);
	parse(&op, &err, "idmap");
	ok(op.idmap && !op.idmap_recursive, "idmap");
	parse(&op, &err, "ridmap,tmpcopyup,copy-symlink,src-nofollow,dest-nofollow");
	ok(op.idmap && op.idmap_recursive, "ridmap");
	ok(op.tmpcopyup && op.copy_symlink && op.src_nofollow && op.dest_nofollow, "extensions");
	ok(op.data == NULL, "extensions are no data");
}

static void test_data(void)
{
	struct mount_op op;
	struct error err = ERROR_NULL;

	parse(&op, &err, "nosuid,newinstance,ptmxmode=0666,defaults,mode=0620,gid=5");
	is_str(op.data, "newinstance,ptmxmode=0666,mode=0620,gid=5",
	       "unknown words are data, in order");
	parse(&op, &err, "RO");
	is_str(op.data, "RO", "words are case-sensitive");
}

static void test_names(void)
{
	static const char *const required[] = {
		"async",	"atime",	 "bind",
		"defaults",	"dev",		 "diratime",
		"dirsync",	"exec",		 "iversion",
		"lazytime",	"loud",		 "mand",
		"noatime",	"nodev",	 "nodiratime",
		"noexec",	"noiversion",	 "nolazytime",
		"nomand",	"norelatime",	 "nostrictatime",
		"nosuid",	"nosymfollow",	 "private",
		"rbind",	"relatime",	 "remount",
		"ro",		"rprivate",	 "rshared",
		"rslave",	"runbindable",	 "rw",
		"shared",	"silent",	 "slave",
		"strictatime",	"suid",		 "symfollow",
		"sync",		"unbindable",	 "rro",
		"rrw",		"rnosuid",	 "rsuid",
		"rnodev",	"rdev",		 "rnoexec",
		"rexec",	"rnoatime",	 "ratime",
		"rnodiratime",	"rdiratime",	 "rrelatime",
		"rnorelatime",	"rstrictatime",	 "rnostrictatime",
		"rnosymfollow", "rsymfollow",	 "idmap",
		"ridmap",	"tmpcopyup",	 "copy-symlink",
		"src-nofollow", "dest-nofollow",
	};
	size_t i, k, missing = 0, unsorted = 0, n;
	const char *name;

	for (n = 0; mount_option_name(n); n++)
		if (n && strcmp(mount_option_name(n - 1), mount_option_name(n)) >= 0)
			unsorted++;
	for (i = 0; i < ELEMENTSOF(required); i++) {
		for (k = 0; (name = mount_option_name(k)) && strcmp(name, required[i]) != 0; k++)
			;
		if (!name) {
			printf("# missing: %s\n", required[i]);
			missing++;
		}
	}
	is_int(missing, 0, "every option of the specification is known");
	is_int(n, ELEMENTSOF(required), "and no other");
	is_int(unsorted, 0, "the table is sorted, without duplicates");
}

int main(void)
{
	TAP_BEGIN();
	test_flags();
	test_idmap();
	test_atime();
	test_kinds();
	test_data();
	test_names();
	arena_done(&arena);
	return TAP_END();
}
