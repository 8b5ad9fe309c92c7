"""The tests as CTest would run them, for tools/mutate.py: how long they take, and how likely they notice a change."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

MEMORY = 16 << 30  # address space of a test
STUCK = 150  # seconds in which a test that gets on takes some CPU time, however busy the machine is
TICK = os.sysconf("SC_CLK_TCK")
SKIPPED = 77


def used_by(session):
    """CPU seconds of the processes of a session, and of their children that have ended."""
    used = 0
    for process in os.listdir("/proc"):
        if process.isdigit():
            try:
                field = pathlib.Path("/proc", process, "stat").read_text().rsplit(")", 1)[1].split()
                used += sum(map(int, field[11:15])) if int(field[3]) == session else 0
            except OSError:  # it has ended meanwhile
                pass
    return used / TICK


class Test:

    def __init__(self, listed):
        properties = {p["name"]: p["value"] for p in listed.get("properties", [])}
        self.name, self.command = listed["name"], listed["command"]
        self.labels = set(properties.get("LABELS", []))
        self.folder = properties.get("WORKING_DIRECTORY")
        self.variables = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        self.expected = properties.get("PASS_REGULAR_EXPRESSION")

    def run(self, stopped, limit=3600, variables=None, caches=None, replace=lambda word: word):
        """Whether it passes, its CPU seconds, and what it prints; whether is None if it was ended because the event `stopped` is
        set. More CPU seconds than the limit count as failing, and so does getting stuck. `caches` replaces folders of compiled
        kernels; `replace` words of the command."""
        environment = {**os.environ, **self.variables, **(variables or {})}
        if caches and self.variables.get("SINTER_CACHE_DIR") in caches:
            environment["SINTER_CACHE_DIR"] = caches[self.variables["SINTER_CACHE_DIR"]]
            environment["SINTER_CACHE_SIZE"] = "1G"  # room for the kernels of all tests

        def bound():
            for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 4 << 30)):
                resource.setrlimit(what, (most, most))

        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([replace(word) for word in self.command], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=bound)
            ended, wait, used, moved = 0, 0.002, 0, time.monotonic()
            looked = moved
            while not ended and used <= limit and time.monotonic() - moved < STUCK and not stopped.is_set():
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
                if not ended and time.monotonic() > looked + 1:
                    now, looked = used_by(process.pid), time.monotonic()
                    used, moved = now, looked if now > used else moved
                wait = 0 if ended else min(2 * wait, 0.05)
                time.sleep(wait)
            try:
                os.killpg(process.pid, signal.SIGKILL)  # it, and whatever it started
            except ProcessLookupError:
                pass
            if not ended:
                _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            output = out.read(1 << 20).decode(errors="replace")
        used = max(used, usage.ru_utime + usage.ru_stime)
        if not ended:
            return None if stopped.is_set() else False, used, output
        if self.expected:
            return any(e.lstrip("^").rstrip("$") in output for e in self.expected), used, output
        return process.returncode in (0, SKIPPED), used, output


def tests_of(build, without):
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
    found = [Test(t) for t in json.loads(listed.stdout)["tests"] if "command" in t]
    return [t for t in found if not t.labels & without]


class Caches:
    """Folders of compiled kernels in place of those that the tests name. `own` says of which of them: these are empty at first, so that
    no changed source finds kernels that it would compile otherwise. The others are shared, and keep what is compiled."""

    def __init__(self, tests, home, own):
        self.folders = sorted({t.variables["SINTER_CACHE_DIR"] for t in tests if "SINTER_CACHE_DIR" in t.variables})
        self.home, self.own = home, own

    def __enter__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="kernels-", dir=self.home))
        return {folder: str(self.place / str(i)) if self.own(folder) else folder for i, folder in enumerate(self.folders)}

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)


class History:
    """What is known of tests from earlier runs, kept in a file: the CPU seconds they take when no kernel is compiled yet
    (`limits`) and as they last passed (`seconds`), how often they ran and killed mutants of a file and of a
    layer, the names of the tests of programs that take long, and for which sources (a digest of all) they pass or fail.
    `costs`: a file of CTest's, with the seconds that programs took."""

    def __init__(self, file, costs):
        self.file = file
        self.costs = {w[0]: float(w[2]) for w in map(str.split, costs.read_text().splitlines()) if len(w) == 3} if costs.exists() else {}
        self.known = {"limits": {}, "seconds": {}, "ran": {}, "killed": {}, "passes": {}, "fails": {}, "cases": {}}
        if file.exists():
            self.known.update(json.loads(file.read_text()))
        self.__dict__.update(self.known)

    def save(self):
        self.file.write_text(json.dumps(self.known))

    def limit(self, name, slack):
        return slack * self.limits[name] + 2

    def count(self, name, file, killed, cpu):
        if not killed:
            self.seconds[name] = cpu
        for place in (file, file.split("/")[1]):
            key = f"{place} {name}"
            self.ran[key] = self.ran.get(key, 0) + 1
            self.killed[key] = self.killed.get(key, 0) + killed

    def guess(self, test):
        """The CPU seconds of a program that has not run yet."""
        usual = 60 if test.labels & {"opencl", "cuda"} else 6 if test.labels & {"api", "run", "examples"} else 1.5
        return self.costs.get(test.name, usual)

    def chance(self, test, file):
        """That a test fails where it reaches the change."""
        layer, words = file.split("/")[1], set(re.split(r"[/_.]", file)) - {"src", "c"}
        namesakes = len(words & set(re.split(r"[:_.]", test.name)))
        chance = 1 - 0.9 * (0.7 if layer in test.labels else 1) * 0.6**namesakes
        for place in (layer, file):
            key = f"{place} {test.name}"
            chance = (self.killed.get(key, 0) + 2 * chance) / (self.ran.get(key, 0) + 2)
        return chance

    def worth(self, test, file):
        return self.chance(test, file) / (self.seconds.get(test.name, self.guess(test)) + 0.05)
