#!/usr/bin/env python3
"""Changes the sources in small ways, one at a time, and says which changes no test notices.

    ./dev mutate [options] [files or folders]      default: src/{ir,loop,skeleton,kernel,plan,run,emit}

A random sample of the mutants (tools/mutants.py) is tried in a copy of the sources, build/mutate/source, built beside it with
one shared library, so that a mutant costs one compilation and one link. Those programs of `./dev test`'s release build that
reach the changed lines (tools/reached.py) run until one fails; a program that takes too long counts as failing. Programs come in the order of how likely they are to fail, for this
file and this layer so far, by the time they take. What does not compile is no mutant, and neither is what gives the same
machine code. Mutants that change nothing although their code differs stand with the reason in tools/mutants-equivalent.txt.

The outcome is written to build/mutants.json after every mutant; --resume goes on with a run of the same seed and count, --again
repeats what survived last time and keeps the rest. Exit status: 0 if every mutant was killed, 1 if some survived, 2 if nothing could be run.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutants import mutants_of  # noqa: E402
from reached import Reached  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parent.parent
HOME = TOP / "build" / "mutate"
SOURCE, BUILD = HOME / "source", HOME / "build"
RESULT = TOP / "build" / "mutants.json"
HISTORY = HOME / "history.json"
EQUIVALENT = TOP / "tools" / "mutants-equivalent.txt"
LAYERS = "ir loop skeleton kernel plan run emit".split()
WITHOUT = {"long", "bench", "package"}  # labels of tests that are not run
MEMORY = 16 << 30  # address space of a test
SKIPPED = 77


def say(*words):
    print(*words, flush=True)


def copy_tree():
    """The files that git knows or would take, as they are now; what has not changed keeps its time. Their digest."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP, check=True, capture_output=True)
    wanted = {name for name in listed.stdout.decode().split("\0") if name and (TOP / name).is_file()}
    of_all = hashlib.sha256()
    for name in sorted(wanted):
        new, old = TOP / name, SOURCE / name
        of_all.update(name.encode() + b"\0" + hashlib.sha256(new.read_bytes()).digest())
        if not old.exists() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new, old)
    for old in SOURCE.rglob("*"):
        name = str(old.relative_to(SOURCE))
        if old.is_file() and name not in wanted and not name.startswith("build/"):
            old.unlink()
    if (TOP / "build" / "venv").exists() and not (SOURCE / "build" / "venv").exists():  # NVRTC
        (SOURCE / "build").mkdir(exist_ok=True)
        (SOURCE / "build" / "venv").symlink_to(TOP / "build" / "venv")
    return of_all.hexdigest()


def configure(folder=BUILD, others=None):
    flags = "-O1 -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration"
    link = "-fuse-ld=lld" if shutil.which("ld.lld") else ""
    options = {
        "CMAKE_BUILD_TYPE": "None", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON", "CMAKE_C_FLAGS": flags, "CMAKE_CXX_FLAGS": "-O1", "CMAKE_EXE_LINKER_FLAGS": link,
        "CMAKE_SHARED_LINKER_FLAGS": link, "CMAKE_MODULE_LINKER_FLAGS": link, "SINTER_SHARED_TESTS": "ON",
        "SINTER_WERROR": "OFF", "SINTER_EXAMPLES": "OFF", "SINTER_BENCH": "OFF", **(others or {}),
    }
    command = ["cmake", "-G", "Ninja", "-S", str(SOURCE), "-B", str(folder)]
    return subprocess.run(command + [f"-D{k}={v}" for k, v in options.items()], capture_output=True, text=True)


def build(jobs):
    return subprocess.run(["cmake", "--build", str(BUILD), "--target", "tests", "-j", str(jobs)], capture_output=True, text=True)


class Test:
    """A test as CTest would run it."""

    def __init__(self, listed):
        properties = {p["name"]: p["value"] for p in listed.get("properties", [])}
        self.name, self.command = listed["name"], listed["command"]
        self.labels = set(properties.get("LABELS", []))
        self.folder = properties.get("WORKING_DIRECTORY", str(SOURCE))
        self.variables = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        self.expected = properties.get("PASS_REGULAR_EXPRESSION")

    def run(self, limit, caches, stopped, most, more=None):
        """True if it passes within the limit; None if it was stopped because another one had failed."""
        environment = {**os.environ, **self.variables, **(more or {})}
        for variable, folder in caches.items():
            if self.variables.get("SINTER_CACHE_DIR") == variable:
                environment["SINTER_CACHE_DIR"] = folder

        def bound():
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))

        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=bound)
            end = time.monotonic() + limit
            status = None
            while status is None and time.monotonic() < end and not stopped.is_set():
                try:
                    status = process.wait(0.02)
                except subprocess.TimeoutExpired:
                    pass
            try:
                os.killpg(process.pid, signal.SIGKILL)  # it, and whatever it started
            except ProcessLookupError:
                pass
            process.wait()
            if status is None and stopped.is_set():
                return None
            out.seek(0)
            self.output = out.read(1 << 20).decode(errors="replace")
        if self.expected and status is not None:
            return any(e.lstrip("^").rstrip("$") in self.output for e in self.expected)
        return status in (0, SKIPPED)


