"""Generates bundles' configurations: configuration N of seed S is always the same one.

Each is a plain container plus a few features chosen at random; some of the values are wrong on
purpose. Nothing here knows how a runtime answers. "BUNDLE" in a string stands for the bundle's path.
"""

import copy
import random

CAPABILITIES = ["CAP_" + name for name in (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_ADMIN NET_RAW "
    "IPC_LOCK SYS_CHROOT SYS_PTRACE SYS_ADMIN SYS_NICE SYS_TIME MKNOD AUDIT_WRITE SETFCAP WAKE_ALARM BPF").split()]

BASE = {
    "ociVersion": "1.0.2",
    "process": {
        "terminal": False,
        "user": {"uid": 0, "gid": 0},
        "args": ["/bin/sh", "/probe"],
        "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        "cwd": "/",
        "capabilities": {kind: ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_KILL", "CAP_MKNOD", "CAP_SETUID", "CAP_SETGID", "CAP_SYS_CHROOT"]
                         for kind in ("bounding", "effective", "permitted")},
    },
    "root": {"path": "rootfs", "readonly": False},
    "hostname": "differential",
    "mounts": [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
         "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
        {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
         "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm",
         "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
        {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": ["nosuid", "noexec", "nodev"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
    ],
    "linux": {
        "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")],
        "resources": {"devices": [{"allow": False, "access": "rwm"}]},
    },
}


def some(rng, items, most):
    return rng.sample(items, rng.randint(1, min(most, len(items))))


def user(rng, c):
    c["process"]["user"] = {"uid": rng.choice([0, 0, 1000, 4321]), "gid": rng.choice([0, 1000, 99])}
    if rng.random() < 0.6:
        c["process"]["user"]["additionalGids"] = some(rng, [5, 10, 1000, 2000, 60000, 0], 4)
    if rng.random() < 0.5:
        c["process"]["user"]["umask"] = rng.choice([0, 0o22, 0o27, 0o77, 0o777])


def capabilities(rng, c):
    bounding = some(rng, CAPABILITIES, 12)
    permitted = [x for x in bounding if rng.random() < 0.8]
    effective = [x for x in permitted if rng.random() < 0.8]
    sets = {"bounding": bounding, "permitted": permitted, "effective": effective}
    shape = rng.random()
    if shape < 0.5:
        sets["inheritable"] = [x for x in permitted if rng.random() < 0.6]
        if rng.random() < 0.6:
            sets["ambient"] = [x for x in sets["inheritable"] if rng.random() < 0.7]
    elif shape < 0.6:
        sets = {}
    elif shape < 0.65:
        sets["bounding"] = bounding + ["CAP_OF_TOMORROW"]
    c["process"]["capabilities"] = sets


