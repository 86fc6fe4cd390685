"""Runs one bundle under one runtime and tells what was seen, as a dictionary of lines that can be compared.

Paths, ids, namespaces and numbers that differ from run to run are replaced by words.
"""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time

LIMIT = 60  # seconds for one call; a busy machine is no difference
PR_SET_CHILD_SUBREAPER = 36
CGROUP_FILES = {
    "memory": ["memory.limit_in_bytes", "memory.soft_limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.swappiness", "memory.oom_control"],
    "pids": ["pids.max"],
    "cpu": ["cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us"],
    "cpuset": ["cpuset.cpus", "cpuset.mems"],
    "devices": ["devices.list"],
    "freezer": ["freezer.state"],
    "blkio": [], "systemd": [], "cpuacct": [],
}
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")


def become_subreaper():
    """So that a container's first process becomes our child when the runtime has ended."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError("prctl(PR_SET_CHILD_SUBREAPER)")


class Runtime:
    def __init__(self, name, command, work, helper):
        self.name, self.command, self.work, self.helper = name, command, os.path.join(work, name), helper
        self.spaces = {os.readlink(f"/proc/{pid}/ns/{n}"): word
                       for pid, word in ((helper, "HELPER"), ("self", "HOST")) for n in NAMESPACES}

    def observe(self, config, mode, exec_flags, rootfs):
        return Observation(self, config, mode, exec_flags, rootfs).result()


class Observation:
    def __init__(self, runtime, config, mode, exec_flags, rootfs):
        self.runtime, self.mode, self.exec_flags = runtime, mode, exec_flags
        self.bundle = os.path.join(runtime.work, "bundle")
        self.id = f"differential-{os.getpid()}"
        self.cgroup = f"{os.environ['MACHINE_CGROUP']}/{runtime.name}-{self.id}"
        self.seen = {}
        self.prepare(config, rootfs)

    def prepare(self, config, rootfs):
        shutil.rmtree(self.runtime.work, ignore_errors=True)
        os.makedirs(self.bundle)
        os.chmod(self.runtime.work, 0o755)
        subprocess.run(["cp", "-a", rootfs, self.bundle + "/rootfs"], check=True)
        subprocess.run(["cp", "-a", os.path.dirname(rootfs) + "/volume", self.bundle + "/volume"], check=True)
        os.symlink("volume", self.bundle + "/volume-link")
        os.symlink("rootfs", self.bundle + "/rootfs-link")
        open(self.runtime.work + "/input", "w").close()
        open(self.bundle + "/hook-log", "w").close()
        os.chmod(self.bundle + "/hook-log", 0o666)
        text = json.dumps(config).replace("BUNDLE", self.bundle).replace("HELPER", str(self.runtime.helper))
        config = json.loads(text)
        config["linux"]["cgroupsPath"] = self.cgroup
        if self.mode == "exec":
            config["process"]["args"] = ["/bin/sleep", "1000"]
        shift = next((m["hostID"] for m in config["linux"].get("uidMappings", [])), 0)
        if shift:
            subprocess.run(["chown", "-hR", f"{shift}:{shift}", self.bundle + "/rootfs", self.bundle + "/volume"], check=True)
        with open(self.bundle + "/config.json", "w") as f:
            json.dump(config, f)
        self.config = config

    def call(self, *arguments, stdout=subprocess.DEVNULL):
        command = self.runtime.command + ["--root", self.runtime.work + "/root"] + list(arguments)
        # not /dev/null as standard input: the peers give what they find there to the container's user, which is then the host's device
        with open(self.runtime.work + "/errors", "a") as errors, open(self.runtime.work + "/input") as empty:
            try:
                return subprocess.run(command, stdin=empty, stdout=stdout, stderr=errors, timeout=LIMIT, cwd=self.bundle).returncode
            except subprocess.TimeoutExpired:
                return "hangs"

    def output_of(self, *arguments):
        path = self.runtime.work + "/output"
        with open(path, "wb") as f:
            code = self.call(*arguments, stdout=f)
        with open(path, errors="replace") as f:
            return code, f.read()

    def result(self):
        try:
            if self.mode == "run":
                code, text = self.output_of("run", "--bundle", self.bundle, self.id)
                self.seen["run: exit code"] = str(code)
                self.inside(text)
            else:
                self.in_steps()
            self.afterwards()
        finally:
            self.call("delete", "--force", self.id)
            self.sweep()
        return self.seen

    def sweep(self):
        """Cgroups that a peer left after a failure, and the plain folders that crun makes where cgroup2 is hidden."""
        shutil.rmtree(f"/sys/fs/cgroup/unified{self.cgroup}", ignore_errors=True)
        for top in os.listdir("/sys/fs/cgroup"):
            for folder, _, _ in os.walk(f"/sys/fs/cgroup/{top}{self.cgroup}", topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass
        try:
            os.rmdir(f"/sys/fs/cgroup/unified{os.path.dirname(self.cgroup)}")
        except OSError:
            pass

    def in_steps(self):
        pid_file = self.runtime.work + "/pid"
        path = self.runtime.work + "/container-output"
        with open(path, "wb") as f:
            code = self.call("create", "--bundle", self.bundle, "--pid-file", pid_file, self.id, stdout=f)
        self.seen["create: fails"] = str(code != 0)
        if code != 0:
            return
        with open(pid_file) as f:
            pid = int(f.read())
        self.outside("created", pid)
        code = self.call("start", self.id)
        self.seen["start: fails"] = str(code != 0)
        if self.mode == "exec" and code == 0:
            code, text = self.output_of("exec", *self.exec_flags, self.id, "/bin/sh", "/probe")
            self.seen["exec: exit code"] = str(code)
            self.inside(text)
            self.call("kill", self.id, "KILL")
        self.seen["init: exit"] = self.reap(pid)
        if self.mode != "exec":
            with open(path, errors="replace") as f:
                self.inside(f.read())
        self.seen["stopped: state"] = self.state()
        self.seen["delete: fails"] = str(self.call("delete", self.id) != 0)

    def reap(self, pid):
        """Waits for the container's first process, which is our child by now."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                got, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                return "not ours to wait for"
            if got:
                return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"code {os.WEXITSTATUS(status)}"
            time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)
        return "never ends"

    def state(self):
        code, text = self.output_of("state", self.id)
        if code != 0:
            return "no state"
        state = json.loads(text)
        return self.words(f"{state['status']} {state['bundle']} {sorted((state.get('annotations') or {}).items())}")

    def outside(self, when, pid):
        self.seen[f"{when}: state"] = self.state()
        for name in NAMESPACES:
            self.seen[f"{when}: namespace {name}"] = self.space(os.readlink(f"/proc/{pid}/ns/{name}"))
        for controller, files in CGROUP_FILES.items():
            folder = f"/sys/fs/cgroup/{controller}"
            if not os.path.isdir(folder):
                continue
            self.seen[f"{when}: cgroup {controller}"] = str(os.path.isdir(folder + self.cgroup))
            for name in files:
                try:
                    with open(folder + self.cgroup + "/" + name) as f:
                        lines = sorted(f.read().split("\n"))
                except OSError as e:
                    lines = [e.strerror]
                lines = [line for line in lines if line and not line.startswith(("oom_kill ", "under_oom"))]
                if name == "devices.list":
                    for line in lines:
                        node, _, access = line.rpartition(" ")
                        self.seen[f"{when}: {name} {node}"] = access
                else:
                    self.seen[f"{when}: {name}"] = " ; ".join(lines)

    def words(self, text):
        text = text.replace(self.bundle, "BUNDLE").replace(self.cgroup, "CGROUP").replace(self.id, "ID")
        return text.replace(self.runtime.work, "WORK").replace(os.path.dirname(self.runtime.work), "TOP")

    def space(self, link):
        return self.runtime.spaces.get(link, "OWN")

    def inside(self, text):
        section, sections = "before", {}
        for line in self.words(text).split("\n"):
            if line.startswith("@"):
                section = line[1:]
                sections[section] = []
            elif line:
                sections.setdefault(section, []).append(line)
        for name, lines in sections.items():
            getattr(self, "take_" + name, lambda lines, name=name: self.take(name, lines))(lines)
        self.seen["sections"] = " ".join(sections)

    def take(self, name, lines):
        """Each line under its first word (or its first two where those are a verb and a path)."""
        for line in lines:
            parts = line.split(" ", 2 if re.match(r"(read|write|list|append) /", line) else 1)
            key = f"{name}: {' '.join(parts[:-1]) if len(parts) > 1 else line}"
            value = parts[-1] if len(parts) > 1 else ""
            self.seen[key] = self.seen[key] + " | " + value if key in self.seen else value

    def take_environment(self, lines):
        self.seen["environment"] = " ".join(sorted(lines))

    def take_status(self, lines):
        for line in lines:
            key, value = line.split(":", 1)
            if key == "NSpid":
                value = str(len(value.split()))
            if key.startswith("Sig"):
                # the two of glibc's own: posix_spawn(3), as of make, leaves them ignored, and not all runtimes undo that
                value = f"{int(value, 16) & ~0x180000000:016x}"
            self.seen["status: " + key] = " ".join(sorted(value.split()) if key == "Groups" else value.split())

    def take_limits(self, lines):
        for line in lines[1:]:
            self.seen["limits: " + line[:26].strip()] = " ".join(line[26:].split())

    def take_values(self, lines):
        for line in lines:
            key, _, value = line.partition(" ")
            if key == "stat":
                value = " ".join(x if x in ("0", "1", "-1", "20") else "N" for x in value.split())
            self.seen["values: " + key] = value

    def take_cgroup(self, lines):
        self.seen["cgroup"] = " ".join(sorted(line.split(":", 1)[1] for line in lines))

    def take_namespaces(self, lines):
        for line in lines:
            name, _, link = line.partition(" ")
            self.seen["namespaces: " + name] = self.space(link)

    def take_descriptors(self, lines):
        self.seen["descriptors"] = " ".join(re.sub(r"\d+\]", "N]", line) for line in lines)

    def take_maps(self, lines):
        self.seen["maps"] = " ; ".join(" ".join(line.split()) for line in lines)

    def take_mounts(self, lines):
        points = {}
        for line in lines:
            left, _, right = line.partition(" - ")
            _, _, _, root, point, options, *tags = left.split()
            kind, source, data = (right.split(" ") + ["", ""])[:3]
            tags = " ".join(sorted({tag.split(":")[0] for tag in tags} - {"propagate_from"})) or "private"
            data = ",".join(x for x in data.split(",") if not x.startswith(("inode64", "inode32")))
            points.setdefault(point, []).append(f"{root} {options} {tags} {kind} {source} {data}")
        for point, values in points.items():
            self.seen["mount " + point] = " | ".join(values)

    def afterwards(self):
        with open(self.bundle + "/hook-log") as f:
            self.seen["hooks"] = self.words(f.read()).replace("\n", " ; ")
        # what became of the root filesystem: mount points are made, with certain modes
        for folder, names, files in os.walk(self.bundle + "/rootfs"):
            for name in names + files:
                path = os.path.join(folder, name)
                if "/rootfs/bin/" in path or path.endswith("/tmp/dd"):
                    continue
                st = os.lstat(path)
                self.seen["left: " + path[len(self.bundle):]] = f"{st.st_mode:o} {st.st_uid}:{st.st_gid}"
        for controller in CGROUP_FILES:
            if os.path.isdir(f"/sys/fs/cgroup/{controller}{self.cgroup}"):
                self.seen[f"left: cgroup {controller}"] = "there"
