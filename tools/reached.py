"""Which tests reach which lines of the sources, for tools/mutate.py: no other test can notice a change of them.

The libraries are built once more, with a call at the start of each block of code (tools/reached.c), and a test runs once with
these in place of its own, with no kernels compiled before. The outcome is kept, a file for each test: only tests whose programs
have changed run anew. Of a source that has changed since, all that is known is which tests reach it somewhere.
"""
import bisect
import hashlib
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import zlib

LIBRARIES = ("lib/libsinter-whole.so", "lib/libsinter.so", "lib/libsinter-llvm.so")


def digest_of(paths):
    of_all = hashlib.sha256()
    for path in sorted(map(str, paths)):
        of_all.update(hashlib.sha256(pathlib.Path(path).read_bytes()).digest())
    return of_all.hexdigest()


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Blocks:
    """The blocks of code of a library: where the call at the start of each returns to, and the lines it holds."""

    def __init__(self, library, name_of):
        self.size = max(int(w[2], 16) + int(w[5], 16) for w in map(str.split, output_of("readelf", "-lW", library).splitlines()) if w[:1] == ["LOAD"])
        rows = sorted(self.rows(library, name_of), key=lambda row: row[0])
        at = [row[0] for row in rows]
        begins, self.returns = self.calls(library)
        self.lines = []  # for each block [(file, line)]
        for begin, end in zip(begins, begins[1:] + [self.size]):
            first, last = max(0, bisect.bisect_right(at, begin) - 1), bisect.bisect_left(at, end)
            self.lines.append(sorted({(file, line) for _, file, line in rows[first:last] if file}))

    def rows(self, library, name_of):
        """(address, file, line) of the table of lines."""
        folder = file = None
        for text in output_of("readelf", "-W", "--debug-dump=decodedline", library).splitlines():
            header = re.fullmatch(r"(?:CU: )?(\S+):(?:\[\+\+\])?", text)
            row = re.fullmatch(r"\S+\s+([0-9]+|-)\s+0x([0-9a-f]+)\b.*", text) or re.fullmatch(r"\S+\s+([0-9]+|-)\s+(0)\b.*", text)
            if header:
                file = name_of(header.group(1))
            elif row:
                yield int(row.group(2), 16), file if row.group(1) != "-" else None, int(row.group(1)) if row.group(1) != "-" else 0

    def calls(self, library):
        """Where the blocks begin, from which a function's first instructions come before the call, and where the calls return to."""
        begins, returns, start, after = [], [], None, False
        for text in output_of("objdump", "-d", "--no-show-raw-insn", library).splitlines():
            if text.endswith(">:"):
                start, after = int(text.split()[0], 16), False
            elif text.startswith(" "):
                address = int(text.split(":", 1)[0], 16)
                if after:
                    returns.append(address)
                after = "__sanitizer_cov_trace_pc" in text
                if after:
                    begins.append(address if start is None else start)
                    start = None
        return begins, returns

    def marked(self, marks):
        return [i for i, place in enumerate(self.returns) if marks[place]]