def tests(without):
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, check=True, capture_output=True, text=True)
    found = [Test(t) for t in json.loads(listed.stdout)["tests"] if "command" in t]
    return [t for t in found if not t.labels & (WITHOUT | set(without))]


class History:
    """How long tests take, how often they killed mutants of a file and of a layer, and for which sources (a digest of all) they
    are known to pass or to fail."""

    def __init__(self):
        self.seconds, self.ran, self.killed, self.passes, self.fails = {}, {}, {}, {}, {}
        if HISTORY.exists():
            self.__dict__.update(json.loads(HISTORY.read_text()))

    def save(self):
        HISTORY.write_text(json.dumps(self.__dict__))

    def count(self, test, file, killed):
        for place in (file, file.split("/")[1]):
            key = f"{place} {test.name}"
            self.ran[key] = self.ran.get(key, 0) + 1
            self.killed[key] = self.killed.get(key, 0) + killed

    def chance(self, test, file):
        layer = file.split("/")[1]
        chance = 0.3 if layer in test.labels else 0.1
        for place in (layer, file):
            key = f"{place} {test.name}"
            chance = (self.killed.get(key, 0) + 2 * chance) / (self.ran.get(key, 0) + 2)
        return chance

    def order(self, tests_, file):
        return sorted(tests_, key=lambda t: -self.chance(t, file) / (self.seconds[t.name] + 0.1))


class Caches:
    """For each folder of compiled kernels that tests name, one of links to what the sources as they are compiled, so that no
    mutant finds another one's kernels."""

    def __init__(self, tests_):
        self.folders = {t.variables["SINTER_CACHE_DIR"] for t in tests_ if "SINTER_CACHE_DIR" in t.variables}

    def __enter__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="kernels-", dir=HOME))
        of = {}
        for i, folder in enumerate(sorted(self.folders)):
            of[folder] = str(self.home / str(i))
            if os.path.isdir(folder):
                shutil.copytree(folder, of[folder], copy_function=os.link)
        return of

    def __exit__(self, *_):
        shutil.rmtree(self.home, ignore_errors=True)


def run_tests(ordered, history, file, caches, options):
    """The name of a test that fails, or None; how many tests there was no time for. Stops at the first one that fails."""
    stopped, lock, queue = threading.Event(), threading.Lock(), iter(ordered)
    failed, end = [], time.monotonic() + (options.within or float("inf"))

    def work():
        while not stopped.is_set():
            with lock:
                test = next(queue, None) if time.monotonic() < end else None
            if not test:
                return
            good = test.run(options.slack * history.seconds[test.name] + 20, caches, stopped, MEMORY)
            with lock:
                if good is not None:
                    history.count(test, file, not good)
                if good is False:
                    failed.append(test.name)
                    stopped.set()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for worker in [pool.submit(work) for _ in range(options.jobs)]:
                worker.result()
        finally:
            stopped.set()
    return failed[0] if failed else None, len(list(queue))


def baseline(tests_, history, tree, jobs):
    """Runs every new test on the sources as they are: how long it takes; without those that fail."""
    never, good, unknown = threading.Event(), [], []
    known = [t for t in tests_ if t.name in history.seconds]
    tests_ = [t for t in tests_ if history.fails.get(t.name) != tree]
    unknown = [t for t in tests_ if t.name not in history.seconds]

    def one(test):
        started = time.monotonic()
        passed = test.run(1800, {}, never, MEMORY)
        return test, passed, time.monotonic() - started

    say(f"{len(known)} tests known, {len(unknown)} are run once without mutants")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, t) for t in unknown]):
            test, passed, took = done.result()
            if passed:
                history.seconds[test.name], history.passes[test.name] = took, tree
                history.save()
                good.append(test)
            else:
                history.fails[test.name] = tree
                say(f"{test.name} fails without any mutant, and is left out:\n{test.output[-2000:]}")
    return known + good