def rlimits(rng, c):
    limits = []
    for kind in some(rng, ["NOFILE", "NPROC", "CORE", "FSIZE", "STACK", "MEMLOCK", "SIGPENDING", "MSGQUEUE", "NICE",
                           "RTPRIO", "CPU", "AS", "DATA", "LOCKS", "RSS", "RTTIME"], 5):
        hard = rng.choice([0, 10, 1000]) if kind in ("NICE", "RTPRIO") else rng.choice([1024, 4096, 8192])
        if kind in ("CPU", "AS", "DATA", "STACK", "FSIZE", "RTTIME", "RSS"):
            hard = 1 << 33
        if kind in ("NICE", "RTPRIO"):
            hard = 0
        limits.append({"type": "RLIMIT_" + kind, "soft": hard // rng.choice([1, 2]), "hard": hard})
    shape = rng.random()
    if shape < 0.05:
        limits[0]["soft"] = limits[0]["hard"] + 1
    elif shape < 0.1:
        limits[0]["type"] = "RLIMIT_NONSENSE"
    elif shape < 0.15:
        limits.append(dict(limits[0]))
    c["process"]["rlimits"] = limits


def environment(rng, c):
    env = list(c["process"]["env"])
    env += some(rng, ["HOME=/somewhere", "HOME=", "EMPTY=", "A=1", "A=2", "LONG=" + "x" * 3000, "SPACES=a b  c",
                      "PATH=/bin", "TERM=xterm", "UNICODE=ä€", "EQUALS=a=b=c", "HOSTNAME=other"], 5)
    shape = rng.random()
    if shape < 0.1:
        env = [x for x in env if not x.startswith("PATH=")]
    c["process"]["env"] = env


def working_directory(rng, c):
    c["process"]["cwd"] = rng.choice(["/tmp", "/etc/", "/new/folder", "/link", "/etc/plain", "/proc/sys", "/mnt/../tmp",
                                      "/locked", "relative", "/dangling", "/sys"])


def program(rng, c):
    c["process"]["args"] = rng.choice([
        ["sh", "-c", "exit 3"], ["true"], ["false"], ["/bin/sh", "-c", "kill -9 $$"], ["sh", "-c", "kill -TERM $$; sleep 1; exit 9"],
        ["missing"], ["/missing"], ["/etc/plain"], ["/etc"], ["/bin/script", "a", "b"], ["script", "", "x"], ["/bin/bad"],
        ["./bin/true"], ["bin/true"], ["/bin/broken"], ["sh", "-c", "echo out; echo err >&2; exit 200"], ["/link-true"],
        ["/locked/true"], ["", "x"]])


TMPFS_OPTIONS = ["ro", "rw", "nosuid", "nodev", "noexec", "noatime", "relatime", "strictatime", "nodiratime", "size=64k",
                 "mode=0700", "mode=1777", "sync", "dirsync", "nr_inodes=64", "uid=7", "gid=8", "suid", "exec", "dev"]
BIND_OPTIONS = ["ro", "rw", "nosuid", "nodev", "noexec", "noatime", "relatime", "nodiratime", "suid", "exec", "dev", "rro", "rnosuid",
                "rnodev", "defaults"]
# one of them at most: runc and crun differ in what several mean
PROPAGATION = ["private", "rprivate", "shared", "rshared", "slave", "rslave", "unbindable", "runbindable"]
PLACES = ["/mnt/a", "/mnt/b/c/d", "/mnt", "/tmp", "/etc/plain", "/link", "/mnt/../mnt/e", "/dangling", "/tmp/deep/er", "/etc/folder",
          "/absolute-link/sub", "mnt/relative"]


def propagation(rng):
    return [rng.choice(PROPAGATION)] if rng.random() < 0.4 else []


def mount_tmpfs(rng):
    return {"destination": rng.choice([p for p in PLACES if p != "/etc/plain"]), "type": "tmpfs", "source": rng.choice(["tmpfs", "none", "shm"]),
            "options": some(rng, TMPFS_OPTIONS, 5) + propagation(rng) + (["tmpcopyup"] if rng.random() < 0.15 else [])}


def mount_bind(rng):
    shape = rng.random()
    source = rng.choice(["BUNDLE/volume", "BUNDLE/volume/sub", "BUNDLE/volume-link", "volume", "BUNDLE/missing"])
    place = rng.choice([p for p in PLACES if p != "/etc/plain"])
    if shape < 0.3:
        source, place = "BUNDLE/volume/file", rng.choice(["/etc/plain", "/mnt/new-file", "/etc/made/by/mount", "/file-link"])
    kind = rng.choice(["bind", "bind", "none", None])
    mount = {"destination": place, "source": source,
             "options": [rng.choice(["bind", "rbind"])] + some(rng, BIND_OPTIONS, 4) + propagation(rng)}
    if kind:
        mount["type"] = kind
    return mount


def mount_other(rng):
    return rng.choice([
        {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup",
         "options": ["nosuid", "noexec", "nodev", "relatime", rng.choice(["ro", "rw"])]},
        {"destination": "/proc2", "type": "proc", "source": "proc", "options": some(rng, ["ro", "nosuid", "hidepid=2", "noexec"], 3)},
        {"destination": "/mnt/mq", "type": "mqueue", "source": "mqueue", "options": ["nosuid", "noexec"]},
        {"destination": "/mnt/pts", "type": "devpts", "source": "devpts",
         "options": ["newinstance", "gid=5", "mode=0600", rng.choice(["ro", "noexec"])]},
        {"destination": "/tmp", "type": "bind", "source": "BUNDLE/volume", "options": ["bind", "remount", "ro"]},
        {"destination": "/mnt/x", "type": "nosuchfs", "source": "x"},
        {"destination": "/mnt/x", "type": "tmpfs", "source": "tmpfs", "options": ["nonsense=1"]},
    ])


def mounts(rng, c):
    for _ in range(rng.randint(1, 4)):
        c["mounts"].append(rng.choice([mount_tmpfs, mount_bind, mount_bind, mount_other])(rng))


def base_mounts(rng, c):
    for name in some(rng, ["/dev/shm", "/dev/mqueue", "/sys", "/dev/pts"], 2):
        c["mounts"] = [m for m in c["mounts"] if m["destination"] != name]
    if rng.random() < 0.3:
        c["mounts"][1]["options"] = rng.choice([["nosuid", "ro"], ["nosuid", "noexec", "mode=750"], []])
    if rng.random() < 0.15:
        c["mounts"] = [m for m in c["mounts"] if not m["destination"].startswith("/dev")]


def devices(rng, c):
    nodes, rules = [], c["linux"]["resources"]["devices"]
    for path in some(rng, ["/dev/own-null", "/dev/folder/zero", "/nodes/random", "/dev/own-pipe", "/dev/full", "/dev/loop77"], 4):
        kind, major, minor = {"/dev/own-pipe": ("p", 0, 0), "/dev/loop77": ("b", 7, 77), "/dev/folder/zero": ("c", 1, 5),
                              "/nodes/random": ("u", 1, 8), "/dev/full": ("c", 1, 7)}.get(path, ("c", 1, 3))
        node = {"path": path, "type": kind}
        if kind != "p":
            node.update(major=major, minor=minor)
        if rng.random() < 0.7:
            node["fileMode"] = rng.choice([0o666, 0o600, 0o640, 0o444, 0o7777 & 0o1666])
        if rng.random() < 0.5:
            node.update(uid=rng.choice([0, 5, 1000]), gid=rng.choice([0, 6]))
        nodes.append(node)
        if kind != "p" and rng.random() < 0.7:
            rules.append({"allow": True, "type": "b" if kind == "b" else "c", "major": major, "minor": minor,
                          "access": rng.choice(["rwm", "rw", "r", "m", "w"])})
    if rng.random() < 0.3:
        rules.append({"allow": rng.random() < 0.5, "type": "c", "major": rng.choice([1, 5, 10]), "access": rng.choice(["rwm", "w"])})
    c["linux"]["devices"] = nodes


def namespaces(rng, c):
    spaces = c["linux"]["namespaces"]
    for kind in some(rng, ["network", "ipc", "uts", "pid"], 2):
        spaces = [s for s in spaces if s["type"] != kind]
        shape = rng.random()
        if shape < 0.3 and kind != "pid":
            spaces.append({"type": kind, "path": "/proc/HELPER/ns/" + {"network": "net"}.get(kind, kind)})
        elif shape < 0.35:
            spaces.append({"type": kind, "path": "/missing"})
        if kind == "uts" and not any(s["type"] == "uts" for s in spaces):
            c.pop("hostname")
    if rng.random() < 0.4:
        spaces.append({"type": "cgroup"})
    if rng.random() < 0.05:
        spaces.append({"type": "mount"})
    c["linux"]["namespaces"] = spaces


def user_namespace(rng, c):
    size = rng.choice([1000, 65536])
    c["linux"]["namespaces"].append({"type": "user"})
    maps = [{"containerID": 0, "hostID": 200000, "size": size}]
    c["linux"]["uidMappings"] = maps
    c["linux"]["gidMappings"] = copy.deepcopy(maps)
    if rng.random() < 0.5:
        c["process"]["user"] = {"uid": rng.choice([0, 1, 999]), "gid": rng.choice([0, 1])}


def resources(rng, c):
    r = c["linux"]["resources"]
    if rng.random() < 0.7:
        limit = rng.choice([16, 64, 512]) << 20
        r["memory"] = {"limit": limit}
        if rng.random() < 0.5:
            r["memory"]["reservation"] = limit // 2
        if rng.random() < 0.4:
            r["memory"]["swap"] = limit * rng.choice([1, 2])
        if rng.random() < 0.3:
            r["memory"]["swappiness"] = rng.choice([0, 10, 100])
        if rng.random() < 0.1:
            r["memory"]["disableOOMKiller"] = True
        if rng.random() < 0.1:
            r["memory"]["limit"] = -1
    if rng.random() < 0.6:
        r["pids"] = {"limit": rng.choice([64, 1000, 1000, -1] if rng.random() < 0.2 else [64, 1000])}
    if rng.random() < 0.6:
        r["cpu"] = {k: v for k, v in (("shares", rng.choice([2, 512, 2048])), ("quota", rng.choice([50000, 100000, -1])),
                                      ("period", rng.choice([50000, 100000])), ("cpus", rng.choice(["0", "0-1"])),
                                      ("mems", "0")) if rng.random() < 0.6}
    if rng.random() < 0.05:
        r["pids"] = {"limit": 0}


def hooks(rng, c):
    chosen = {}
    for kind in some(rng, ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"], 4):
        log = "/hook-log" if kind == "startContainer" else "BUNDLE/hook-log"
        chosen[kind] = []
        for n in range(rng.randint(1, 2)):
            code = 1 if rng.random() < 0.06 else 0
            hook = {"path": "/bin/sh", "args": ["sh", "-c", f"cat >/dev/null; echo {kind} {n} $VALUE >>{log}; exit {code}"]}
            if rng.random() < 0.5:
                hook["env"] = ["VALUE=given", "PATH=/bin:/usr/bin"]
            chosen[kind].append(hook)
    c["hooks"] = chosen


def paths(rng, c):
    names = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/acpi", "/sys/firmware", "/etc/plain", "/etc/folder", "/missing",
             "/link", "/tmp", "/proc/asound"]
    readonly = ["/proc/sys", "/proc/irq", "/proc/bus", "/proc/sysrq-trigger", "/etc", "/etc/folder", "/missing/too", "/tmp", "/file-link"]
    if rng.random() < 0.8:
        c["linux"]["maskedPaths"] = some(rng, names, 6)
    if rng.random() < 0.8:
        c["linux"]["readonlyPaths"] = some(rng, readonly, 5)
    if rng.random() < 0.1:
        c["linux"].setdefault("maskedPaths", []).append("/proc/kcore")
    if rng.random() < 0.05:
        c["linux"]["maskedPaths"] = ["relative"]


def sysctls(rng, c):
    c["linux"]["sysctl"] = dict(some(rng, [
        ("net.ipv4.ip_forward", "1"), ("net.core.somaxconn", "77"), ("kernel.msgmax", "4444"), ("kernel.shm_rmid_forced", "1"),
        ("fs.mqueue.msg_max", "33"), ("kernel.sem", "100 3200 10 100"), ("net.ipv4.ping_group_range", "0 100"),
        ("net/ipv4/tcp_syncookies", "0")], 4))
    shape = rng.random()
    if shape < 0.06:
        c["linux"]["sysctl"][rng.choice(["vm.swappiness", "kernel.core_pattern", "net.no.such"])] = "1"


def odd_values(rng, c):
    p, choice = c["process"], rng.randint(0, 7)
    if choice == 0:
        p["oomScoreAdj"] = rng.choice([0, 100, 1000, 1001, -1000])
    elif choice == 1:
        p["noNewPrivileges"] = True
    elif choice == 2:
        c["root"]["readonly"] = True
    elif choice == 3:
        c["linux"]["rootfsPropagation"] = rng.choice(["private", "rprivate", "slave", "rslave", "shared", "rshared", "wrong"])
    elif choice == 4:
        c["annotations"] = {"org.example.a": "b/c", "empty": ""}
    elif choice == 5:
        c["hostname"] = rng.choice(["a.long.name.example", "x" * 64, "", "x" * 65])
    elif choice == 6:
        c["root"]["path"] = rng.choice(["BUNDLE/rootfs", "./rootfs", "rootfs-link", "missing"])
    else:
        p["user"] = {"uid": 1000, "gid": 1000}
        p["noNewPrivileges"] = True


def seccomp(rng, c):
    action = rng.choice(["SCMP_ACT_ERRNO", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_LOG", "SCMP_ACT_ALLOW"])
    rule = {"names": ["fchmodat", "chmod", "no_such_call"], "action": action}
    if action == "SCMP_ACT_ERRNO" and rng.random() < 0.6:
        rule["errnoRet"] = rng.choice([1, 2, 38])
    c["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}
    if rng.random() < 0.5:
        c["linux"]["seccomp"]["architectures"] = rng.choice([["SCMP_ARCH_X86_64"], ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]])


FEATURES = [user, capabilities, rlimits, environment, working_directory, program, mounts, mounts, base_mounts, devices, namespaces,
            user_namespace, resources, resources, hooks, paths, sysctls, odd_values, odd_values, seccomp]


def generate(seed, number):
    """Returns the configuration, the names of its features and how it is run: run, create or exec."""
    rng = random.Random(f"{seed}/{number}")
    config = copy.deepcopy(BASE)
    names = []
    for feature in rng.sample(FEATURES, rng.randint(1, 4)):
        if feature.__name__ not in names:
            feature(rng, config)
            names.append(feature.__name__)
    mode = rng.choice(["run", "create", "create", "exec"])
    if "program" in names and mode == "exec":
        mode = "run"
    return config, names, mode
