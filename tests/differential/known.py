"""Differences from both peers that are meant, each with its reason."""

import re


def without(pattern):
    """Ours equals a peer's value once what the pattern matches is taken out of both."""
    def condition(values, config):
        ours = re.sub(pattern, "", values["agentrun"])
        return ours in [re.sub(pattern, "", values[name]) for name in ("runc", "crun")]
    return condition


def masked(values, config):
    return "nr_inodes=1" in values["agentrun"]


def has_masked(values, config):
    return bool(config["linux"].get("maskedPaths"))


def relative_paths(values, config):
    return any(not p.startswith("/") for p in config["linux"].get("maskedPaths", []) + config["linux"].get("readonlyPaths", []))


def no_processes(values, config):
    return config["linux"]["resources"].get("pids", {}).get("limit") == 0


def limit_twice(values, config):
    kinds = [limit["type"] for limit in config["process"].get("rlimits", [])]
    return len(kinds) != len(set(kinds))


def without_path(values, config):
    return not any(x.startswith("PATH=") for x in config["process"]["env"])


def failing_poststart(values, config):
    return any("exit 1" in hook["args"][2] for hook in config.get("hooks", {}).get("poststart", []))


def in_userns(values, config):
    return "uidMappings" in config["linux"]


VERDICT = r"create: fails|start: fails|run: exit code|exec: exit code|init: exit|delete: fails|stopped: state|sections"

# (field, condition or None, reason): the first row whose pattern matches the whole field and whose condition holds.
ROWS = [
    (r"mount /sys/fs/cgroup", lambda values, config: all(" private tmpfs " in v for v in values.values()),
     "the tmpfs above the v1 hierarchies: each has its own source, size and mode, and ours is read-only where that was asked"),
    (VERDICT, lambda values, config: config["process"]["cwd"] == "/dangling",
     "a working folder behind a dangling link is made inside the root, as in runc since 1.4"),
    (r"mount .*", masked, "a masked folder is covered by a tmpfs that takes one inode and is nosuid, nodev, noexec"),
    (r"paths: .*", has_masked, "the folder that covers a masked one has mode 0755"),
    (r"mount .*", without(r",mode=\d+"), "a tmpfs without a mode gets that of its mount point as an option, the peers change it afterwards"),
    (r"mount .*", without(r"(?<= )r[ow](?=,|$)"), "a read-only mount of sysfs or proc leaves the superblock alone, as crun"),
    (VERDICT, relative_paths, "the specification wants absolute paths"),
    (VERDICT, limit_twice, "the specification wants an error where a limit is given twice"),
    (VERDICT, without_path, "without PATH a program is looked for where execvp(3) does: /bin and /usr/bin"),
    (VERDICT, lambda values, config: "startContainer" in config.get("hooks", {}),
     "a failing startContainer hook fails the start, as the specification wants; the peers' start has returned by then"),
    (r"created: devices.list c (10:200|5:1)", lambda values, config: values["runc"] == "-",
     "the default device rules are runc's: /dev/net/tun, not /dev/console"),
    (r"created: state", lambda values, config: values["crun"].startswith("created / "), "crun gives / as the bundle after some calls"),
    (r".*", no_processes, "a limit of 0 processes means one, as in the specification since 1.2.1 and in runc since 1.4"),
    (r".*", failing_poststart, "a failing poststart hook fails the start, as in newer peers"),
    (r"nodes: .*", in_userns, "in a user namespace the default devices belong to its root"),
    (r"descriptors", None, "the container has the caller's descriptors as they are, as with crun; runc run copies through pipes"),
    (r"left: /rootfs/.*", without(r"100(755|700|644|666|000)"), "a file that is made as a mount point has mode 0644, one for a device none"),
    (r"environment", without(r"HOME=\S* ?"), "HOME is looked up where it is not given or empty, as in runc"),
    (r"mount /dev/.*", in_userns, "a device that is bound keeps the flags of the host's /dev, as with runc"),
    (r"paths: .*", lambda values, config: any("tmpcopyup" in m.get("options", []) for m in config["mounts"]),
     "the mode that is asked for a tmpfs is not lost to that of the folder copied into it"),
    (r"status: Umask|left: .*", lambda values, config: "umask" in config["process"]["user"],
     "a command that is executed has the umask of the configuration, as in newer runc"),
    (r"paths: .*", lambda values, config: sum(m.get("type") == "tmpfs" for m in config["mounts"]) > 3,
     "a tmpfs without a mode gets that of what it covers, be it another tmpfs"),
    (r"mount /.*", lambda values, config: in_userns(values, config) and "devices" in config["linux"],
     "in a user namespace a device that the host has not comes from a tmpfs made for it, of mode 0700"),
    (r"(created: state|stopped: state)", lambda values, config: values["crun"].split()[1:2] == ["/"], "crun gives / as the bundle after some calls"),
    (r"created: devices.list .*", lambda values, config: "devices" in config["linux"],
     "the default devices can be used even if the configuration lists them, as with crun"),
    (r"use: .*", lambda values, config: "devices" in config["linux"], "the default devices can be used even if the configuration lists them, as with crun"),
    (r"run: exit code|init: exit", lambda values, config: values["agentrun"] in ("255", "code 255") and config["process"]["args"][0] in ("/bin/broken", "/bin/bad"),
     "a program that cannot be executed after the start gives 255, as in runc since 1.2"),
]


def reason(field, values, config):
    for pattern, condition, why in ROWS:
        if re.fullmatch(pattern, field) and (condition is None or condition(values, config)):
            return why
    return None