class Reached:
    """The map from lines to tests, in home/reached; the build that marks blocks is home/marking. `whole`: programs that hold
    objects of the library themselves: what they reach cannot be told, and is taken to be everything."""

    def __init__(self, home, source, whole, say):
        self.place, self.build, self.home, self.source, self.whole, self.say = (
            home / "reached", home / "marking", home, source, whole, say)
        self.place.mkdir(parents=True, exist_ok=True)
        self.tests, self.names, self.blocks, self.code = {}, {}, None, {}
        self.lock = threading.Lock()
        for file in self.place.glob("*.z"):
            self.tests[file.stem] = json.loads(zlib.decompress(file.read_bytes()))
        if (self.place / "code.json").exists():
            self.code = json.loads((self.place / "code.json").read_text())

    def named(self, file):
        if file not in self.names:
            self.names[file] = f"{file} {digest_of([self.source / file])[:16]}"
        return self.names[file]

    def name_of(self, path):
        """Of a source of the library as the table of lines names it; None for others."""
        for folder in (self.build / "src", self.build):  # of the first, the compiler says so; of the other, a compiler cache may
            place = (folder / path).resolve()
            if place.suffix == ".c" and place.is_relative_to(self.source / "src") and place.exists():
                return self.named(str(place.relative_to(self.source)))
        return None

    def prepare(self, configure, jobs):
        """The libraries that mark blocks. False: they cannot be built."""
        self.build.mkdir(parents=True, exist_ok=True)
        helper = self.build / "reached.so"
        subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o", helper, pathlib.Path(__file__).parent / "reached.c"], check=True)
        done = configure(self.build, {"CMAKE_C_FLAGS": "-O1 -g1 -fsanitize-coverage=trace-pc", "CMAKE_CXX_FLAGS": "-O1",
                                      **{f"CMAKE_{kind}_LINKER_FLAGS": f"-Wl,--no-as-needed {helper}" for kind in ("EXE", "SHARED", "MODULE")}})
        if done.returncode == 0:
            done = subprocess.run(["cmake", "--build", str(self.build), "--target", "sinter", "sinter_shared", "sinter-llvm", "-j", str(jobs)],
                                  capture_output=True, text=True)
        if done.returncode != 0:
            self.say(done.stdout[-4000:], done.stderr[-4000:])
            return False
        return True

    def blocks_of(self):
        """{library: Blocks}, read when a test is first counted; what lines hold code is known from then on."""
        if self.blocks is None:
            self.blocks = {(self.build / l).resolve().name: Blocks(self.build / l, self.name_of) for l in LIBRARIES if (self.build / l).exists()}
            code = {}
            for file, line in {place for blocks in self.blocks.values() for lines in blocks.lines for place in lines}:
                code.setdefault(file, []).append(line)
            if not code:
                raise RuntimeError(f"no line of {self.source}/src is named in the debug information of {self.build}/lib")
            self.code.update({file: sorted(lines) for file, lines in code.items()})
            (self.place / "code.json").write_text(json.dumps(self.code))
        return self.blocks

    def program_of(self, test):
        return digest_of(w for w in test.command if pathlib.Path(w).is_file() and "/lib/" not in w)

    def knows(self, test):
        return self.tests.get(test.name, {}).get("program") == self.program_of(test)

    def count(self, test, run):
        """Runs a test once, by run(test, variables), and keeps which lines it reaches. What `run` returns."""
        with self.lock:
            all_blocks = self.blocks_of()
        with tempfile.TemporaryDirectory(prefix="marks-", dir=self.home) as folder:
            marks = pathlib.Path(folder)
            for name, blocks in all_blocks.items():
                with open(marks / name, "wb") as file:
                    file.truncate(blocks.size)
            outcome = run(test, {"LD_LIBRARY_PATH": str(self.build / "lib"), "SINTER_MARKS": folder})
            lines = {}
            for name, blocks in all_blocks.items():
                for block in blocks.marked((marks / name).read_bytes()):
                    for file, line in blocks.lines[block]:
                        lines.setdefault(file, set()).add(line)
        self.keep(test, {"program": self.program_of(test), "lines": {file: sorted(numbers) for file, numbers in lines.items()}})
        return outcome

    def keep(self, test, known):
        self.tests[test.name] = known
        (self.place / f"{test.name.replace('/', '-')}.z").write_bytes(zlib.compress(json.dumps(known).encode(), 1))

    def join(self, test, parts):
        """A program reaches what its parts reach."""
        lines = {}
        for part in parts:
            for file, numbers in self.tests[part.name]["lines"].items():
                lines.setdefault(file, set()).update(numbers)
        self.keep(test, {"program": self.program_of(test), "lines": {file: sorted(numbers) for file, numbers in lines.items()}})

    def missed(self, file):
        """The lines of code that none of the tests counted reaches: no test can notice a change of these."""
        name = self.named(file)
        reached = {line for test in self.tests.values() for line in test["lines"].get(name, ())}
        return [line for line in self.code.get(name, ()) if line not in reached]

    def range_of(self, file, first, last):
        """Lines that hold no code of their own belong to the one before."""
        name = self.named(file)
        if name in self.code:
            before = bisect.bisect_right(self.code[name], first) - 1
            first = self.code[name][before] if before >= 0 else first
        return name, first, last

    def may_reach(self, test, file, first, last):
        """Whether a test may run any of these lines."""
        if test.command[0] in self.whole or test.name not in self.tests:
            return True
        name, first, last = self.range_of(file, first, last)
        lines = self.tests[test.name]["lines"]
        if name not in lines:  # never loaded, or counted when its text was another one
            return any(other.startswith(file + " ") for other in lines if other != name)
        return bisect.bisect_right(lines[name], last) > bisect.bisect_left(lines[name], first)
