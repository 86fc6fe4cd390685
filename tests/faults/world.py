"""A bundle, a policy and the commands of one container's life, and what must be true of it at any time.

Everything that is looked at is read from the kernel: what a process of the container may do is compared,
field by field, with the same container in an undisturbed life.
"""
import ctypes
import fcntl
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import time

HIERARCHIES = "/sys/fs/cgroup"
LIMIT_FILES = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "pids.max", "cpu.cfs_quota_us", "cpu.shares",
               "cpuset.cpus", "devices.list", "blkio.weight", "memory.max", "memory.swap.max", "cpu.max", "cpu.weight",
               "cpuset.cpus.effective", "memory.oom.group")
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "uts", "user", "time")
RESIDENT = ("agentrun-superv", "agentrun-monito")
BPF_PROG_QUERY, SYS_BPF = 16, 321
BPF_ATTACH_TYPES = 64


class Broken(Exception):
    """A promise that was not kept."""


def slurp(path, default=""):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return default


def attached(path):
    """How many BPF programs of each kind stand on a cgroup."""
    libc = ctypes.CDLL(None, use_errno=True)
    counts = {}
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return counts
    for kind in range(BPF_ATTACH_TYPES):
        attr = ctypes.create_string_buffer(struct.pack("IIIIQI", fd, kind, 0, 0, 0, 0), 64)
        if libc.syscall(SYS_BPF, BPF_PROG_QUERY, attr, 64) == 0:
            n = struct.unpack_from("I", attr, 24)[0]
            if n:
                counts[kind] = n
    os.close(fd)
    return counts


