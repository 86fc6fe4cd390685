/*
 * The mounts that engines make for every container, out of folders that are refused
 * otherwise. A row is an engine's folder, a leaf below it and the destination that goes
 * with the leaf: any other destination means that a user asked, not the engine.
 */
#include <string.h>

#include "policy/policy_fs_tables.h"
#include "util/str.h"

enum engine { DOCKER, CRI, KUBELET, CONTAINERS };

struct engine_folder {
	enum engine engine;
	const char *pattern;
};

struct engine_leaf {
	enum engine engine;
	const char *leaf;
	const char *destination; /* pattern, NULL = any */
	enum policy_fs_engine_mount kind;
	enum policy_fs_type type; /* POLICY_FS_OTHER = any */
	bool alias_only;	  /* never mounted from there, but a name of what is mounted */
};

static const struct engine_folder folders[] = {
	{ DOCKER, "/var/lib/docker" },
	/* userns-remap keeps one folder per mapping, named UID.GID */
	{ DOCKER, "/var/lib/docker/*.*" },
	{ DOCKER, "/var/snap/docker/common/var-lib-docker" },
	{ DOCKER, "~/.local/share/docker" },
	{ CRI, "/run/containerd" },
	{ CRI, "/var/lib/containerd" },
	{ CRI, "/run/k3s/containerd" },
	{ CRI, "/var/lib/rancher/*/agent/containerd" },
	{ CRI, "/run/k0s/containerd" },
	{ CRI, "/var/lib/k0s/containerd" },
	{ KUBELET, "/var/lib/kubelet" },
	{ KUBELET, "/var/lib/k0s/kubelet" },
	{ CONTAINERS, "/var/lib/containers/storage" },
	{ CONTAINERS, "/run/containers/storage" },
	{ CONTAINERS, "/run/user/*/containers" },
	{ CONTAINERS, "~/.local/share/containers/storage" },
};

#define FILE_LEAF(engine_, leaf_, destination_) \
	{ engine_, leaf_, destination_, POLICY_FS_ENGINE_FILE, POLICY_FS_FILE, false }
#define DIR_LEAF(engine_, leaf_, destination_) \
	{ engine_, leaf_, destination_, POLICY_FS_ENGINE_FILE, POLICY_FS_DIR, false }
#define OWN_LEAF(engine_, leaf_) \
	{ engine_, leaf_, NULL, POLICY_FS_ENGINE_FILE, POLICY_FS_OTHER, false }
#define DATA_LEAF(engine_, leaf_) \
	{ engine_, leaf_, NULL, POLICY_FS_ENGINE_DATA, POLICY_FS_OTHER, false }
#define ALIAS_LEAF(engine_, leaf_) \
	{ engine_, leaf_, NULL, POLICY_FS_ENGINE_DATA, POLICY_FS_OTHER, true }
#define TOKEN_LEAF(engine_, leaf_, destination_) \
	{ engine_, leaf_, destination_, POLICY_FS_ENGINE_TOKEN, POLICY_FS_OTHER, false }

#define POD_VOLUMES  "pods/%/volumes/"
#define CRI_SANDBOX  "io.containerd.grpc.v1.cri/sandboxes/*/"
#define USERDATA     "*-containers/*/userdata/"
#define OWN_USERDATA "*-containers/@/userdata/"