def equivalents():
    """Lines "file: the line as it is => the line as changed: reason", without regard to spaces at the ends."""
    known = set()
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                file, rest = line.split(": ", 1)
                old, rest = rest.split(" => ", 1)
                known.add((file, old.strip(), rest.split(" ## ", 1)[0].strip()))
    return known


def changed_lines(source, mutated):
    pairs = [(a.strip(), b.strip()) for a, b in zip(source.split("\n"), mutated.split("\n")) if a != b]
    return " ".join(a for a, _ in pairs if a), " ".join(b for _, b in pairs if b)


def diff_of(file, source, mutated):
    lines = difflib.unified_diff(source.splitlines(), mutated.splitlines(), file, file, n=2, lineterm="")
    return "\n".join(list(lines)[2:])


class Compiler:
    """Compiles single sources as the build does, beside the build."""

    def __init__(self):
        self.command = {c["file"]: c for c in json.loads((BUILD / "compile_commands.json").read_text())}
        self.digests = {}

    def compile(self, file):
        """The digest of the object that the source in the copy becomes now; None: it does not compile."""
        entry = self.command[str(SOURCE / file)]
        words = shlex.split(entry["command"])
        place = HOME / "mutant.o"
        words[words.index("-o") + 1] = str(place)
        for option in ("-MF", "-MT"):
            if option in words:
                del words[words.index(option) : words.index(option) + 2]
        words = [w for w in words if w != "-MD"]
        done = subprocess.run(words, cwd=entry["directory"], capture_output=True)
        return digest(place) if done.returncode == 0 else None

    def original(self, file):
        if file not in self.digests:
            self.digests[file] = self.compile(file)
        return self.digests[file]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def key(result):
    return result["file"], result["at"], result["text"], result["digest"]


class Run:
    def __init__(self, options, tests_, history, reached, tree, earlier):
        self.options, self.tests, self.history, self.reached, self.tree = options, tests_, history, reached, tree
        self.known, self.results, self.compiler = equivalents(), {key(r): r for r in earlier}, Compiler()

    def judge(self, file, mutant):
        source = (SOURCE / file).read_text()
        mutated = mutant.apply(source)
        old, new = changed_lines(source, mutated)
        result = {"file": file, "line": mutant.line(source), "at": mutant.at, "operator": mutant.operator, "text": mutant.text,
                  "digest": hashlib.sha256(source.encode()).hexdigest(), "diff": diff_of(file, source, mutated)}
        if (file, old, new) in self.known:
            return {**result, "outcome": "equivalent"}
        place, started = SOURCE / file, time.monotonic()
        before = self.compiler.original(file)
        place.write_text(mutated)
        try:
            machine = self.compiler.compile(file)
            if machine == before:
                return {**result, "outcome": "same code"}
            if not machine:
                return {**result, "outcome": "does not compile"}
            killer = None
            while not killer:
                place.write_text(mutated)
                if build(self.options.jobs).returncode != 0:
                    return {**result, "outcome": "does not compile"}
                reach = self.reached.reach(self.tests, file, result["line"], result["line"] + source.count("\n", mutant.at, mutant.end))
                with Caches(reach) as caches:
                    killer, untried = run_tests(self.history.order(reach, file), self.history, file, caches, self.options)
                if not killer:
                    break
                place.write_text(source)
                killer = self.passes(killer) and killer
        finally:
            place.write_text(source)
        return {**result, "outcome": "killed" if killer else "survived", "by": killer, "untried": 0 if killer else untried, "reached": len(reach),
                "seconds": round(time.monotonic() - started, 1)}

    def passes(self, name):
        """Whether a test passes without any mutant, too; it is left out from now on if it does not."""
        if self.history.passes.get(name) != self.tree:
            test = next(t for t in self.tests if t.name == name)
            if build(self.options.jobs).returncode != 0 or not test.run(1800, {}, threading.Event(), MEMORY):
                say(f"{name} fails without any mutant, too, and is left out:\n{test.output[-2000:]}")
                self.tests.remove(test)
                return False
            self.history.passes[name] = self.tree
        return True

    def write(self):
        counts = {}
        for r in self.results.values():
            counts[r["outcome"]] = counts.get(r["outcome"], 0) + 1
        self.history.save()
        RESULT.write_text(json.dumps({"seed": self.options.seed, "count": self.options.count, "counts": counts,
                                      "mutants": list(self.results.values())}, indent=1))
        return counts

    def tried(self):
        return sum(r["outcome"] in ("killed", "survived") for r in self.results.values())

    def add(self, result):
        self.results[key(result)] = result
        counts, tried = self.write(), self.tried()
        if result["outcome"] in ("killed", "survived"):
            by = f" by {result['by']}" if result["by"] else \
                 f" ({result['reached']} tests reach it, {result['untried']} were not tried)"
            say(f"{tried:4} {result['file']}:{result['line']} {result['operator']}: {result['outcome']}{by}, "
                f"{result['seconds']} s; {counts.get('killed', 0)} killed")
            if not result["by"]:
                say(result["diff"])