class Command:
    """One call of the runtime below an injector, which goes on for what the call leaves running."""

    def __init__(self, process, status, output):
        self.process, self.status, self.output = process, status, output
        self.code, self.struck, self.text, self.seen = None, None, b"", b""

    def _take(self, fd):
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return True
        if fd == self.status:
            self.seen += data
        else:
            self.text += data
        return bool(data)

    def wait(self, seconds):
        """Until the command has ended; its output may go on."""
        end = time.monotonic() + seconds
        while b"ended " not in self.seen:
            left = end - time.monotonic()
            if left <= 0:
                return False
            for fd in select.select([self.status, self.output], [], [], min(left, 0.1))[0]:
                if not self._take(fd) and fd == self.status:
                    raise Broken("the injector itself ended: %r" % self.seen)
        for line in self.seen.decode(errors="replace").splitlines():
            if line.startswith("struck "):
                self.struck = line[7:]
            if line.startswith("ended "):
                self.code = int(line[6:])
        while select.select([self.output], [], [], 0)[0] and self._take(self.output):
            pass
        return True

    def gone(self, seconds):
        """Whether all that was ever forked by it has ended, and nobody holds its output."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            for fd in select.select([self.output, self.status], [], [], 0.01)[0]:
                self._take(fd)
            time.sleep(0.003)
        while self.process.poll() is not None and self._take(self.status) and select.select([self.status], [], [], 0)[0]:
            pass
        if self.process.poll() is None:
            return False
        while time.monotonic() < end:
            if select.select([self.output], [], [], 0.1)[0] and not self._take(self.output):
                return True
        return False

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.status)
        os.close(self.output)


class World:
    plain = False  # the injector has no listener: the runtime's own is what is tested

    def __init__(self, agentrun, inject, folder, cgroup, profiles):
        self.agentrun, self.inject, self.folder, self.cgroup = agentrun, inject, folder, cgroup
        self.root, self.bundle = folder + "/root", folder + "/bundle"
        self.commands, self.number, self.log = [], 0, folder + "/log"
        self._make_bundle()
        self.policy = folder + "/policy.json"
        self._make_policy(profiles)

    def _make_bundle(self):
        rootfs = self.bundle + "/rootfs"
        for name in ("bin", "etc", "proc", "sys", "dev", "tmp", "data"):
            os.makedirs(rootfs + "/" + name)
        shutil.copy(shutil.which("busybox"), rootfs + "/bin/busybox")
        for name in ("sh", "sleep", "cat", "true", "grep", "ls"):
            os.symlink("busybox", rootfs + "/bin/" + name)
        os.makedirs(self.folder + "/source")
        subprocess.run([self.agentrun, "spec", "--bundle", self.bundle], check=True)
        with open(self.bundle + "/config.json") as f:
            self.spec = json.load(f)
        self.spec["process"]["terminal"] = False
        self.spec["root"]["readonly"] = False
        self.spec["process"]["args"] = ["sh", "-c", "echo up; exec sleep 1000"]
        self.spec["mounts"].append({"destination": "/data", "type": "bind", "source": self.folder + "/source",
                                    "options": ["rbind", "ro"]})

    def _make_policy(self, profiles):
        # A process has one listener for its filters' notifications, and ours is there already.
        silent = self.folder + "/silent.json"
        source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../seccomp-profiles/agent-default.json")
        with open(source) as f:
            profile = json.load(f)
        profile["silent"] = True
        with open(silent, "w") as f:
            json.dump(profile, f)
        profiles["default"] = {"seccomp": {"profile": silent}, "audit": {"accept": ["none"]}, **profiles.get("default", {})}
        with open(self.policy, "w") as f:
            json.dump({"version": 1, "profiles": profiles}, f)
        os.chmod(silent, 0o600)
        os.chmod(self.policy, 0o600)

    # -- one container ----------------------------------------------------------

    def begin(self, edit=None):
        self.number += 1
        self.id = "f%d" % self.number
        self.commands = []
        spec = json.loads(json.dumps(self.spec))
        spec["linux"]["cgroupsPath"] = "%s/%s" % (self.cgroup, self.id)
        if edit:
            edit(spec)
        with open(self.bundle + "/config.json", "w") as f:
            json.dump(spec, f)

    def call(self, *args, fault=None, flags=(), trace=None, seconds=90):
        """A call of the runtime; fault "ROLE:SYSCALL:N:ERRNO" or None: nothing fails."""
        status, theirs = os.pipe()
        output, out = os.pipe()
        for fd in (status, output):
            fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
        argv = [self.inject, "--status", str(theirs)]
        if trace:
            argv += ["--trace", trace]
        else:
            # a filter of the same kind in every life, so that their number is the same
            argv += ["--plain"] if self.plain else []
            argv += ["--fault", fault or "any:getpriority:%d:EIO" % (0 if self.plain else 1000000)]
        argv += [self.agentrun, "--policy", self.policy, "--root", self.root, "--log", self.log, "--log-format", "json"]
        open(self.log, "w").close()
        p = subprocess.Popen(argv + list(flags) + list(args), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                             pass_fds=(theirs,), start_new_session=True)
        os.close(theirs)
        os.close(out)
        c = Command(p, status, output)
        self.commands.append(c)
        c.name = args[0]
        if not c.wait(seconds):
            raise Broken("%s does not end; it said: %r" % (args[0], c.text[-300:]))
        return c

    def folders(self):
        found = []
        for top in [HIERARCHIES] + [HIERARCHIES + "/" + n for n in sorted(os.listdir(HIERARCHIES))]:
            path = "%s%s/%s" % (top, self.cgroup, self.id)
            if os.path.isdir(path):
                found.append((top[len(HIERARCHIES):], path))
        return found

    def processes(self):
        pids = set()
        for _, path in self.folders():
            for here, _, _ in os.walk(path):
                pids |= set(slurp(here + "/cgroup.procs").split())
        return sorted(int(p) for p in pids if p != "0")

    def _mask(self, text):
        return text.replace(self.folder, "F").replace(self.cgroup, "C").replace("/" + self.id, "/ID")

    def facts_of(self, pid):
        """What one process of the container may do."""
        at = "/proc/%d/" % pid
        fields = dict(line.split(":\t", 1) for line in slurp(at + "status").splitlines() if ":\t" in line)
        facts = {k: fields.get(k, "").strip() for k in
                 ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp",
                  "Seccomp_filters", "Umask", "SigBlk", "SigIgn")}
        mounts = []
        for line in slurp(at + "mountinfo").splitlines():
            left, right = line.split(" - ")
            left = left.split()
            if left[3] in ("/null", "/urandom", "/zero", "/full", "/random", "/tty"):
                # a mask or a node: the container's own, or the host's when that cannot be proved or made
                mounts.append("%s over %s" % (left[3], left[4]))
                continue
            mounts.append(self._mask(" ".join([left[3], left[4], left[5]] + left[6:] + right.split()[:1])))
        mounts = [m for m in mounts if not re.match(r"/(\w+) over /dev/\1$", m)]
        facts["mounts"] = re.sub(r"(master|shared):\d+", r"\1", "\n".join(sorted(mounts)))
        facts["limits"] = slurp(at + "limits")
        facts["oom_score_adj"] = slurp(at + "oom_score_adj")
        facts["environ"] = self._mask(slurp(at + "environ"))
        facts["cgroup"] = re.sub(r"/\.?exec-?[^/\n]*", "/EXEC", self._mask(slurp(at + "cgroup")))
        facts["namespaces"] = ",".join(n for n in NAMESPACES if self._link(at + "ns/" + n) != self._link("/proc/self/ns/" + n))
        try:
            facts["descriptors"] = " ".join(sorted(os.listdir(at + "fd"), key=int))
        except OSError:
            facts["descriptors"] = ""
        return facts

    @staticmethod
    def _link(path):
        try:
            return os.readlink(path)
        except OSError:
            return ""

    def limits(self):
        found = {}
        for name, path in self.folders():
            for f in LIMIT_FILES:
                if os.path.exists(path + "/" + f):
                    found[name + "/" + f] = slurp(path + "/" + f)
            bpf = attached(path)
            if bpf:
                found[name + "/bpf"] = str(sorted(bpf.items()))
        return found

    def strangers(self):
        """The container's processes that have left our hands: pid -> facts."""
        found = {}
        for pid in self.processes():
            name = slurp("/proc/%d/comm" % pid).strip()
            # a program that execveat() could not start is named by its descriptor
            if name in ("agentrun", "memfd:agentrun", "inject", "") or name.isdigit() or slurp("/proc/%d/stat" % pid).rpartition(")")[2][1:2] in ("Z", "X"):
                continue
            facts = self.facts_of(pid)
            if slurp("/proc/%d/comm" % pid).strip() == name and facts["Uid"]:
                found[pid] = (name, facts)
        return found

    def record(self):
        try:
            return json.loads(slurp("%s/%s/state.json" % (self.root, self.id)))
        except ValueError:
            return {}
