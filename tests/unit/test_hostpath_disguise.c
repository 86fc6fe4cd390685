/*
 * Every disguise that a control socket or a secret folder can wear, on a real file tree:
 * the facts must see through it and the policy must refuse. Needs root.
 */
#include "hostpath_world.h"

static void test_spellings(void)
{
	char path[PATH_MAX];
	int fd;

	put_dir("links");
	must(symlink("/run/docker.sock", in_scratch("links/sock")));
	must(symlink("sock", in_scratch("links/sock2")));
	must(symlink("/run", in_scratch("links/run")));
	must(symlink("../../..", in_scratch("links/up")));
	refused("/run/docker.sock", "the socket");
	refused("/var/run/docker.sock", "the socket by /var/run");
	refused("/run/../run/./docker.sock", "dots");
	refused("//run///docker.sock", "slashes");
	refused(in_scratch("links/sock"), "a link");
	refused(in_scratch("links/sock2"), "a link to a link");
	refused(in_scratch("links/run"), "a link to the folder");
	refused(in_scratch("links/run/docker.sock"), "through a link");
	refused(in_scratch("links/up/run"), "through a link upwards");
	refused(in_scratch("links/up"), "a link to the root");
	refused("/proc/self/root/run/docker.sock", "through /proc/self/root");
	refused("/proc/self/root/run", "the folder through /proc/self/root");
	refused("/proc/self/root", "the root through /proc");
	snprintf(path, sizeof(path), "/proc/%d/root/run", getpid());
	refused(path, "the root of a process");
	refused("/run/", "the folder with a slash");
	refused("/run/.", "the folder with a dot");
	refused("/run/app/..", "the folder from below");
	refused("/", "the root");
	refused("/run/app", "a folder with another live socket");
	refused("/run/app/other.sock", "another live socket");
	fd = open("/run", O_PATH | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	refused(path, "the folder through a descriptor");
	snprintf(path, sizeof(path), "/proc/self/fd/%d/docker.sock", fd);
	refused(path, "the socket through a descriptor");
	must(chdir("/run"));
	refused("docker.sock", "a relative path");
	refused(".", "the folder as working directory");
	must(chdir("/"));
	close(fd);
	must(link("/run/docker.sock", "/run/app/hard.sock"));
	refused_as("/run/app/hard.sock", true, "refuse engine-socket", "a hard link of the socket");
	(void)unlink("/run/app/hard.sock");
	(void)rename("/run/docker.sock", "/run/app/renamed");
	refused_as("/run/app/renamed", true, "refuse unix-socket", "the socket renamed");
	(void)rename("/run/app/renamed", "/run/docker.sock");
}

static void test_binds(void)
{
	put_dir("b");
	put_dir("b/run");
	put_dir("b/plain");
	put_file("b/file", "");
	put_dir("b/tree");
	put_dir("b/tree/sub");
	put_dir("b/tree/sub/deep");
	bind_mount("/run", in_scratch("b/run"));
	refused_as(in_scratch("b/run"), true, "refuse engine-socket", "a bind alias of /run");
	refused_as(in_scratch("b/run"), false, "refuse engine-socket", "the same, not recursive");
	refused_as(in_scratch("b/run/docker.sock"), true, "refuse engine-socket",
		   "the socket in it");
	refused_as(in_scratch("b"), true, "refuse engine-socket", "a folder above it");
	refused_as(in_scratch("b"), false, "allow", "without recursion the alias stays behind");
	refused_as(in_scratch("b/plain"), true, "allow", "beside it");
	(void)umount2(in_scratch("b/run"), MNT_DETACH);
	refused_as(in_scratch("b"), true, "allow", "the alias is gone");

	bind_mount("/run/docker.sock", in_scratch("b/file"));
	refused_as(in_scratch("b/file"), true, "refuse engine-socket",
		   "a bind alias of the socket");
	refused_as(in_scratch("b"), true, "refuse engine-socket", "a folder above that");
	(void)umount2(in_scratch("b/file"), MNT_DETACH);

	/* Engine state that really lies elsewhere. */
	bind_mount(in_scratch("b/tree/sub"), "/run/crun");
	refused_as(in_scratch("b/tree/sub"), true, "refuse engine-state",
		   "where engine state lies");
	refused_as(in_scratch("b/tree/sub/deep"), true, "refuse engine-state", "below it");
	refused_as(in_scratch("b/tree"), false, "refuse engine-state", "above it");
	refused_as(in_scratch("b/plain"), true, "allow", "beside it");
	(void)umount2("/run/crun", MNT_DETACH);
	refused_as(in_scratch("b/tree"), true, "allow", "it is no engine state any more");

	/* What a docker volume with a device option is. */
	(void)mkdir("/run/containers", 0755);
	(void)mkdir("/run/containers/storage", 0755);
	(void)mkdir("/run/containers/storage/volumes", 0755);
	(void)mkdir("/run/containers/storage/volumes/v", 0755);
	(void)mkdir("/run/containers/storage/volumes/v/_data", 0755);
	refused_as("/run/containers/storage/volumes/v/_data", true, "allow", "a volume");
	bind_mount("/etc", "/run/containers/storage/volumes/v/_data");
	refused("/run/containers/storage/volumes/v/_data", "a volume that is /etc");
	refused("/run/containers/storage/volumes/v/_data/shadow", "a part of it");
	(void)umount2("/run/containers/storage/volumes/v/_data", MNT_DETACH);
	bind_mount(in_scratch("b/plain"), "/run/containers/storage/volumes/v/_data");
	refused_as("/run/containers/storage/volumes/v/_data", true, "allow",
		   "a volume that is a plain folder");
	refused_as(in_scratch("b/plain"), true, "allow", "that folder itself");
	refused_as(in_scratch("b"), true, "allow", "and the one above it");
	(void)umount2("/run/containers/storage/volumes/v/_data", MNT_DETACH);
}

static void test_overlays(void)
{
	char options[3 * PATH_MAX];

	put_dir("o");
	put_dir("o/lower");
	put_dir("o/upper");
	put_dir("o/upper/x");
	put_dir("o/work");
	put_dir("o/merged");
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s",
		 in_scratch("o/lower"), in_scratch("o/upper"), in_scratch("o/work"));
	if (mount("overlay", "/run/crun", "overlay", 0, options) < 0) {
		ok(true, "overlay # SKIP %s", strerror(errno));
		return;
	}
	refused_as(in_scratch("o/upper"), true, "refuse engine-state",
		   "the upper layer of engine state");
	refused_as(in_scratch("o/upper/x"), true, "refuse engine-state", "a part of it");
	refused_as(in_scratch("o/lower"), true, "refuse engine-state", "the lower layer");
	refused_as(in_scratch("o"), true, "refuse engine-state", "the folder above the layers");
	refused_as(in_scratch("o/merged"), true, "allow", "a folder beside them");
	(void)umount2("/run/crun", MNT_DETACH);
	snprintf(options, sizeof(options), "lowerdir=%s:%s", "/run/secrets", in_scratch("o/lower"));
	if (mount("overlay", in_scratch("o/merged"), "overlay", 0, options) < 0)
		printf("# overlay: %s\n", strerror(errno));
	refused_as(in_scratch("o/merged"), true, "refuse host-secrets",
		   "an overlay over a secret folder");
	refused_as(in_scratch("o"), true, "refuse host-secrets", "the folder above that overlay");
	(void)umount2(in_scratch("o/merged"), MNT_DETACH);
}