def sources(names):
    found = []
    for name in names or [f"src/{layer}" for layer in LAYERS]:
        path = (TOP / name).resolve()
        found += sorted(path.rglob("*.c")) if path.is_dir() else [path]
    return [str(p.relative_to(TOP)) for p in found]


def chosen(options):
    """Mutants of the files, in random order: (file, mutant)."""
    every = [(file, m) for file in sources(options.files) for m in mutants_of((SOURCE / file).read_text())]
    chance = random.Random(options.seed)
    chance.shuffle(every)
    return every


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description="Changes sources in small ways; prints what no test notices.")
    parser.add_argument("files", nargs="*", help="sources or folders, from the top of the repository")
    parser.add_argument("-n", "--count", type=int, default=100, help="mutants to try (100); 0: all there are")
    parser.add_argument("--seed", type=int, default=0, help="of the choice (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at a time")
    parser.add_argument("--without", action="append", default=[], metavar="LABEL",
                        help="leave out tests of this label, such as opencl and cuda, which take longest")
    parser.add_argument("--slack", type=float, default=8, help="a test may take that many times what it takes, and 20 s (8)")
    parser.add_argument("--within", type=float, default=0, metavar="SECONDS",
                        help="try tests of a mutant for so long at most: what is not killed by then counts as survived")
    parser.add_argument("--no-counting", action="store_true",
                        help="do not find out which lines tests reach; where that is not known, every test is tried")
    parser.add_argument("--resume", action="store_true", help="go on with the last run")
    parser.add_argument("--again", action="store_true", help="the last run again, but only what survived is tried")
    parser.add_argument("--list", action="store_true", help="print the mutants chosen, run nothing")
    options = parser.parse_args()
    earlier = json.loads(RESULT.read_text()) if (options.resume or options.again) and RESULT.exists() else {"mutants": []}

    SOURCE.mkdir(parents=True, exist_ok=True)
    tree = copy_tree()
    if options.again:
        options.seed, options.count = earlier["seed"], earlier["count"]
    every = chosen(options)
    if options.list:
        for file, mutant in every[: options.count or None]:
            source = (SOURCE / file).read_text()
            say(f"{file}:{mutant.line(source)} {mutant.operator}\n{diff_of(file, source, mutant.apply(source))}")
        return 0

    for step in (configure, lambda: build(options.jobs)):
        done = step()
        if done.returncode != 0:
            say(done.stdout[-4000:], done.stderr[-4000:])
            return 2
    history = History()
    good = baseline(tests(options.without), history, tree, options.jobs)
    history.save()
    say(f"{len(good)} tests, {sum(history.seconds[t.name] for t in good):.0f} s without mutants")

    digests = {file: hashlib.sha256((SOURCE / file).read_bytes()).hexdigest() for file in {f for f, _ in every}}
    by_key = {(f, m.at, m.text, digests[f]): (f, m) for f, m in every}
    todo = list(by_key)
    if options.again:
        todo = [key(r) for r in earlier["mutants"] if r["outcome"] == "survived" and key(r) in by_key]
    kept = [r for r in earlier["mutants"] if options.again or key(r) in by_key]
    reached = Reached(HOME, SOURCE, say)
    stopped = threading.Event()
    good.sort(key=lambda t: history.seconds[t.name])
    if not options.no_counting:
        run_one = lambda test, more: test.run(1800, {}, stopped, MEMORY, more)  # noqa: E731
        if not reached.complete(good, configure, run_one, stopped, options.jobs):
            return 2
    run = Run(options, good, history, reached, tree, kept)
    for k in todo:
        if options.count and run.tried() >= options.count and not options.again:
            break
        if options.again or k not in run.results:
            run.add(run.judge(*by_key[k]))
    counts = run.write()
    killed, survived = counts.get("killed", 0), counts.get("survived", 0)
    say(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    if killed + survived:
        say(f"{100 * killed / (killed + survived):.1f} % of {killed + survived} mutants killed (seed {options.seed}); see {RESULT}")
    for r in run.results.values():
        if r["outcome"] == "survived":
            say(f"\nsurvived: {r['file']}:{r['line']} {r['operator']}\n{r['diff']}")
    return 1 if survived else 0


def stop(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted; --resume goes on from here")
        sys.exit(130)
