/*
 * The policy of a host that has no file, and what every file builds on: the shipped
 * profiles, written as a policy document and read by the same code. Maxima equal the
 * defaults, so that nothing beyond them is had without a line in a file.
 */
#include "policy/policy_internal.h"

/* clang-format off */
const char policy_builtin_text[] =
"{\"version\": 1, \"profile\": \"default\", \"requestable\": [\"default\", \"strict\"],"
" \"sealed\": false, \"profiles\": {"
"\"default\": {"
" \"seccomp\": {\"profile\": \"agent-default\", \"allow\": []},"
" \"noNewPrivileges\": true,"
/* What package managers, gosu and servers that start as root need. */
" \"capabilities\": {\"root\": [\"CAP_CHOWN\", \"CAP_DAC_OVERRIDE\", \"CAP_FOWNER\", \"CAP_FSETID\","
"  \"CAP_KILL\", \"CAP_SETGID\", \"CAP_SETUID\", \"CAP_NET_BIND_SERVICE\"], \"user\": []},"
" \"namespaces\": {\"host\": []},"
" \"devices\": {\"allow\": [], \"network\": [], \"accept\": []},"
/* No overlay: its options name further folders of the host. */
" \"mounts\": {\"allow\": [], \"deny\": [], \"readonly\": [], \"session\": [],"
"  \"types\": [\"proc\", \"sysfs\", \"tmpfs\", \"devpts\", \"mqueue\", \"cgroup\", \"cgroup2\"],"
"  \"propagation\": [], \"serviceAccountToken\": false},"
" \"paths\": {\"masked\": [], \"readonly\": [], \"unmasked\": []},"
" \"rootfs\": {\"readonly\": false, \"tmpfs\": []},"
" \"env\": {\"mode\": \"scrub\", \"allow\": [], \"deny\": []},"
" \"sysctls\": {\"allow\": [\"kernel.msg*\", \"kernel.sem\", \"kernel.shm*\", \"kernel.domainname\","
"  \"fs.mqueue.*\", \"net.*\"],"
/* No programs without a name, no ping sockets, low ports without a capability, no user namespaces inside one. */
"  \"set\": [\"vm.memfd_noexec=2\", \"net.ipv4.ping_group_range=1 0\","
"   \"net.ipv4.ip_unprivileged_port_start=0\", \"user.max_user_namespaces=0\"]},"
" \"resources\": {\"memory\": {\"default\": \"2GiB\", \"max\": \"2GiB\"}, \"swap\": {\"default\": 0, \"max\": 0},"
"  \"cpu\": {\"default\": 2, \"max\": 2, \"affinity\": \"auto\"}, \"pids\": {\"default\": 512, \"max\": 512},"
/* Pages of a host's pool are not charged to memory. Shares: the kernel's 1024 for each CPU. */
"  \"hugetlb\": {\"default\": 0, \"max\": 0}, \"cpuShares\": 2048, \"ioWeight\": 100,"
"  \"realtime\": false, \"excess\": \"clamp\", \"accept\": []},"
/* nice and rtprio would let a process starve the host without any capability; signals that are pending, timers among
 * them, are counted for each user of the host, root too. */
" \"rlimits\": {\"core\": 0, \"nofile\": 65536, \"nice\": 0, \"rtprio\": 0, \"sigpending\": 4096, \"excess\": \"clamp\"},"
" \"disk\": {\"tmpfs\": {\"default\": \"auto\", \"max\": \"auto\", \"inodes\": 100000},"
"  \"session\": {\"size\": \"10GiB\", \"inodes\": 500000, \"keep\": false}, \"excess\": \"clamp\"},"
" \"time\": {\"container\": {\"default\": \"1h\", \"max\": \"1h\"}, \"exec\": {\"default\": \"off\", \"max\": \"off\"},"
"  \"grace\": \"10s\", \"excess\": \"clamp\", \"accept\": []},"
" \"egress\": {\"allow\": [], \"accept\": []},"
" \"audit\": {\"exec\": true, \"output\": {\"maxBytes\": \"1MiB\", \"requestMax\": \"1MiB\"},"
/* What people type, and whole files that are sent in, is more than the record of what was done. */
"  \"input\": {\"maxBytes\": 0}, \"maxBytes\": \"1GiB\", \"redact\": [],"
"  \"onFailure\": \"stop\", \"accept\": []},"
" \"exec\": {\"allow\": true}},"
/* A pure code interpreter. */
"\"strict\": {\"inherits\": \"builtin:default\", \"seccomp\": {\"profile\": \"agent-strict\"},"
" \"capabilities\": {\"root\": [], \"user\": []},"
" \"rootfs\": {\"readonly\": true, \"tmpfs\": [\"/tmp\", \"~\"]}},"
"\"build\": {\"inherits\": \"builtin:default\", \"seccomp\": {\"profile\": \"agent-build\"},"
" \"resources\": {\"memory\": {\"default\": \"8GiB\", \"max\": \"8GiB\"},"
"  \"cpu\": {\"default\": 4, \"max\": 4}, \"pids\": {\"default\": 4096, \"max\": 4096},"
"  \"cpuShares\": 4096}},"
"\"nested\": {\"inherits\": \"builtin:default\", \"seccomp\": {\"profile\": \"agent-nested\"},"
" \"sysctls\": {\"set\": [\"vm.memfd_noexec=2\", \"net.ipv4.ping_group_range=1 0\","
"  \"net.ipv4.ip_unprivileged_port_start=0\"]}},"
"\"service\": {\"inherits\": \"builtin:default\","
" \"time\": {\"container\": {\"default\": \"off\", \"max\": \"off\"}},"
" \"audit\": {\"maxBytes\": \"8GiB\"}},"
/* The first container of a pod: it holds the namespaces and does nothing. */
"\"sandbox\": {\"inherits\": \"builtin:default\", \"seccomp\": {\"profile\": \"agent-strict\"},"
" \"capabilities\": {\"root\": [], \"user\": []},"
" \"resources\": {\"memory\": {\"default\": \"16MiB\", \"max\": \"16MiB\"},"
"  \"cpu\": {\"default\": 1, \"max\": 1}, \"pids\": {\"default\": 16, \"max\": 16}, \"cpuShares\": 1024},"
" \"time\": {\"container\": {\"default\": \"off\", \"max\": \"off\"}},"
" \"audit\": {\"exec\": false, \"output\": {\"maxBytes\": 0, \"requestMax\": 0}},"
" \"exec\": {\"allow\": false}},"
/* The specification and nothing on top. */
"\"passthrough\": {}"
"}}";
/* clang-format on */
