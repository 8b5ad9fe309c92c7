"""Which tests reach which lines of the sources, for tools/mutate.py: no other test can notice a change of them.

The libraries are built once more, counting lines (gcov), and each test runs once with these in place of its own, with no
kernels compiled before. The outcome is kept: only tests whose programs have changed are counted anew. Of a source that has
changed since, all that is known is which tests reach it somewhere.
"""
import bisect
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess
import threading
import time

SAVE_EVERY = 60  # seconds


def digest_of(paths):
    of_all = hashlib.sha256()
    for path in sorted(paths):
        of_all.update(hashlib.sha256(pathlib.Path(path).read_bytes()).digest())
    return of_all.hexdigest()


class Reached:
    """The map from lines to tests, in home/reached.json; the counting build is home/counting. `whole`: programs that hold objects
    of the library themselves: what they reach cannot be counted, and is taken to be everything."""

    def __init__(self, home, source, whole, say):
        self.file, self.build, self.counts, self.source, self.whole, self.say = (
            home / "reached.json", home / "counting", home / "counts", source, whole, say)
        self.lock = threading.Lock()
        self.tests = {}  # name: {"program": digest, "lines": {file and the digest of its text: numbers}}
        self.code = {}   # file and the digest of its text: numbers of the lines that hold code
        self.names = {}
        if self.file.exists():
            self.__dict__.update(json.loads(self.file.read_text()))

    def save(self):
        self.file.write_text(json.dumps({"tests": self.tests, "code": self.code}))

    def named(self, file):
        if file not in self.names:
            self.names[file] = f"{file} {digest_of([self.source / file])[:16]}"
        return self.names[file]

    def configure_and_build(self, configure, jobs):
        done = configure(self.build, {"CMAKE_C_FLAGS": "-O0 --coverage -fprofile-update=prefer-atomic", "CMAKE_CXX_FLAGS": "-O0 --coverage"})
        if done.returncode == 0:
            done = subprocess.run(["cmake", "--build", str(self.build), "--target", "sinter", "sinter_shared", "sinter-llvm", "-j", str(jobs)],
                                  capture_output=True, text=True)
        return done

    def complete(self, tests, configure, run, stopped, jobs):
        """Counts for the tests whose counts are not known; run(test, variables) runs one until the event `stopped`. False: the
        build failed."""
        program = {t.name: digest_of(w for w in t.command if pathlib.Path(w).is_file() and "/lib/" not in w) for t in tests}
        missing = [t for t in tests if self.tests.get(t.name, {}).get("program") != program[t.name] and t.command[0] not in self.whole]
        if not missing:
            return True
        self.say(f"{len(missing)} tests are run once to see which lines they reach")
        done = self.configure_and_build(configure, jobs)
        if done.returncode != 0:
            self.say(done.stdout[-4000:], done.stderr[-4000:])
            return False

        def one(test):
            place = self.counts / test.name
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            run(test, {"LD_LIBRARY_PATH": str(self.build / "lib"), "GCOV_PREFIX": str(place), "SINTER_TEST_DIR": str(place)})
            lines = self.lines(place)
            shutil.rmtree(place, ignore_errors=True)
            return test, lines

        saved = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            try:
                for counted in concurrent.futures.as_completed([pool.submit(one, t) for t in missing]):
                    test, lines = counted.result()
                    self.tests[test.name] = {"program": program[test.name], "lines": lines}
                    if time.monotonic() > saved + SAVE_EVERY:
                        self.save()
                        saved = time.monotonic()
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                self.save()
        return True

    def lines(self, place):
        """{file: lines reached} of one test's counts."""
        lines, counts = {}, []
        for data in place.rglob("*.gcda"):
            notes = pathlib.Path("/", data.relative_to(place)).with_suffix(".gcno")
            if notes.exists():
                data.with_suffix(".gcno").symlink_to(notes)
                counts.append(str(data))
        done = subprocess.run(["gcov", "--json-format", "--stdout", *counts], capture_output=True, text=True, cwd=place) if counts else None
        for of_object in done.stdout.splitlines() if done else []:
            for of_file in json.loads(of_object)["files"]:
                path = (self.build / of_file["file"]).resolve()
                if path.suffix == ".c" and path.is_relative_to(self.source):
                    name = str(path.relative_to(self.source))
                    with self.lock:
                        self.code[self.named(name)] = sorted({l["line_number"] for l in of_file["lines"]})
                    lines[self.named(name)] = sorted({l["line_number"] for l in of_file["lines"] if l["count"]})
        return lines

    def missed(self, file):
        """The lines of code that none of the tests counted reaches: no test can notice a change of these."""
        name = self.named(file)
        reached = {line for test in self.tests.values() for line in test["lines"].get(name, ())}
        return [line for line in self.code.get(name, ()) if line not in reached]

    def reach(self, tests, file, first, last):
        """Those of the tests that may run any of these lines. Lines that hold no code of their own belong to the one before."""
        name = self.named(file)
        if name in self.code:
            before = bisect.bisect_right(self.code[name], first) - 1
            first = self.code[name][before] if before >= 0 else first
        return [t for t in tests if self.may_reach(t, file, name, first, last)]

    def may_reach(self, test, file, name, first, last):
        if test.command[0] in self.whole or test.name not in self.tests:
            return True
        lines = self.tests[test.name]["lines"]
        if name not in lines:  # never loaded, or counted when its text was another one
            return any(other.startswith(file + " ") and hit for other, hit in lines.items())
        return bisect.bisect_right(lines[name], last) > bisect.bisect_left(lines[name], first)
