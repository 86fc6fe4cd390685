"""Lives of containers: the commands, what is looked at after each, and what must be gone at the end."""
import os
import re
import socket
import threading
import time

from world import RESIDENT, Broken, slurp

STATUS = r"^(Cap|NoNew|Seccomp|Uid|Gid|Groups)"
WITNESS = "grep -E '%s' /proc/self/status; cat /proc/self/cgroup; exit 7" % STATUS
END_SECONDS = 60


def full(world):
    i = world.id
    return [("create", ["create", "--bundle", world.bundle, i]), ("start", ["start", i]),
            ("exec", ["exec", i, "sh", "-c", WITNESS]), ("execd", ["exec", "--detach", i, "sleep", "900"]),
            ("update", ["update", "--pids-limit", "100", "--memory", "1000000000", i]),
            ("pause", ["pause", i]), ("resume", ["resume", i]), ("ps", ["ps", i]), ("state", ["state", i]),
            ("kill", ["kill", i, "KILL"]), ("delete", ["delete", i])]


def denied(world):
    """Calls that the profile denies are answered by the monitor."""
    i = world.id
    return [("create", ["create", "--bundle", world.bundle, i]), ("start", ["start", i]),
            ("exec", ["exec", i, "sh", "-c", "busybox unshare -m true; " + WITNESS]),
            ("kill", ["kill", i, "KILL"]), ("delete", ["delete", i])]


def is_denied(spec):
    spec["process"]["args"] = ["sh", "-c", "busybox unshare -m true; exec sleep 1000"]


RULES = [{"cidr": "93.184.216.0/24", "ports": [80, 443]}, {"host": "good.test", "ports": [443]},
         {"host": "*.other.test", "ports": [443]}]


def narrowed(world):
    i = world.id
    return [("create", ["create", "--bundle", world.bundle, i]), ("start", ["start", i]),
            ("exec", ["exec", i, "sh", "-c", WITNESS]),
            ("update", ["update", "--egress-allow", "93.184.216.0/24:80,good.test:443", i]),
            ("exec2", ["exec", i, "sh", "-c", WITNESS]),
            ("kill", ["kill", i, "KILL"]), ("delete", ["delete", i])]


def force(world):
    return [("create", ["create", "--bundle", world.bundle, world.id]), ("start", ["start", world.id]),
            ("force", ["delete", "--force", world.id])]


def run(world):
    return [("run", ["run", "--bundle", world.bundle, world.id])]


def detached(world):
    return [("rund", ["run", "--detach", "--bundle", world.bundle, world.id]), ("kill", ["kill", world.id, "KILL"]),
            ("delete", ["delete", world.id])]


def short(spec):
    spec["process"]["args"] = ["sh", "-c", WITNESS]


def bind(source):
    def edit(spec):
        spec["mounts"].append({"destination": "/evil", "type": "bind", "source": source, "options": ["rbind"]})
    return edit


def only_create(world):
    return [("create", ["create", "--bundle", world.bundle, world.id])]


# What they find must not be there for others: in the mount and network namespace of the test alone.
MAPPED = 100000
SOCKETS, LINKED = "/run/lock/sockets", "/run/lock/linked"


def make_socket(_):
    os.makedirs(SOCKETS, exist_ok=True)
    s = socket.socket(socket.AF_UNIX)
    s.bind(SOCKETS + "/control.sock")
    s.listen(1)
    return s


def make_link(_):
    """A second name of an engine's socket."""
    s = socket.socket(socket.AF_UNIX)
    s.bind("/run/docker.sock")
    os.link("/run/docker.sock", LINKED)
    return s


def traversable(world):
    """Root of a user namespace reaches its own root file system."""
    path = world.bundle
    while len(path) > len("/tmp"):
        os.chmod(path, os.stat(path).st_mode | 0o111)
        path = os.path.dirname(path)
    for here, folders, files in os.walk(world.bundle + "/rootfs"):
        for name in [here] + [os.path.join(here, n) for n in folders + files]:
            os.lchown(name, MAPPED, MAPPED)
    return None


def in_user_namespace(spec):
    ids = [{"containerID": 0, "hostID": MAPPED, "size": 65536}]
    spec["linux"]["namespaces"].append({"type": "user"})
    spec["linux"].update(uidMappings=ids, gidMappings=ids)


def with_session(world):
    i = world.id
    return [("create", ["create", "--bundle", world.bundle, i]), ("start", ["start", i]),
            ("exec", ["exec", i, "sh", "-c", "echo changed >/work/file; " + WITNESS]),
            ("snapshot", ["snapshot", i, "one"]), ("diff", ["diff", i]), ("rollback", ["rollback", i, "one"]),
            ("commit", ["commit", i]), ("kill", ["kill", i, "KILL"]), ("delete", ["delete", i])]