/* "@" and "%" = the container's own id and pod: secrets of others are not this one's. */
static const struct engine_leaf leaves[] = {
	FILE_LEAF(DOCKER, "containers/*/resolv.conf", "/etc/resolv.conf"),
	FILE_LEAF(DOCKER, "containers/*/hostname", "/etc/hostname"),
	FILE_LEAF(DOCKER, "containers/*/hosts", "/etc/hosts"),
	DIR_LEAF(DOCKER, "containers/*/mounts/shm", "/dev/shm"),
	OWN_LEAF(DOCKER, "containers/@/mounts/secrets/**"),
	FILE_LEAF(DOCKER, "buildkit/executor/resolv.conf", "/etc/resolv.conf"),
	FILE_LEAF(DOCKER, "buildkit/executor/hosts", "/etc/hosts"),
	FILE_LEAF(DOCKER, "buildkit/executor/hosts.*", "/etc/hosts"),
	DATA_LEAF(DOCKER, "volumes/*/_data/**"),

	FILE_LEAF(CRI, CRI_SANDBOX "resolv.conf", "/etc/resolv.conf"),
	FILE_LEAF(CRI, CRI_SANDBOX "hostname", "/etc/hostname"),
	FILE_LEAF(CRI, CRI_SANDBOX "hosts", "/etc/hosts"),
	DIR_LEAF(CRI, CRI_SANDBOX "shm", "/dev/shm"),
	DATA_LEAF(CRI, "io.containerd.grpc.v1.cri/containers/@/volumes/**"),

	FILE_LEAF(KUBELET, "pods/%/etc-hosts", "/etc/hosts"),
	/* the termination message: its place in the container is the user's choice */
	{ KUBELET, "pods/%/containers/*/*", NULL, POLICY_FS_ENGINE_FILE, POLICY_FS_FILE, false },
	TOKEN_LEAF(KUBELET, POD_VOLUMES "kubernetes.io~projected/kube-api-access-*/**", NULL),
	TOKEN_LEAF(KUBELET, POD_VOLUMES "*~*/*/**", "/run/secrets/kubernetes.io/serviceaccount"),
	DATA_LEAF(KUBELET, POD_VOLUMES "*~*/*/**"),
	DATA_LEAF(KUBELET, "pods/%/volume-subpaths/*/*/*/**"),
	ALIAS_LEAF(KUBELET, "plugins/kubernetes.io/csi/*/*/globalmount/**"),
	ALIAS_LEAF(KUBELET, "plugins/kubernetes.io/*/mounts/*/**"),

	FILE_LEAF(CONTAINERS, USERDATA "resolv.conf", "/etc/resolv.conf"),
	FILE_LEAF(CONTAINERS, USERDATA "hosts", "/etc/hosts"),
	FILE_LEAF(CONTAINERS, USERDATA "hostname", "/etc/hostname"),
	FILE_LEAF(CONTAINERS, USERDATA ".containerenv", "/run/.containerenv"),
	FILE_LEAF(CONTAINERS, USERDATA "passwd", "/etc/passwd"),
	FILE_LEAF(CONTAINERS, USERDATA "group", "/etc/group"),
	DIR_LEAF(CONTAINERS, USERDATA "shm", "/dev/shm"),
	DIR_LEAF(CONTAINERS, OWN_USERDATA "notify", "/run/notify"),
	DIR_LEAF(CONTAINERS, OWN_USERDATA "run/secrets", "/run/secrets"),
	OWN_LEAF(CONTAINERS, OWN_USERDATA "secrets/**"),
	DATA_LEAF(CONTAINERS, OWN_USERDATA "overlay/*/merge"),
	DATA_LEAF(CONTAINERS, OWN_USERDATA "volumes/**"),
	DATA_LEAF(CONTAINERS, "volumes/*/_data/**"),
};

static bool leaf_matches(const struct engine_leaf *l, const struct policy_fs_pattern *pattern,
			 const struct policy_fs_fact *fact, const char *path,
			 const char *destination, bool is_alias)
{
	const struct policy_fs_pattern want = { .part = { l->destination } };

	if (l->alias_only && !is_alias)
		return false;
	if (l->type != POLICY_FS_OTHER && l->type != fact->type)
		return false;
	if (policy_fs_relate(pattern, path) != POLICY_FS_SAME)
		return false;
	if (!l->destination)
		return true;
	return destination && policy_fs_relate(&want, destination) == POLICY_FS_SAME;
}

static enum policy_fs_engine_mount folder_lookup(enum engine engine, const char *home,
						 const char *folder,
						 const struct policy_fs_fact *fact,
						 const char *path, const char *destination,
						 bool is_alias)
{
	struct policy_fs_pattern pattern = { .part = { home ? home : folder, home ? folder : NULL },
					     .id = fact->id,
					     .pod = fact->pod };
	size_t i;

	if (policy_fs_relate(&pattern, path) != POLICY_FS_BELOW)
		return POLICY_FS_NOT_ENGINE;
	for (i = 0; i < ELEMENTSOF(leaves); i++) {
		if (leaves[i].engine != engine)
			continue;
		pattern.part[home ? 2 : 1] = leaves[i].leaf;
		if (leaf_matches(&leaves[i], &pattern, fact, path, destination, is_alias))
			return leaves[i].kind;
	}
	return POLICY_FS_NOT_ENGINE;
}

enum policy_fs_engine_mount policy_fs_engine_lookup(const struct policy_fs_fact *fact,
						    const char *path, const char *destination,
						    bool is_alias)
{
	enum policy_fs_engine_mount kind = POLICY_FS_NOT_ENGINE;
	const char *below;
	size_t i, h;

	for (i = 0; i < ELEMENTSOF(folders) && kind == POLICY_FS_NOT_ENGINE; i++) {
		below = str_after(folders[i].pattern, "~");
		if (!below) {
			kind = folder_lookup(folders[i].engine, NULL, folders[i].pattern, fact,
					     path, destination, is_alias);
			continue;
		}
		for (h = 0; policy_fs_home_patterns[h] && kind == POLICY_FS_NOT_ENGINE; h++)
			kind = folder_lookup(folders[i].engine, policy_fs_home_patterns[h], below,
					     fact, path, destination, is_alias);
		for (h = 0; h < fact->n_homes && kind == POLICY_FS_NOT_ENGINE; h++)
			kind = folder_lookup(folders[i].engine, fact->homes[h], below, fact, path,
					     destination, is_alias);
	}
	return kind;
}
