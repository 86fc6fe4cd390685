"""Many TAP streams into one."""
import re

RESULT = re.compile(r"(not )?ok\b(?:\s+\d+)?\s*(?:-\s*)?(.*)")
PLAN = re.compile(r"1\.\.(\d+)(.*)")


class Stream:
    """The output of one program; judges it when it has ended."""

    def __init__(self):
        self.results = []  # [ok, name, diagnostics]
        self._planned = None
        self._rest = b""

    def feed(self, data):
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace").rstrip("\r"))

    def _line(self, line):
        if found := PLAN.fullmatch(line):
            self._planned = int(found[1])
            if self._planned == 0:
                self.results.append([True, "all" + (found[2] or " # skip"), []])
        elif found := RESULT.fullmatch(line):
            self.results.append([not found[1], found[2], []])
        elif line.startswith("#") and self.results:
            self.results[-1][2].append(line)

    def cut(self, reason):
        """The program was ended from outside: its results count, the rest was left out."""
        rest = (self._planned or 0) - len(self.results)
        what = f"the last {rest} of {self._planned} tests" if rest > 0 else "the rest"
        self.results.append([True, f"{what} # skip {reason}", []])

    def end(self, code):
        """Adds what the program's lines do not tell: a wrong plan, a bad exit code."""
        if self._rest:
            self.feed(b"\n")
        ran = len(self.results)
        if code == 124:
            self.results.append([False, "took too long and was killed", []])
        elif self._planned is None:
            self.results.append([False, f"wrote no plan (exit code {code})", []])
        elif self._planned and self._planned != ran:
            self.results.append([False, f"planned {self._planned} tests and ran {ran}", []])
        elif code and all(ok for ok, _, _ in self.results):
            self.results.append([False, f"exit code {code}", []])


class Writer:
    """Prints results, numbered through, and knows how it went."""

    def __init__(self):
        self.count = self.failed = self.skipped = 0

    def result(self, ok, name, diagnostics=()):
        self.count += 1
        self.failed += not ok
        self.skipped += bool(ok and re.search(r"#\s*skip", name, re.IGNORECASE))
        print(f"{'' if ok else 'not '}ok {self.count} - {name}", *diagnostics, sep="\n", flush=True)

    def stream(self, prefix, stream):
        for ok, name, diagnostics in stream.results:
            self.result(ok, f"{prefix}: {name}", diagnostics)

    def end(self):
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed or not self.count else 0
