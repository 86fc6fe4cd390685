/*
 * Sensitive host paths, by class. Only data; the reason stands with each class. What is
 * meant by a source being "a pattern", above or below it decides policy_fs.c.
 */
#include "policy/policy_fs_tables.h"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Who connects starts containers on the host as root; a read-only mount does not stop that. */
#define ENGINE_SOCKETS                                                                             \
	LIST("/run/docker.sock", "/run/containerd/containerd.sock",                                \
	     "/run/containerd/containerd.sock.ttrpc", "/run/containerd/debug.sock",                \
	     "/run/crio/crio.sock", "/run/podman/podman.sock", "/run/cri-dockerd.sock",            \
	     "/run/dockershim.sock", "/run/buildkit", "/run/k3s/containerd/containerd.sock",       \
	     "/run/k0s/containerd.sock", "/run/lxd.socket", "/run/lxc", "/run/incus",              \
	     "/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket", "/run/libvirt", \
	     "/run/docker/plugins", "/run/nri", "/run/user/*/docker.sock", "/run/user/*/docker",   \
	     "/run/user/*/podman/podman.sock", "/run/user/*/buildkit*", "/run/user/*/containerd*", \
	     "/run/user/*/libvirt")

#define HOST_BUS                                                                                   \
	LIST("/run/systemd", "/run/dbus", "/run/user/*/bus", "/run/user/*/systemd",                \
	     "/run/user/*/dbus*", "/run/udev", "/run/lvm", "/run/initctl", "/run/dmeventd*",       \
	     "/run/multipathd*", "/run/snapd*", "/run/polkit", "/run/acpid.socket",                \
	     "/run/rpcbind.sock", "/run/user/*/gnupg", "/run/user/*/keyring",                      \
	     "/run/user/*/wayland*", "/run/user/*/pipewire*", "/run/user/*/ssh-agent*",            \
	     "/run/screen", "/run/tmux")

/* /tmp itself may be mounted: whether a live socket is in it says the socket table. */
#define SESSION_SOCKETS LIST("/tmp/.X11-unix", "/tmp/.ICE-unix", "/tmp/ssh-*", "/tmp/tmux-*")

/* Kernel interfaces; caught by filesystem type as well, wherever they are mounted. */
#define KERNEL_FILES LIST("/proc", "/sys", "/dev")

#define AGENTRUN_FILES                                                                             \
	LIST("/etc/agentrun", "/run/agentrun", "/var/lib/agentrun", "/var/log/agentrun",           \
	     "/run/user/*/agentrun", "~/.local/state/agentrun")

#define ENGINE_STATE                                                                               \
	LIST("/var/lib/docker", "/var/snap/docker", "/var/lib/containerd", "/var/lib/containers",  \
	     "/var/lib/crio", "/var/lib/kubelet", "/var/lib/rancher", "/var/lib/k0s",              \
	     "/var/lib/etcd", "/var/lib/lxd", "/var/snap/lxd", "/var/lib/lxc", "/var/lib/incus",   \
	     "/var/lib/libvirt", "/var/lib/buildkit", "/var/lib/cni", "/var/lib/machines",         \
	     "/var/lib/portables", "/var/log/pods", "/var/log/containers", "/run/containerd",      \
	     "/run/docker", "/run/runc", "/run/crun", "/run/crio", "/run/containers",              \
	     "/run/k3s", "/run/libpod", "/run/netns", "/run/cni", "/run/flannel",                  \
	     "/run/user/*/containers", "/run/user/*/crun", "/run/user/*/runc",                     \
	     "/run/user/*/libpod", "/run/user/*/netns", "~/.local/share/containers",               \
	     "~/.local/share/docker", "~/.local/share/buildkit", "~/.local/share/containerd")