static void test_sockets(void)
{
	char path[PATH_MAX];
	int i, n;

	put_dir("s");
	put_dir("s/ws");
	n = snprintf(path, sizeof(path), "%s", in_scratch("s/ws"));
	for (i = 0; i < 12; i++) {
		n += snprintf(path + n, sizeof(path) - (size_t)n, "/d%d", i);
		(void)mkdir(path, 0755);
	}
	snprintf(path + n, sizeof(path) - (size_t)n, "/live");
	refused_as(in_scratch("s/ws"), true, "allow", "an empty workspace");
	put_socket(path, true);
	refused_as(in_scratch("s/ws"), true, "refuse unix-socket",
		   "a live socket twelve levels down");
	refused_as(in_scratch("s/ws"), false, "refuse unix-socket", "also when not recursive");
	refused_as(in_scratch("s"), true, "refuse unix-socket", "and one level more");
	(void)unlink(path);
	refused_as(in_scratch("s/ws"), true, "allow", "its file is gone");

	put_dir("s/dead");
	put_dir("s/dead/sub");
	put_socket(in_scratch("s/dead/sub/some.sock"), false);
	refused_as(in_scratch("s/dead"), true, "allow", "a dead socket");
	put_socket(in_scratch("s/dead/sub/docker.sock"), false);
	refused_as(in_scratch("s/dead/sub"), true, "refuse engine-socket",
		   "a dead one named docker.sock");
	refused_as(in_scratch("s/dead"), true, "refuse engine-socket", "the folder above it");

	/* Bound by a linked name: the table has that name, the folder is another. */
	put_dir("s/real");
	must(symlink(in_scratch("s/real"), in_scratch("s/alias")));
	put_socket(in_scratch("s/alias/l"), true);
	refused_as(in_scratch("s/real"), true, "refuse unix-socket", "bound through a link");
	/* A mount below brings sockets along that are bound elsewhere. */
	put_dir("s/m");
	put_dir("s/m/app");
	bind_mount("/run/app", in_scratch("s/m/app"));
	refused_as(in_scratch("s/m"), true, "refuse unix-socket", "sockets in a mount below");
	refused_as(in_scratch("s/m"), false, "allow", "a mount that stays behind");
	(void)umount2(in_scratch("s/m/app"), MNT_DETACH);
}

static void test_engine(void)
{
	static const char dir[] = "/run/containers/storage/overlay-containers/" ID "/userdata";
	char path[PATH_MAX];
	FILE *f;

	(void)mkdir("/run/containers/storage/overlay-containers", 0755);
	(void)mkdir("/run/containers/storage/overlay-containers/" ID, 0755);
	(void)mkdir(dir, 0755);
	snprintf(path, sizeof(path), "%s/hosts", dir);
	f = fopen(path, "we");
	if (f)
		fclose(f);
	is_str(judge(path, "/etc/hosts", false), "shallow allow", "the engine's /etc/hosts");
	is_str(judge(path, "/etc/passwd", false), "refuse engine-state",
	       "the same at another place");
	snprintf(path, sizeof(path), "%s/hostname", dir);
	must(symlink("/run/secrets/key", path));
	refused_as(path, false, "refuse host-secrets", "a link in its place");
	is_str(judge(path, "/etc/hostname", false), "refuse host-secrets",
	       "also at the right place");
}

int main(void)
{
	TAP_BEGIN();
	if (!world_begin())
		return TAP_SKIP_ALL("needs root and mount namespaces");
	test_spellings();
	test_binds();
	test_overlays();
	test_sockets();
	test_engine();
	world_end();
	return TAP_END();
}
