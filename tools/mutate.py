#!/usr/bin/env python3
"""Changes the sources in small ways, one at a time, and says which changes no test notices.

    ./dev mutate [options] [files or folders]      default: src/{ir,loop,skeleton,kernel,plan,run,emit}

A random sample of the mutants (tools/mutants.py) is tried on a copy of the sources, build/mutate/source, that is built once, with
one shared library for all tests; a mutant is compiled and linked beside it (tools/mutant_library.py). Those tests of `./dev test`
and `./dev test-devices` that reach the changed lines (tools/reached.py) run until one fails; a test that takes too long counts as failing.
Programs that take long are run one test of theirs at a time. Tests come in the order of how likely they are to fail, for this file
and this layer so far, by the time they take (tools/timed_tests.py). What a test reaches and how long it takes is found out when its
turn first comes. Tests on OpenCL and on the stand-in for CUDA run for those sources only that are about these devices.

A change of what the code generator holds, too, is tried without changing that one first: then compiled kernels are found on disk.
What survives is tried once more with the generator changed and no kernels. What does not compile is no mutant, and neither is what
gives the same machine code. Indices behind the end of an array of known length end a test, as under ./dev sanitize. Mutants that
change nothing although their code differs stand with the reason in tools/mutants-equivalent.txt.

The outcome is written to build/mutants.json after every mutant; --resume goes on with a run of the same seed and count, --again
repeats what survived last time and keeps the rest. Exit status: 0 if every mutant was killed, 1 if some survived, 2 if nothing could be run.
"""
import argparse
import concurrent.futures
import copy
import difflib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # in the repository
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutant_library import Library, Objects  # noqa: E402
from mutants import mutants_of  # noqa: E402
from reached import Reached  # noqa: E402
from timed_tests import Caches, History, tests_of  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parent.parent
HOME = TOP / "build" / "mutate"
SOURCE, BUILD = HOME / "source", HOME / "build"
RESULT = TOP / "build" / "mutants.json"
EQUIVALENT = TOP / "tools" / "mutants-equivalent.txt"
LAYERS = "ir loop skeleton kernel plan run emit".split()
WITHOUT = {"long", "bench", "package"}  # labels of tests that are not run
LONGEST = 600  # CPU seconds of a test
DEVICES = re.compile(r"emit/(text|cuda|opencl)|skeleton/group/")
ALONE = re.compile(r"src/(emit/|kernel/key|run/kernels)")  # decide what is compiled for a kernel that was looked for, or where it is kept
APART = 2  # CPU seconds of a program from which on its tests are run one at a time
# Stands in for the C++ compiler of tests/fake_cuda: it keeps what it has made of each kernel.
KEEPING = """#!/bin/sh
for word; do
    case $word in *.cpp) in=$word ;; *.so) out=$word ;; -DSN_LOCAL=*) local=$word ;; esac
done
[ "$in" ] && [ "$out" ] || exec g++ "$@" # a header for all of them
kept={kept}/$({{ echo "$local"; cat "$in" {device}; }} | sha256sum | cut -c1-32)
cp "$kept" "$out" 2>/dev/null && exit
g++ "$@" && cp "$out" "$kept.$$" && mv "$kept.$$" "$kept"
"""
stopped = threading.Event()


def say(*words):
    print(*words, flush=True)