#define HOST_SECRETS                                                                               \
	LIST("/etc/shadow*", "/etc/gshadow*", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh",        \
	     "/etc/kubernetes", "/etc/rancher", "/etc/ssl/private", "/etc/pki/tls/private",        \
	     "/etc/letsencrypt", "/etc/wireguard", "/etc/ipsec.secrets", "/etc/krb5.keytab",       \
	     "/etc/ppp", "/etc/NetworkManager/system-connections", "/etc/docker",                  \
	     "/etc/containers/auth.json", "/etc/crontab", "/etc/cron.*", "/etc/ld.so.preload",     \
	     "/etc/profile.d", "/etc/pam.d", "/etc/credstore*", "/var/lib/systemd/credential*",    \
	     "/var/lib/systemd/random-seed", "/var/lib/cloud", "/run/cloud-init", "/var/lib/sss",  \
	     "/var/lib/krb5kdc", "/var/lib/NetworkManager", "/var/spool/cron", "/run/secrets",     \
	     "/run/credentials", "/run/cryptsetup")

#define USER_SECRETS                                                                               \
	LIST("~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.oci", "~/.config/gcloud", "~/.kube",  \
	     "~/.minikube", "~/.docker", "~/.netrc", "~/.git-credentials",                         \
	     "~/.config/git/credentials", "~/.config/gh", "~/.config/glab-cli", "~/.config/hub",   \
	     "~/.config/op", "~/.config/rclone", "~/.config/sops", "~/.config/containers",         \
	     "~/.config/doctl", "~/.config/fly", "~/.config/github-copilot", "~/.npmrc",           \
	     "~/.yarnrc*", "~/.pypirc", "~/.config/pip", "~/.cargo/credentials*",                  \
	     "~/.gem/credentials", "~/.terraform.d", "~/.terraformrc", "~/.vault-token",           \
	     "~/.config/age", "~/.claude*", "~/.codex", "~/.gemini", "~/.config/claude*",          \
	     "~/.cursor", "~/.mozilla", "~/.config/google-chrome*", "~/.config/chromium",          \
	     "~/.config/BraveSoftware", "~/.thunderbird", "~/.password-store",                     \
	     "~/.local/share/keyrings", "~/.pgpass", "~/.my.cnf", "~/.mylogin.cnf", "~/.s3cfg",    \
	     "~/.boto", "~/.databrickscfg", "~/.bash_history", "~/.zsh_history", "~/.zhistory",    \
	     "~/.history", "~/.local/share/fish/fish_history", "~/.python_history",                \
	     "~/.node_repl_history", "~/.psql_history", "~/.mysql_history", "~/.lesshst",          \
	     "~/.snap", "~/snap/*/common/.mozilla", "~/.colima", "~/.lima")

#define HOST_TREES                                                                                 \
	LIST("/", "/etc", "/root", "/home", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",   \
	     "/libx32", "/boot", "/efi", "/var", "/var/lib", "/var/log",                            \
	     "/run", "/run/user", "/var/home", "/var/roothome", "/sysroot", "/ostree", "/nix",     \
	     "/gnu", "/snap", "/var/snap", "/var/spool")

/*
 * Below these stand programs and settings that the host's own root runs and obeys: files
 * from there are mounted for reading every day, and never need to be written by a container.
 */
#define HOST_PROGRAMS                                                                              \
	LIST("/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot",      \
	     "/efi", "/opt/cni", "/opt/containerd", "/nix", "/gnu", "/snap", "/ostree",            \
	     "/sysroot", "~/bin", "~/.local/bin", "~/.config/systemd", "~/.config/autostart",      \
	     "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zshrc",            \
	     "~/.zshenv", "~/.zprofile", "~/.gitconfig", "~/.config/git")

const struct policy_fs_class policy_fs_classes[] = {
	{ "engine-socket", "a control socket of a container engine or hypervisor", POLICY_FS_WHOLE,
	  POLICY_FS_REFUSES, true, ENGINE_SOCKETS },
	{ "host-bus", "a control channel of the host's services or of a user's session",
	  POLICY_FS_WHOLE, POLICY_FS_REFUSES, false, HOST_BUS },
	{ "host-bus", "sockets of a user's session", POLICY_FS_INSIDE | (1u << POLICY_FS_SAME),
	  POLICY_FS_REFUSES, false, SESSION_SOCKETS },
	{ "kernel-files", "an interface of the host's kernel", POLICY_FS_WHOLE, POLICY_FS_REFUSES,
	  false, KERNEL_FILES },
	{ "user-secrets", "credentials or history of a user of the host", POLICY_FS_WHOLE,
	  POLICY_FS_REFUSES, true, USER_SECRETS },
	{ "agentrun-files", "where agentrun keeps its policy, state or audit log", POLICY_FS_WHOLE,
	  POLICY_FS_REFUSES, true, AGENTRUN_FILES },
	{ "engine-state", "state of a container engine", POLICY_FS_WHOLE, POLICY_FS_REFUSES, false,
	  ENGINE_STATE },
	{ "host-secrets", "secrets or privileged settings of the host", POLICY_FS_WHOLE,
	  POLICY_FS_REFUSES, true, HOST_SECRETS },
	{ "host-tree", "a whole tree of the host", POLICY_FS_TREE, POLICY_FS_REFUSES, false,
	  HOST_TREES },
	{ "host-programs", "programs or settings that the host runs or obeys",
	  POLICY_FS_INSIDE | (1u << POLICY_FS_SAME), POLICY_FS_MAKES_READONLY, false,
	  HOST_PROGRAMS },
	{ "wide-tree", "a tree in which anything may be mounted or installed", POLICY_FS_TREE,
	  POLICY_FS_WARNS, false, LIST("/opt", "/mnt", "/media", "/srv", "/tmp", "/var/tmp") },
	{ .name = NULL },
};

const char *const policy_fs_home_patterns[] = { "/root", "/home/*", "/var/home/*", "/var/roothome",
						NULL };

const char *const policy_fs_socket_names[] = {
	"docker*.sock", "podman*.sock", "containerd*.sock*", "crio.sock",
	"buildkit*.sock", "cri-dockerd.sock", "dockershim.sock", "libvirt*sock*", "virt*-sock*",
	"lxd.socket", "unix.socket", "nri.sock", "kubelet*.sock", "system_bus_socket", NULL
};

/* rpc_pipefs talks to NFS daemons, autofs and fusectl steer mounts, selinuxfs the labels. */
const char *const policy_fs_kernel_types[] = {
	"proc", "sysfs", "cgroup", "cgroup2", "bpf", "debugfs", "tracefs", "securityfs", "devtmpfs",
	"devpts", "mqueue", "nsfs", "pstore", "efivarfs", "configfs", "selinuxfs", "smackfs",
	"binfmt_misc", "fusectl", "autofs", "rpc_pipefs", "hugetlbfs", "resctrl", "xenfs",
	"functionfs", NULL
};

const struct policy_fs_device policy_fs_devices[] = {
	{ "/dev/null", 1, 3 }, { "/dev/zero", 1, 5 }, { "/dev/full", 1, 7 },
	{ "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
	{ .path = NULL },
};
