"""Libraries of a changed source, for tools/mutate.py, beside a build (Ninja, with one shared library for the tests) that stays as
it is: the source is compiled, and what holds its object is linked once more."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess


GENERATOR = "lib/libsinter-llvm"


def ninja(build, *words):
    return subprocess.run(["ninja", *words], cwd=build, check=True, capture_output=True, text=True).stdout


class Objects:
    """The objects of a build, and what they are linked to."""

    def __init__(self, build):
        self.build = build
        self.command = {c["file"]: c for c in json.loads((build / "compile_commands.json").read_text())}
        self.outputs_of = {}

    def object_of(self, source):
        words = shlex.split(self.command[str(source)]["command"])
        return words[words.index("-o") + 1]

    def outputs(self, source):
        """Libraries and programs that hold the object of a source themselves, by name in the build."""
        if source not in self.outputs_of:
            shown = ninja(self.build, "-t", "query", self.object_of(source)).split("outputs:")[1]
            self.outputs_of[source] = [o for o in shown.split() if o.startswith(("lib/", "tests/"))]
        return self.outputs_of[source]

    def programs(self):
        """Those of the tests that hold objects of the library themselves."""
        a_source = next(file for file in self.command if "/src/base/" in file)
        return {str(self.build / o) for o in self.outputs(a_source) if o.startswith("tests/")}

    def after_the_key(self, folders):
        """The sources that may run after a kernel was looked for among those on disk: those of these folders of src/, and what
        they call. Changing them leaves the kernels wrong that are kept there."""
        mine = {source: self.object_of(source) for source in self.command if "/src/" in source}
        defines, needs = {}, {o: [] for o in mine.values()}
        for line in subprocess.run(["nm", "-A", "-g", *needs], cwd=self.build, capture_output=True, text=True).stdout.splitlines():
            place, rest = line.split(":", 1)
            kind, symbol = rest.split()[-2:]
            if kind in "Uw":
                needs[place].append(symbol)
            else:
                defines[symbol] = place
        todo = [o for source, o in mine.items() if any(f"/src/{folder}/" in source for folder in folders)]
        found = set(todo)
        while todo:
            for other in {defines.get(symbol) for symbol in needs[todo.pop()]} - found - {None}:
                found.add(other)
                todo.append(other)
        return {source for source, o in mine.items() if o in found}


class Library:
    """The build's libraries with one source changed, in `place`."""

    def __init__(self, objects, place):
        self.objects, self.place, self.object, self.originals = objects, place, place / "changed.o", {}
        for folder in ("source", "files"):
            (place / folder).mkdir(parents=True, exist_ok=True)

    def compile(self, source, text):
        """The digest of the object that the text becomes in place of the source; None: it does not compile."""
        entry = self.objects.command[str(source)]
        copy = self.place / "source" / source.name
        copy.write_text(text)
        words = [str(copy) if w == str(source) else w for w in shlex.split(entry["command"])]
        words[words.index("-o") + 1] = str(self.object)
        for option in ("-MF", "-MT"):
            if option in words:
                del words[words.index(option) : words.index(option) + 2]
        words = [w for w in words if w != "-MD"]
        done = subprocess.run([*words, "-iquote", str(source.parent)], cwd=entry["directory"], capture_output=True)
        return hashlib.sha256(self.object.read_bytes()).hexdigest() if done.returncode == 0 else None

    def original(self, source):
        if source not in self.originals:
            self.originals[source] = self.compile(source, source.read_text())
        return self.originals[source]

    def in_generator(self, source):
        """Whether the code generator holds it, too."""
        return any(GENERATOR in output for output in self.objects.outputs(source))

    def link(self, source, generator=True):
        """Of the object that was compiled last; the code generator stays as it is unless `generator`. True if it links."""
        old = self.objects.object_of(source)
        shutil.rmtree(self.place / "lib", ignore_errors=True)
        shutil.rmtree(self.place / "tests", ignore_errors=True)
        (self.place / "tests").mkdir()
        shutil.copytree(self.objects.build / "lib", self.place / "lib", symlinks=True, copy_function=os.link)
        for output in self.objects.outputs(source):
            if GENERATOR in output and not generator:
                continue
            (self.place / output).unlink(missing_ok=True)
            command = ninja(self.objects.build, "-t", "commands", "-s", output)
            command = command.replace(f" {old} ", f" {self.object} ").replace(f"-o {output} ", f"-o {self.place / output} ")
            if subprocess.run(["sh", "-c", command], cwd=self.objects.build, capture_output=True).returncode != 0:
                return False
        return True

    def variables(self):
        return {"LD_LIBRARY_PATH": str(self.place / "lib"), "SINTER_TEST_DIR": str(self.place / "files")}

    def replace(self, word):
        """A word of a test's command: what was linked anew in place of the build's own."""
        if word.startswith(f"{self.objects.build}/"):
            own = self.place / pathlib.Path(word).relative_to(self.objects.build)
            return str(own) if own.exists() else word
        return word