def copy_tree():
    """The files that git knows or would take, as they are now; what has not changed keeps its time. Their digest."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP, check=True, capture_output=True)
    wanted = {name for name in listed.stdout.decode().split("\0") if name and (TOP / name).is_file()}
    of_all = hashlib.sha256()
    for name in sorted(wanted):
        new, old = TOP / name, SOURCE / name
        if not name.startswith("tools/"):
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
    flags = ("-O1 -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration "
             "-fsanitize=bounds -fsanitize-undefined-trap-on-error -DSN_ARENA_GUARDS")
    link = "-fuse-ld=lld" if shutil.which("ld.lld") else ""
    (HOME / "kept").mkdir(parents=True, exist_ok=True)
    keeping = HOME / "keeping-c++"
    keeping.write_text(KEEPING.format(kept=HOME / "kept", device=SOURCE / "tests/fake_cuda/device.hpp"))
    keeping.chmod(0o755)
    options = {
        "CMAKE_BUILD_TYPE": "None", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON", "CMAKE_C_FLAGS": flags, "CMAKE_CXX_FLAGS": "-O1", "CMAKE_EXE_LINKER_FLAGS": link,
        "CMAKE_SHARED_LINKER_FLAGS": link, "CMAKE_MODULE_LINKER_FLAGS": link, "SINTER_SHARED_TESTS": "ON",
        "SINTER_WERROR": "OFF", "SINTER_EXAMPLES": "OFF", "SINTER_BENCH": "OFF", "SINTER_FAKE_NVRTC_CXX": str(keeping), **(others or {}),
    }
    command = ["cmake", "-G", "Ninja", "-S", str(SOURCE), "-B", str(folder)]
    return subprocess.run(command + [f"-D{k}={v}" for k, v in options.items()], capture_output=True, text=True)


def build(jobs):
    return subprocess.run(["cmake", "--build", str(BUILD), "--target", "tests", "-j", str(jobs)], capture_output=True, text=True)


class Suite:
    """The tests, of which those that nothing is known of yet run once when their turn comes; programs that take long are run one
    test of theirs at a time from then on. Tests that fail without any mutant are left out."""

    def __init__(self, programs, history, reached, tree, options):
        self.history, self.reached, self.tree, self.options = history, reached, tree, options
        self.lock = threading.RLock()
        self.tests, self.unknown, self.digests, self.measuring = [], [], {}, {}
        for program in programs:
            if self.is_known(program):
                self.tests += self.parts(program)
            else:
                self.unknown.append(program)

    def counts(self, test):
        return not self.options.no_counting and test.command[0] not in self.reached.whole

    def is_known(self, program):
        cases = self.history.cases.get(program.name)
        tests = [program] if not cases else [self.alone(program, name) for name in cases]
        return cases is not None and all((t.name in self.history.limits or self.history.fails.get(t.name) == self.tree) and
                                         (not self.counts(t) or self.reached.knows(t)) for t in tests)

    def parts(self, program):
        tests = [self.alone(program, name) for name in self.history.cases[program.name]] or [program]
        return [t for t in tests if self.history.fails.get(t.name) != self.tree]

    def alone(self, program, name):
        of = copy.copy(program)
        of.name, of.variables = f"{program.name}:{name}", {**program.variables, "SINTER_TEST_ONLY": name}
        return of

    def names(self, program):
        """Of the tests in a program."""
        if b"SINTER_TEST_LIST" not in pathlib.Path(program.command[0]).read_bytes():
            return []
        _, _, output = program.run(stopped, variables={"SINTER_TEST_LIST": "1"})
        return list(dict.fromkeys(re.findall(r"^test: (\w+)$", output, re.M)))

    def run_once(self, test):
        """Whether a test passes, and its CPU seconds, if that is not known yet from a time that was interrupted."""
        if test.name in self.history.limits and (not self.counts(test) or self.reached.knows(test)):
            return True, self.history.limits[test.name]

        def run(test, variables):
            with Caches([test], HOME, lambda folder: True) as caches:
                passed, cpu, output = test.run(stopped, LONGEST, variables, caches)
            if passed is None:
                raise KeyboardInterrupt
            return passed, cpu, output

        passed, cpu, output = self.reached.count(test, run) if self.counts(test) else run(test, {})
        with self.lock:
            if passed:
                self.history.limits[test.name] = cpu
                self.history.seconds.setdefault(test.name, cpu)
                self.history.fails.pop(test.name, None)
                self.history.save()
            else:
                self.history.fails[test.name] = self.tree
        if not passed:
            say(f"{test.name} fails without any mutant, and is left out:\n{output[-1500:]}")
        return passed, cpu

    def measure(self, program):
        """Its tests, which are known from now on. Where another thread is at it, this one waits."""
        with self.lock:
            if program not in self.unknown:
                return self.parts(program)
            begun = program in self.measuring
            done = self.measuring.setdefault(program, threading.Event())
        if begun:
            done.wait()
            return self.parts(program)
        try:
            names = self.names(program)
            cases = [self.alone(program, name) for name in names] if len(names) > 1 else []
            outcomes = [self.run_once(test) for test in cases or [program]]
            with self.lock:
                return self.now_known(program, cases, outcomes)
        finally:
            done.set()

    def now_known(self, program, cases, outcomes):
        total = sum(cpu for _, cpu in outcomes)
        if cases and total < APART and all(passed for passed, _ in outcomes):
            if self.counts(program):
                self.reached.join(program, cases)
            self.history.limits[program.name] = total
            self.history.seconds.setdefault(program.name, total)
            cases = []
        self.history.cases[program.name] = [test.name.split(":", 1)[1] for test in cases]
        self.history.save()
        found = self.parts(program)
        self.unknown.remove(program)
        self.tests += found
        return found

    def seconds(self, test):
        return self.history.seconds.get(test.name, 0)

    def serves(self, test, file):
        return not test.labels & {"opencl", "cuda"} or DEVICES.search(file)

    def reaching(self, tests, file, first, last):
        """Those of the tests that may notice a change of these lines."""
        return [t for t in tests if self.serves(t, file) and self.reached.may_reach(t, file, first, last)]

    def candidates(self, file, first, last):
        """Tests that may notice a change of these lines, and programs that nothing is known of yet, the most worthwhile last."""
        with self.lock:
            unknown = [] if self.options.known else [p for p in self.unknown if self.serves(p, file)]
            found = self.reaching(self.tests, file, first, last) + unknown
        return sorted(found, key=lambda t: self.history.worth(t, file))

    def stamp(self, test):
        """The test as it is: of its name and its program."""
        if test.command[0] not in self.digests:
            self.digests[test.command[0]] = self.reached.program_of(test)[:12]
        return f"{test.name} {self.digests[test.command[0]]}"


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


def key(result):
    return result["file"], result["at"], result["text"], result["digest"]


class Run:
    def __init__(self, options, suite, history, tree, objects, earlier):
        self.options, self.suite, self.history, self.tree = options, suite, history, tree
        self.known, self.results, self.objects = equivalents(), {key(r): r for r in earlier}, objects
        self.after_the_key = objects.after_the_key(("emit", "device"))
        self.lock = threading.Lock()

    def judge(self, library, file, mutant):
        place, started = SOURCE / file, time.monotonic()
        source = place.read_text()
        mutated = mutant.apply(source)
        old, new = changed_lines(source, mutated)
        result = {"file": file, "line": mutant.line(source), "at": mutant.at, "operator": mutant.operator, "text": mutant.text,
                  "digest": hashlib.sha256(source.encode()).hexdigest(), "diff": diff_of(file, source, mutated)}
        if (file, old, new) in self.known:
            return {**result, "outcome": "equivalent"}
        before, machine = library.original(place), library.compile(place, mutated)
        if machine == before:
            return {**result, "outcome": "same code"}
        if not machine:
            return {**result, "outcome": "does not compile"}
        last = result["line"] + source.count("\n", mutant.at, mutant.end)
        passed = {way: set(names) for way, names in self.results.get(key(result), {}).get("passed", {}).items()}
        killer, untried, total, of_all = None, 0, 0, 0
        for way in self.ways(library, file):
            if not library.link(place, generator=way == "cold"):
                return {**result, "outcome": "does not compile"}
            own = (lambda folder: "/emit/cpu/" not in file or folder == f"{BUILD}/kernels") if way == "cold" else lambda folder: False
            with Caches(self.suite.tests + self.suite.unknown, HOME, own) as caches:
                killer, untried, cpu, of_all = self.run_tests(library, file, result["line"], last, passed.setdefault(way, set()), caches)
            total += cpu
            if killer or untried:
                break
        untried += len(self.suite.unknown) if self.options.known and not killer else 0
        return {**result, "outcome": "killed" if killer else "survived", "by": killer, "untried": untried, "reached": of_all,
                "seconds": round(time.monotonic() - started, 1), "cpu": round(total, 1),
                "passed": {} if killer else {way: sorted(names) for way, names in passed.items()}}

    def ways(self, library, file):
        """`warm`: kernels that are on disk are used. That hides changes of what runs after they are looked for."""
        source = SOURCE / file
        hidden = str(source) in self.after_the_key or library.in_generator(source)
        return ["cold"] if ALONE.match(file) else ["warm", "cold"] if hidden else ["warm"]

    def run_tests(self, library, file, first, last, passed, caches):
        """The name of a test that fails, or None; how many tests there was no time for; seconds of CPU time; how many tests reach
        the change. Stops at the first test that fails. Those in `passed` are not run again."""
        spent, late, todo = 0, 0, self.suite.candidates(file, first, last)
        of_all = len(todo)
        todo = [t for t in todo if self.suite.stamp(t) not in passed]
        while todo:
            test = todo.pop()
            if self.options.within and spent + self.suite.seconds(test) > self.options.within:
                late += 1
                continue
            if test in self.suite.unknown:
                found = self.suite.reaching(self.suite.measure(test), file, first, last)
                todo = sorted(todo + found, key=lambda t: self.history.worth(t, file))
                of_all += len(found) - 1
                continue
            if test not in self.suite.tests:
                continue
            limit = self.history.limit(test.name, self.options.slack)
            good, cpu, _ = test.run(stopped, limit, library.variables(), caches, library.replace)
            if good is None:
                raise KeyboardInterrupt
            spent += cpu
            if good is False and not self.passes(test):
                continue
            with self.lock:
                self.history.count(test.name, file, not good, cpu)
            if not good:
                return test.name, 0, spent, of_all
            passed.add(self.suite.stamp(test))
        return None, late, spent, of_all

    def passes(self, test):
        """Whether a test passes without any mutant, too; it is left out from now on if it does not."""
        with self.suite.lock:
            if self.history.passes.get(test.name) != self.tree and test in self.suite.tests:
                good, _, output = test.run(stopped)
                if good is None:
                    raise KeyboardInterrupt
                if not good:
                    say(f"{test.name} fails without any mutant, too, and is left out:\n{output[-2000:]}")
                    self.suite.tests.remove(test)
                    return False
                self.history.passes[test.name] = self.tree
            return test in self.suite.tests

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

    def all(self, mutants, enough):
        """Judges mutants, several at a time, until `enough` says so."""
        mutants = iter(mutants)

        def work(place):
            library = Library(self.objects, place)
            while not stopped.is_set():
                with self.lock:
                    mutant = None if enough() else next(mutants, None)
                if not mutant:
                    return
                result = self.judge(library, *mutant)
                with self.lock:
                    self.add(result)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            try:
                for worker in concurrent.futures.as_completed([pool.submit(work, HOME / f"mutant-{i}") for i in range(self.options.jobs)]):
                    worker.result()
            except BaseException:
                stopped.set()
                raise


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
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--without", action="append", default=[], metavar="LABEL",
                        help="leave out tests of this label, such as opencl and cuda, which take longest")
    parser.add_argument("--slack", type=float, default=2, help="a test may take that many times what it takes without kernels on disk, and 2 s (2)")
    parser.add_argument("--within", type=float, default=0, metavar="SECONDS",
                        help="give the tests of a mutant so much CPU time at most: what is not killed by then counts as survived")
    parser.add_argument("--no-counting", action="store_true",
                        help="do not find out which lines tests reach; where that is not known, every test is tried")
    parser.add_argument("--resume", action="store_true", help="go on with the last run")
    parser.add_argument("--again", action="store_true", help="the last run again, but only what survived is tried")
    parser.add_argument("--measure", action="store_true", help="find out what every test reaches and how long it takes; try no mutants")
    parser.add_argument("--known", action="store_true", help="use only the tests that have been measured so far")
    parser.add_argument("--missed", action="store_true", help="print the lines that no test reaches, once that has been counted; run nothing")
    parser.add_argument("--list", action="store_true", help="print the mutants chosen, run nothing")
    options = parser.parse_args()
    earlier = json.loads(RESULT.read_text()) if (options.resume or options.again) and RESULT.exists() else {"mutants": []}

    SOURCE.mkdir(parents=True, exist_ok=True)
    tree = copy_tree()
    if options.again:
        options.seed, options.count = earlier["seed"], earlier["count"]
    every = [] if options.missed else chosen(options)
    if options.list:
        for file, mutant in every[: options.count or None]:
            source = (SOURCE / file).read_text()
            say(f"{file}:{mutant.line(source)} {mutant.operator}\n{diff_of(file, source, mutant.apply(source))}")
        return 0

    if options.missed:
        reached = Reached(HOME, SOURCE, set(), say)
        for file in sources(options.files):
            text = (SOURCE / file).read_text().split("\n")
            for line in reached.missed(file):
                say(f"{file}:{line}: {text[line - 1]}")
        return 0

    built = HOME / "built"  # the digest of the sources that both builds are of
    is_built = built.exists() and built.read_text() == f"{tree} {options.no_counting}"
    for step in () if is_built else (configure, lambda: build(options.jobs)):
        done = step()
        if done.returncode != 0:
            say(done.stdout[-4000:], done.stderr[-4000:])
            return 2
    history, objects = History(HOME / "history.json", TOP / "build/release/Testing/Temporary/CTestCostData.txt"), Objects(BUILD)
    reached = Reached(HOME, SOURCE, objects.programs(), say)
    if not options.no_counting and not is_built and not reached.prepare(configure, options.jobs):
        return 2
    built.write_text(f"{tree} {options.no_counting}")
    suite = Suite(tests_of(BUILD, WITHOUT | set(options.without)), history, reached, tree, options)
    say(f"{len(suite.tests)} tests, {sum(history.limits[t.name] for t in suite.tests):.0f} s without kernels on disk; "
        f"nothing is known yet of {len(suite.unknown)} programs")
    if options.measure:
        measure_all(suite, options.jobs)
        return 0

    digests = {file: hashlib.sha256((SOURCE / file).read_bytes()).hexdigest() for file in {f for f, _ in every}}
    by_key = {(f, m.at, m.text, digests[f]): (f, m) for f, m in every}
    todo = list(by_key)
    if options.again:
        todo = [key(r) for r in earlier["mutants"] if r["outcome"] == "survived" and key(r) in by_key]
    kept = [r for r in earlier["mutants"] if options.again or key(r) in by_key]
    run = Run(options, suite, history, tree, objects, kept)
    run.all((by_key[k] for k in todo if options.again or k not in run.results),
            lambda: options.count and not options.again and run.tried() >= options.count)
    counts = run.write()
    killed, survived = counts.get("killed", 0), counts.get("survived", 0)
    say(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    if killed + survived:
        say(f"{100 * killed / (killed + survived):.1f} % of {killed + survived} mutants killed (seed {options.seed}); see {RESULT}")
    for r in run.results.values():
        if r["outcome"] == "survived":
            say(f"\nsurvived: {r['file']}:{r['line']} {r['operator']}\n{r['diff']}")
    return 1 if survived else 0


def measure_all(suite, jobs):
    def measure(program):
        started = time.monotonic()
        found = suite.measure(program)
        say(f"{program.name}: {len(found)} tests, {sum(suite.history.limits[t.name] for t in found):.1f} s, {time.monotonic() - started:.0f} s here")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(measure, sorted(suite.unknown, key=suite.history.guess)))


def stop(*_):
    stopped.set()
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted; --resume goes on from here")
        sys.exit(130)