def make_work(world):
    os.makedirs(world.folder + "/work")
    os.makedirs(world.bundle + "/rootfs/work", exist_ok=True)


def session_over(spec):
    source = next(m["source"] for m in spec["mounts"] if m["destination"] == "/data")[:-len("source")] + "work"
    with open(source + "/file", "w") as f:
        f.write("as it was\n")
    spec["mounts"].append({"destination": "/work", "type": "bind", "source": source, "options": ["rbind", "rprivate"]})


CONSOLE = "/run/lock/console.sock"


def on_terminal(world):
    i = world.id
    return [("create", ["create", "--bundle", world.bundle, "--console-socket", CONSOLE, i]), ("start", ["start", i]),
            ("execd", ["exec", "--tty", "--detach", "--console-socket", CONSOLE, i, "sleep", "900"]),
            ("kill", ["kill", i, "KILL"]), ("delete", ["delete", i])]


def terminal(spec):
    spec["process"]["terminal"] = True


def serve_console(_):
    """An engine that takes every terminal, reads what it shows, and lets go at its end."""
    s = socket.socket(socket.AF_UNIX)
    s.bind(CONSOLE)
    s.listen(8)

    def drain(fd):
        try:
            while os.read(fd, 4096):
                pass
        except OSError:
            pass
        os.close(fd)

    def serve():
        while True:
            c, _ = s.accept()
            c.settimeout(30)
            try:
                fds = socket.recv_fds(c, 4096, 4)[1]
            except OSError:
                fds = []
            c.close()
            for fd in fds:
                threading.Thread(target=drain, args=(fd,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


HOOKS = ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop")


def with_hooks(spec):
    spec["hooks"] = {stage: [{"path": "/bin/true", "args": ["true", stage], "timeout": 20}] for stage in HOOKS}


def root_is_host(spec):
    spec["root"]["path"] = "/"


def nothing(_):
    return True


LIVES = {
    "refuse-proc": ((only_create, bind("/proc"), nothing), {}, ()),
    "refuse-etc": ((only_create, bind("/etc"), nothing), {}, ()),
    "refuse-socket": ((only_create, bind(SOCKETS), make_socket), {}, ()),
    "refuse-link": ((only_create, bind(LINKED), make_link), {}, ()),
    "refuse-root": ((only_create, root_is_host, nothing), {}, ()),
    "full": ((full, None), {}, ()),
    "force": ((force, None), {}, ()),
    "run": ((run, short), {}, ()),
    "rund": ((detached, None), {}, ()),
    "userns": ((full, in_user_namespace, traversable), {}, ()),
    "hooks": ((full, with_hooks), {}, ()),
    "terminal": ((on_terminal, terminal, serve_console), {}, ()),
    "session": ((with_session, session_over, make_work),
                {"default": {"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB", "inodes": 500}}}}, ()),
    "notify": ((denied, is_denied), {"default": {"seccomp": {"profile": "agent-default"}}}, ()),
    "egress": ((narrowed, None), {"default": {"egress": {"allow": RULES}}}, ()),
}


