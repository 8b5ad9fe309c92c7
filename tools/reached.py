"""Which tests reach which lines of the sources, for tools/mutate.py: no other test can notice a change of them.

The libraries are built once more, counting lines (gcov), and each test runs once with these in place of its own; a test that
counts nothing, because it holds the objects themselves or starts something else, is taken to reach every line. The outcome is
kept: changed sources are counted anew, and so is a test whose program has changed.
"""
import bisect
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess


def digest_of(paths):
    of_all = hashlib.sha256()
    for path in sorted(paths):
        of_all.update(str(path).encode() + b"\0" + hashlib.sha256(pathlib.Path(path).read_bytes()).digest())
    return of_all.hexdigest()


class Reached:
    """The map from lines to tests, in home/reached.json; the counting build is home/counting."""

    def __init__(self, home, source, say):
        self.file, self.build, self.counts, self.source, self.say = home / "reached.json", home / "counting", home / "counts", source, say
        self.sources = digest_of(p for folder in ("src", "include") for p in (source / folder).rglob("*.[ch]"))
        self.tests = {}  # name: {"digest": of its program, "lines": {file: numbers}}
        if self.file.exists():
            known = json.loads(self.file.read_text())
            self.tests = known["tests"] if known["sources"] == self.sources else {}

    def configure_and_build(self, configure, jobs):
        done = configure(self.build, {"CMAKE_C_FLAGS": "-O0 --coverage -fprofile-update=prefer-atomic", "CMAKE_CXX_FLAGS": "-O0 --coverage"})
        if done.returncode == 0:
            done = subprocess.run(["cmake", "--build", str(self.build), "--target", "sinter_shared", "sinter-llvm", "-j", str(jobs)],
                                  capture_output=True, text=True)
        return done

    def complete(self, tests, configure, run, stopped, jobs):
        """Counts for the tests whose counts are not known; run(test, variables) runs one until the event `stopped`. False: the
        build failed."""
        digest = {t.name: digest_of(w for w in t.command if pathlib.Path(w).is_file()) for t in tests}
        missing = [t for t in tests if self.tests.get(t.name, {}).get("digest") != digest[t.name]]
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
            run(test, {"LD_LIBRARY_PATH": str(self.build / "lib"), "GCOV_PREFIX": str(place)})
            lines = self.lines(place)
            shutil.rmtree(place, ignore_errors=True)
            return test, lines

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            try:
                for counted in concurrent.futures.as_completed([pool.submit(one, t) for t in missing]):
                    test, lines = counted.result()
                    self.tests[test.name] = {"digest": digest[test.name], "lines": lines}
                    self.file.write_text(json.dumps({"sources": self.sources, "tests": self.tests}))
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
        return True

    def lines(self, place):
        """{file: [[lines reached], [lines of code]]} of one test's counts."""
        lines = {}
        for data in place.rglob("*.gcda"):
            notes = pathlib.Path("/", data.relative_to(place)).with_suffix(".gcno")
            if not notes.exists():
                continue
            data.with_suffix(".gcno").symlink_to(notes)
            done = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], capture_output=True, text=True, cwd=place)
            for of_object in done.stdout.splitlines():
                for of_file in json.loads(of_object)["files"]:
                    path = (self.build / of_file["file"]).resolve()
                    if path.suffix == ".c" and path.is_relative_to(self.source):
                        all_ = sorted({l["line_number"] for l in of_file["lines"]})
                        hit = sorted({l["line_number"] for l in of_file["lines"] if l["count"]})
                        lines[str(path.relative_to(self.source))] = [hit, all_]
        return lines

    def reach(self, tests, file, first, last):
        """Those of the tests that may run any of these lines. Lines that hold no code of their own belong to the one before."""
        return [t for t in tests if self.may_reach(self.tests.get(t.name, {}).get("lines"), file, first, last)]

    def may_reach(self, lines, file, first, last):
        if not lines:
            return True
        if file not in lines:
            return False
        hit, code = lines[file]
        before = bisect.bisect_right(code, first) - 1
        first = code[before] if before >= 0 else first
        return bisect.bisect_right(hit, last) > bisect.bisect_left(hit, first)
