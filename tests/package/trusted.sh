#!/bin/sh
# What an installed library loads as code: trusted.sh BUILD installs into a folder of its own, lays a false code generator wherever
# somebody who starts a program, or shares a folder with it, could lay one, and looks which one is loaded.
set -eu

build=$1
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cc=${CC:-cc}
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' "$build/CMakeCache.txt")
export SINTER_CACHE=off # else nothing need be compiled
unset SINTER_CODEGEN LD_LIBRARY_PATH || :

fail()
{
    printf 'trusted.sh: %s\n' "$*" >&2
    exit 1
}

mkdir -p "$work/evil/sinter"
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "it does not install"; }
prefix=$work/prefix
lib=$(dirname "$(find "$prefix" -name 'libsinter.so')")
generator=$lib/sinter/libsinter-llvm.so
[ -f "$generator" ] || { echo "built without LLVM: there is no code generator to look for"; exit 0; }

# --- nothing installed looks in the build ---
# Debug information names source files, and is not looked at by programs.
for file in "$lib/libsinter.so" "$lib/libsinter.a" "$generator" "$prefix/bin/sinter-info" "$prefix/bin/sinter-export"; do
    objcopy --strip-debug "$file" "$work/stripped"
    grep -q "$build/lib" "$work/stripped" && fail "$file knows where the build keeps its libraries"
done

# --- the environment is asked through secure_getenv, everywhere ---
grep -rnw 'getenv' "$here/../../src" && fail "these would hear whoever starts a set-user-ID program"

# --- programs, and a false code generator that says when it is loaded ---
echo '#include <unistd.h>
__attribute__((constructor)) static void loaded(void) { if (write(1, "FALSE ", 6)) return; }' >"$work/false.c"
$cc -shared -fPIC "$work/false.c" -o "$work/evil/libsinter-llvm.so"
cp "$work/evil/libsinter-llvm.so" "$work/evil/sinter"
# shellcheck disable=SC2046 # a list of words
$cc -std=c17 -I"$prefix/include" "$here/user.c" "$lib/libsinter.a" \
    $(PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --static --libs-only-other --libs-only-l sinter | sed 's/-lsinter//') \
    -o "$work/static"
$cc -std=c17 -I"$prefix/include" "$here/user.c" -L"$lib" -lsinter -o "$work/shared"

# loads WHAT COMMAND...: the command's program gives the right result, and loads the installed generator, or none
loads()
{
    what=$1
    shift
    said=$("$@" "$version" 2>"$work/log") || fail "$* fails: $said $(cat "$work/log")"
    case $said in
    *FALSE*) fail "$* loads a false code generator" ;;
    *"$generator"*) found=installed ;;
    *libsinter-llvm*) fail "$* loads another one: $said" ;;
    *) found=none ;;
    esac
    [ "$found" = "$what" ] || fail "$* loads $found, not $what: $said $(cat "$work/log")"
}

# --- a static program: the installation's, whatever the program is called and wherever it runs ---
loads installed "$work/static"
ln -s ../static "$work/evil/program"
loads installed "$work/evil/program"
cd "$work/evil"
loads installed ./program
loads installed sh -c 'PATH=.:$PATH program "$1"' sh
ln -s ../../static sinter/program
cd sinter
loads installed ./program
cd "$work"
cp static evil/copy
loads installed evil/copy

# --- a shared one: beside the library, wherever the working folder is and however the library was named ---
loads installed env LD_LIBRARY_PATH="$lib" "$work/shared"
cd "$prefix"
loads installed env LD_LIBRARY_PATH="${lib#"$prefix"/}" "$work/shared"
cd "$work"
cp "$lib/"libsinter.so* evil/ && rm evil/sinter/libsinter-llvm.so
mv evil/libsinter-llvm.so evil/false.so
loads installed env LD_LIBRARY_PATH="$work/evil" "$work/shared" # alone there: then that of the installation

# --- one that was built from other sources is not used, and the next place is looked at ---
LC_ALL=C sed 's/\(LLVM [0-9.]*, sources \)[0-9a-f]\{8\}/\1another!/g' "$generator" >evil/libsinter-llvm.so
cmp -s "$generator" evil/libsinter-llvm.so && fail "the code generator does not say what it was built from"
env LD_LIBRARY_PATH="$work/evil" "$work/shared" "$version" >/dev/null 2>"$work/log" || fail "another build's code generator beside the library: it fails"
grep -q interpreted "$work/log" && fail "after another build's code generator no other is looked for: $(cat "$work/log")"
env SINTER_CODEGEN="$work/evil" "$work/static" "$version" >/dev/null 2>"$work/log" || fail "with another build's code generator it fails"
grep -q 'built from other sources than this library' "$work/log" || fail "another build's code generator is not refused: $(cat "$work/log")"
rm evil/libsinter-llvm.so

# --- places where others can lay something are passed over ---
folder=$lib/sinter
chmod o+w "$folder"
loads none "$work/static"
loads none env LD_LIBRARY_PATH="$lib" "$work/shared"
chmod o-w "$folder"
chmod o+w "$generator"
loads none "$work/static"
chmod o-w "$generator"
mkdir "$work/real"
mv "$generator" "$work/real" # a link is judged by what it leads to, and by what leads to that
ln -s "$work/real/libsinter-llvm.so" "$generator"
said=$("$work/static" "$version" 2>/dev/null)
[ "$said" = "$work/real/libsinter-llvm.so" ] || fail "a link to the code generator is not followed: $said"
chmod o+w "$work/real"
loads none "$work/static"
chmod o-w "$work/real"
rm "$generator"
mv "$work/real/libsinter-llvm.so" "$generator"
chmod o+w "$prefix"
loads none "$work/static"
chmod o+wt "$prefix" # nobody deletes or renames what is another's, as in /tmp
loads installed "$work/static"
chmod o-wt "$prefix"
chmod o+w "$folder" "$work/static" # who can replace the program need not replace this
loads installed "$work/static"
chmod o-w "$folder" "$work/static"
if [ "$(id -u)" -eq 0 ]; then
    chown 12345 "$generator"
    loads none "$work/static"
    chown 0 "$generator"
    chown 12345 "$folder"
    loads none "$work/static"
    chown 0 "$folder"
fi

# --- a program with more rights than who starts it: the environment says nothing ---
privileged=$work/privileged
mkdir "$privileged"
cp "$work/static" "$privileged/static"
mkdir "$work/open"
chmod 777 "$work/open"
if [ "$(id -u)" -eq 0 ] && chown 12345 "$privileged/static" && chmod u+s "$privileged/static" &&
    setpriv --reuid 12346 --clear-groups "$privileged/static" "$version" >/dev/null 2>&1; then
    for variable in SINTER_CODEGEN="$work/evil/false.so" SINTER_DEVICE=none SINTER_THREADS=none SINTER_CACHE_DIR="$work/open/cache"; do
        said=$(setpriv --reuid 12346 --clear-groups env SINTER_CACHE=on "$variable" "$privileged/static" "$version" 2>&1) ||
            fail "$variable is heard by a set-user-ID program: $said"
        case $said in
        *FALSE* | *none*) fail "$variable is heard by a set-user-ID program: $said" ;;
        esac
    done
    [ ! -e "$work/open/cache" ] || fail "a set-user-ID program keeps code where it is told"
else
    echo "not run here: set-user-ID programs (root is needed, and a folder that allows them)"
fi