class Life:
    baseline = None  # what lives leave by design, of all of them
    def __init__(self, world, make, flags):
        self.world, (self.steps, self.edit), self.flags = world, make[:2], flags
        # what the policy refuses must not be let through by a call that fails
        self.refusal = make[2](world) if len(make) > 2 else None
        self.limits, self.witness = {}, {}
        self.facts = {}


    def _begin(self):
        self.world.begin(self.edit)

    # -- undisturbed ------------------------------------------------------------

    def _await_sleep(self):
        """The container's program has reached its last state."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = self.world.strangers()
            if found and all(name in ("sleep", "busybox") for name, _ in found.values()):
                return
            time.sleep(0.005)

    def learn(self):
        """What each step leaves, without any fault; twice, because the first one finds empty caches."""
        for _ in range(2):
            self._begin()
            for name, args in self.steps(self.world):
                c = self.world.call(*args, flags=self.flags)
                expected = 1 if self.refusal else 7 if b"CapBnd" in c.text else 0
                if c.code != expected:
                    raise SystemExit("an undisturbed %s fails: %d %r" % (name, c.code, c.text))
                if name in ("start", "rund", "execd"):
                    self._await_sleep()
                if name in ("kill",):
                    self._settle(30)
                self.limits[name] = self.world.limits()
                self.witness[name] = self._witness_of(c)
                for pid, (comm, facts) in self.world.strangers().items():
                    self.facts["init" if pid == self.world.record().get("pid") else "exec"] = facts
    
            problems = [p for p in self._left() if not p.startswith("files")]
            if problems:
                raise SystemExit("an undisturbed life leaves: %s" % problems)
            Life.baseline = (Life.baseline or set()) | self._places()

    def traced(self, folder):
        self._begin()
        paths = []
        for name, args in self.steps(self.world):
            path = "%s/trace-%s" % (folder, name)
            self.world.call(*args, trace=path, flags=self.flags)
            if name == "kill":
                self._settle(30)
            paths.append((name, path))
        self._left()
        return paths

    # -- what is looked at ------------------------------------------------------

    def _witness_of(self, command):
        lines = [line for line in command.text.decode(errors="replace").splitlines() if re.match(STATUS, line)]
        return "\n".join(lines) if any(line.startswith("CapBnd") for line in lines) else None

    def _settle(self, seconds):
        """Until no process of the container is left, or time is over."""
        end = time.monotonic() + seconds
        while self._lives() and time.monotonic() < end:
            time.sleep(0.005)
        return not self._lives()

    def _lives(self):
        """A process on its way out has left its cgroup a moment before it is dead."""
        pid = self.world.record().get("pid", 0)
        state = slurp("/proc/%d/stat" % pid).rpartition(")")[2][1:2] if pid else ""
        return self.world.processes() or state not in ("", "Z", "X")

    def _watched(self):
        """What runs is watched by both programs."""
        record = self.world.record()
        for key, name in (("supervisorPid", RESIDENT[0]), ("monitorPid", RESIDENT[1])):
            pid = record.get(key, 0)
            if pid and slurp("/proc/%d/comm" % pid).strip() != name:
                return False
        return True

    def _compare_facts(self, step, problems):
        record = self.world.record()
        for pid, (name, facts) in self.world.strangers().items():
            kind = "init" if pid == record.get("pid") else "exec"
            wanted = self.facts.get(kind, {})
            for key in wanted:
                if facts[key] != wanted[key] and facts["Uid"]:
                    problems.append("after %s the %s process (%s) has %s\n%s\ninstead of\n%s"
                                    % (step, kind, name, key, facts[key], wanted[key]))

    def _frozen(self):
        """What is frozen does not run; it dies when it is thawed."""
        return any("FROZEN" in slurp(path + "/freezer.state") or slurp(path + "/cgroup.freeze") == "1\n"
                   for _, path in self.world.folders())

    def _compare_limits(self, step, problems):
        if not self.world.strangers():
            return
        found = self.world.limits()
        known = [v for v in self.limits.values() if v]
        for key in (known[0] if known else {}):
            fewer = key.endswith("devices.list") and set(found.get(key, "*").split("\n")) <= set(known[0][key].split("\n"))
            if found.get(key) not in [v.get(key) for v in known] and not fewer:
                problems.append("after %s %s is %r instead of one of %r"
                                % (step, key, found.get(key), sorted({str(v.get(key)) for v in known})))

    def look(self, step, command, problems):
        witness = self._witness_of(command)
        if witness and witness != self.witness.get(step):
            problems.append("%s ran with\n%s\ninstead of\n%s" % (step, witness, self.witness.get(step)))
        first = []
        self._compare_facts(step, first)
        self._compare_limits(step, first)
        if first and self.world.strangers():
            # It may have been on its way to its end, or to its first instruction.
            time.sleep(0.2)
            self._compare_facts(step, problems)
            self._compare_limits(step, problems)
        if self.world.strangers() and not self._watched() and not self._frozen() and not self._settle(30):
            problems.append("after %s the container runs on without its supervisor or monitor" % step)

    # -- what is left -----------------------------------------------------------

    def _places(self):
        found = set()
        for top in ("/run", self.world.bundle, self.world.folder + "/source", "/var/lib/agentrun"):
            for here, folders, files in os.walk(top):
                # compiled filters stay for the next one, and so do logs with their heads
                if here.startswith(("/run/agentrun/filters", "/run/agentrun/index")):
                    continue
                found |= {os.path.join(here, n) for n in folders + files}
        return found

    def _mounts(self):
        return [m for m in slurp("/proc/self/mountinfo").splitlines() if self.world.folder in m]

    def _left(self):
        w = self.world
        problems = []
        for c in w.commands:
            if not c.gone(END_SECONDS):
                holders = self._descendants()
                problems.append("what %s began has not ended, or its output is still held: %s" % (c.name, holders))
            c.close()
        for name, path in w.folders():
            problems.append("cgroup %s is left, processes %s" % (path, slurp(path + "/cgroup.procs").split()))
        if os.path.isdir(w.root) and os.listdir(w.root):
            problems.append("left in the state folder: %s" % os.listdir(w.root))
        if self._mounts():
            problems.append("mounts are left: %s" % self._mounts())
        if self.baseline is not None:
            new = {p for p in self._places() - self.baseline if not p.startswith(w.root)}
            if new:
                problems.append("files are left: %s" % sorted(new)[:10])
                Life.baseline |= new
        return problems

    @staticmethod
    def _descendants():
        found = []
        for pid in os.listdir("/proc"):
            if pid.isdigit():
                comm = slurp("/proc/%s/comm" % pid).strip()
                if comm not in ("bash", "faults", "python3", "inject", "machine") and int(pid) != os.getpid():
                    found.append("%s %s %s" % (pid, comm, slurp("/proc/%s/wchan" % pid)))
        return found

    # -- disturbed --------------------------------------------------------------

    def disturbed(self, where, fault):
        """(problems, what became of it, what was said)"""
        problems, outcome, said = [], "not reached", ""
        self._begin()
        w = self.world
        hit = None
        deleted = False
        try:
            for name, args in self.steps(w):
                c = w.call(*args, fault=fault if name == where else None, flags=self.flags)
                if name == where:
                    hit = c
                fine = c.code == 0 or (c.code == 7 and self._witness_of(c))
                self.look(name, c, problems)
                if self.refusal:
                    if c.code == 0 or c.code == 7:
                        problems.append("%s was let through" % name)
                    break
                if not fine:
                    text = self._without_output(c)
                    said = "%s: %d: %s" % (name, c.code, text)
                    self._failure(name, c, text, problems, fault)
                    break
                if name == "kill" and not self._settle(30):
                    problems.append("kill succeeded and processes live on: %s" % w.processes())
                deleted = name in ("delete", "force", "run")
            if not deleted:
                c = w.call("delete", "--force", w.id, flags=self.flags)
                if c.code != 0:
                    problems.append("delete --force fails: %d %s" % (c.code, self._without_output(c)))
                    c = w.call("delete", "--force", w.id, flags=self.flags)
                    problems.append("and once more: %d %s" % (c.code, self._without_output(c)))
        except Broken as e:
            problems.append(str(e))
            problems.append("processes: %s" % self._descendants())
            self._emergency()
        problems += self._left()
        if problems:
            self._emergency()
        struck = re.search(r"^struck (.*)", hit.seen.decode(errors="replace") if hit else "", re.M)
        if struck:
            outcome = ("failed at %s" % name if said else "went on") + ": " + struck.group(1)
        return problems, outcome, said

    @staticmethod
    def _without_output(c):
        return " ".join(line for line in c.text.decode(errors="replace").splitlines()
                        if line != "up" and not re.match(STATUS, line) and not re.match(r"\d+:", line)).strip()

    def _failure(self, name, c, text, problems, fault):
        """A command that failed says why, unless it was killed, or stands for a process that was."""
        role, call = fault.split(":")[:2]
        if c.code == 137 and (fault.endswith(":kill") or (name.startswith(("exec", "run")) and role != "parent")):
            return
        # before main() there is only the loader to say something
        if c.code == 127 and (call.startswith("exec") or "loading shared" in text):
            return
        if c.code not in (1, 255 if name.startswith("exec") else 1):
            problems.append("%s ends with %d: %s" % (name, c.code, text))
        if len(text) < 20 or "uccess" in text:
            problems.append("%s fails with %d and says only: %r" % (name, c.code, text))

    def _emergency(self):
        """A broken case must not disturb the next one."""
        for _ in range(50):
            pids = self.world.processes()
            for name, path in self.world.folders():
                if os.path.exists(path + "/freezer.state"):
                    try:
                        with open(path + "/freezer.state", "w") as f:
                            f.write("THAWED")
                    except OSError:
                        pass
            for pid in pids:
                try:
                    os.kill(pid, 9)
                except OSError:
                    pass
            for name, path in self.world.folders():
                for here, _, _ in os.walk(path, topdown=False):
                    try:
                        os.rmdir(here)
                    except OSError:
                        pass
            if not self.world.folders():
                break
            time.sleep(0.05)
        root = "%s/%s" % (self.world.root, self.world.id)
        for here, folders, files in os.walk(root, topdown=False):
            for n in files:
                os.unlink(os.path.join(here, n))
            os.rmdir(here)
