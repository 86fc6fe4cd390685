"""One qemu process."""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from .channel import Channel, ChannelLost

QEMU = "qemu-system-x86_64"
MEMORY = "2G"
BOOT_SECONDS = 900
RESTORE_SECONDS = 120

# The devices of a snapshot cannot change: every machine has the same three shares.
SHARES = {"source": "ro", "build": "ro", "logs": "rw"}

KERNEL = (
    "console=hvc0 root=/dev/vda rw quiet loglevel=3 net.ifnames=0 raid=noautodetect"
    " lsm=landlock,yama,apparmor,bpf apparmor=1 audit=0"
    # what costs time under emulation and shields from nobody here
    " mitigations=off nokaslr random.trust_cpu=on cryptomgr.notests"
    " no_timer_check tsc=reliable nowatchdog rcupdate.rcu_expedited=1"
    " systemd.show_status=0 systemd.log_level=warning"
)

# thread=multi lets one processor run kernel code while the other patches it; the emulated
# kernel then dies with "Oops: int3", as soon as a test sets the first cpu.max.
ACCELERATOR = "tcg,thread=single,tb-size=512"

TROUBLE = re.compile(
    r"Kernel panic|Oops|int3:|BUG:|soft lockup|general protection|panic: no root disk"
)


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Control:
    """qemu's own control socket (QMP)."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._file = self._socket.makefile("r")
        self._file.readline()
        self("qmp_capabilities")

    def __call__(self, command, **arguments):
        request = {"execute": command, "arguments": arguments}
        self._socket.sendall((json.dumps(request) + "\n").encode())
        for line in self._file:
            answer = json.loads(line)
            if "error" in answer:
                raise ChannelLost(f"qemu: {command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise ChannelLost(f"qemu ended at {command}")

    def close(self):
        self._file.close()
        self._socket.close()


class Machine:
    """A context: when it is left, the process is gone and its folder removed.

    image     folder with vmlinux and initrd
    disk      qcow2 overlay, written to
    shares    name (of SHARES) to host folder; the others are empty
    kernel    further words of the kernel's command line
    ram       file that holds (to_save) or gets restored as (state) the memory
    """

    def __init__(self, image, disk, shares=None, kernel="", ram=None, state=None, folder=None):
        self.image, self.disk, self.kernel, self.ram, self.state = image, disk, kernel, ram, state
        self.folder = folder or tempfile.mkdtemp(prefix="agentrun-vm.")
        self.channel = self._control = self._process = None
        self._shares = dict(shares or {})
        self.console = os.path.join(self.folder, "console")

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process and self._process.poll() is None:
            self._process.kill()
        if self._process:
            self._process.wait()
        for end in (self.channel, self._control):
            if end:
                end.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _arguments(self):
        memory = "memory-backend-ram,id=ram,size=" + MEMORY
        if self.ram:
            # restored: a private mapping, so that the file serves many machines
            share = "off" if self.state else "on"
            memory = f"memory-backend-file,id=ram,size={MEMORY},mem-path={self.ram},share={share}"
        yield from (
            QEMU, "-nodefaults", "-no-user-config", "-nographic", "-no-reboot",
            "-machine", "q35,memory-backend=ram", "-accel", ACCELERATOR,
            "-cpu", "max", "-smp", "2", "-m", MEMORY, "-object", memory,
            "-kernel", f"{self.image}/vmlinux", "-initrd", f"{self.image}/initrd",
            "-append", f"{KERNEL} {self.kernel}", "-rtc", "base=utc,clock=host",
            "-chardev", f"file,id=console,path={self.console}",
            "-chardev", f"socket,id=agent,path={self.folder}/agent,server=on,wait=off",
            "-chardev", f"socket,id=qmp,path={self.folder}/qmp,server=on,wait=off",
            "-mon", "chardev=qmp,mode=control",
            "-device", "virtio-serial-pci",
            "-device", "virtserialport,chardev=agent,name=agent,nr=1",
            "-device", "virtconsole,chardev=console",
            "-drive", f"if=none,id=disk,file={self.disk},format=qcow2,cache=unsafe,"
                      "discard=unmap,aio=threads",
            "-device", "virtio-blk-pci,drive=disk",
            "-netdev", "user,id=net,restrict=on", "-device", "virtio-net-pci,netdev=net,romfile=",
        )
        for name, mode in SHARES.items():
            path = self._shares.get(name)
            if not path:
                path = os.path.join(self.folder, "empty-" + name)
                os.makedirs(path, exist_ok=True)
            readonly = ",readonly=on" if mode == "ro" else ""
            yield "-fsdev"
            yield (f"local,id={name},path={os.path.realpath(path)},security_model=none,"
                   f"multidevs=remap{readonly}")
            yield from ("-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}")
        if self.state:
            yield from ("-incoming", "defer")

    @classmethod
    def signature(cls, kernel):
        """What a snapshot depends on: qemu, its devices, the kernel's command line."""
        version = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True)
        with tempfile.TemporaryDirectory() as folder:
            vm = cls("image", "disk", kernel=kernel, ram="ram", folder=folder)
            arguments = [argument.replace(folder, "") for argument in vm._arguments()]
        return version.stdout + "\n".join(arguments)

    def _start(self):
        with open(os.path.join(self.folder, "qemu.log"), "wb") as log:
            self._process = subprocess.Popen(
                list(self._arguments()), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=_die_with_parent)
        deadline = time.monotonic() + 60
        while self._control is None:
            try:
                self._control = Control(f"{self.folder}/qmp")
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise ChannelLost("qemu did not start: " + self._qemu_log()) from None
                time.sleep(0.02)
        if self.state:
            self._load()
        seconds = RESTORE_SECONDS if self.state else BOOT_SECONDS
        self.channel = Channel(f"{self.folder}/agent", seconds)

    def _qemu_log(self):
        with open(os.path.join(self.folder, "qemu.log"), errors="replace") as log:
            return log.read()[-2000:]

    def _keep_ram_in_its_file(self):
        self._control("migrate-set-capabilities",
                      capabilities=[{"capability": "x-ignore-shared", "state": True}])

    def _load(self):
        self._keep_ram_in_its_file()
        self._control("migrate-incoming", uri=f"exec:cat {self.state}")
        while self._control("query-status")["status"] == "inmigrate":
            time.sleep(0.01)
        self._control("cont")

    def save(self, state):
        """Stops the machine and writes its devices' state; the memory is in the ram file."""
        self._control("stop")
        self._keep_ram_in_its_file()
        self._control("migrate", uri=f"exec:cat > {state}")
        while True:
            status = self._control("query-migrate").get("status")
            if status == "completed":
                return
            if status == "failed":
                raise ChannelLost("qemu cannot save the machine: " + self._qemu_log())
            time.sleep(0.05)

    def prepare(self):
        """After the start: the clock and the shares, which a snapshot cannot hold."""
        script = [f"date --set=@{time.time():.3f} >/dev/null"]
        for name, path in self._shares.items():
            if path:
                script.append(f"mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,"
                              f"cache=mmap,{SHARES[name]} {name} /vm/{name}")
        code = self.run("set -e\n" + "\n".join(script), 120)
        if code:
            raise ChannelLost(f"the shares cannot be mounted: exit code {code}")

    def run(self, script, seconds, out=None, err=None, grace=60):
        """As Channel.run; the output goes to our standard error unless told otherwise."""
        def show(data):
            sys.stderr.buffer.write(data)
            sys.stderr.flush()
        return self.channel.run(script, seconds, out or show, err or show, grace)

    def trouble(self):
        """What the guest's kernel cried, or None."""
        with open(self.console, errors="replace") as console:
            found = TROUBLE.search(console.read())
        return found.group(0) if found else None

    def quit(self):
        """Ends qemu at once: the disk is thrown away anyway."""
        self._control("quit")
        self._process.wait(60)

    def power_off(self, seconds=300):
        """Orderly, for a disk that is kept."""
        with contextlib.suppress(ChannelLost):  # it may be gone before it can answer
            self.run("systemctl poweroff --no-block", 60)
        if not self.wait(seconds):
            raise ChannelLost("the guest does not power off")

    def wait(self, seconds):
        """Waits for the end of qemu; False when it still runs."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
