#!/bin/sh
# An installation is what a user of the library gets: install.sh BUILD FOLDER VERSION installs below FOLDER, moves it, and
# there compiles, links and runs programs in C and C++, with pkg-config and with CMake, with the shared and the static
# library.
set -eu

build=$1 work=$2/installed version=$3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cc=${CC:-cc} cxx=${CXX:-c++}
export SINTER_CACHE=off # the code generator has to be found, too
unset SINTER_CODEGEN CFLAGS CXXFLAGS LDFLAGS || :

fail()
{
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "it does not install"; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix

# --- the layout ---
lib=$(dirname "$(find "$prefix" -name 'libsinter.so')")
[ -d "$lib" ] || fail "no libsinter.so"
soname=$(readelf -d "$lib/libsinter.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
for file in include/sinter/sinter.h include/sinter/dlpack.h include/sinter/lift.hpp include/sinter/operators.hpp share/man/man3/sinter.3 \
    "${lib#"$prefix"/}/libsinter.a" "${lib#"$prefix"/}/$soname" "${lib#"$prefix"/}/libsinter.so.$version" \
    "${lib#"$prefix"/}/pkgconfig/sinter.pc" "${lib#"$prefix"/}/cmake/sinter/sinterConfig.cmake" \
    share/doc/sinter/LICENSE share/doc/sinter/CHANGELOG.md share/doc/sinter/docs/embedding.md \
    share/doc/sinter/examples/canny.c share/doc/sinter/data/coins.png; do
    [ -f "$prefix/$file" ] || fail "no $file"
done
[ "$(readlink -f "$lib/libsinter.so")" = "$(readlink -f "$lib/libsinter.so.$version")" ] || fail "the links lead elsewhere"
grep -rl "$work/first" "$prefix/include" "$lib/pkgconfig" "$lib/cmake" && fail "these files know where they were installed"
if command -v groff >/dev/null; then
    for page in "$prefix"/share/man/man*/*; do
        said=$(groff -man -Tascii -ww -z "$page" 2>&1)
        [ -z "$said" ] || fail "$page: $said"
    done
fi

# --- pkg-config ---
export PKG_CONFIG_PATH="$lib/pkgconfig"
[ "$(pkg-config --modversion sinter)" = "$version" ] || fail "pkg-config has another version"
flags=$(pkg-config --cflags sinter)
run() # program: it says version, result, and where the code generator came from
{
    said=$(LD_LIBRARY_PATH=$lib "$1" "$version") || fail "$1 fails: $said"
    [ -z "$2" ] || echo "$said" | grep -q "$2" || fail "$1 says: $said"
}
# shellcheck disable=SC2086 # lists of words
{
    $cc -std=c17 -Wall -Wextra -Wpedantic -Werror $flags "$here/user.c" $(pkg-config --libs sinter) -o "$work/c-shared"
    generator=$lib/sinter/libsinter-llvm.so
    [ -f "$generator" ] || generator= # built without LLVM
    run "$work/c-shared" "$generator"
    $cc -std=c17 $flags "$here/user.c" "$lib/libsinter.a" $(pkg-config --static --libs-only-other --libs-only-l sinter |
        sed 's/-lsinter//') -o "$work/c-static"
    run "$work/c-static" ""
    readelf -d "$work/c-static" | grep -q libsinter && fail "the static program needs a shared library"
    $cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror $flags "$here/user.cpp" $(pkg-config --libs sinter) -o "$work/cpp-shared"
    run "$work/cpp-shared" ""
}

# --- CMake ---
cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="$version" >"$work/log" 2>&1 &&
    cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the CMake package does not work"; }
for program in user-default user-shared user-static user-cpp; do
    run "$work/cmake/$program" ""
done
if cmake -S "$here" -B "$work/cmake-other" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=99.0 >"$work/log" 2>&1; then
    fail "the CMake package claims to be version 99"
fi
# --- documents, whose links hold, and examples, which build and run ---
doc=$prefix/share/doc/sinter
for page in "$doc"/*.md "$doc"/*/*.md; do
    for link in $(sed '/^```/,/^```/d; /^<!-- [a-z]*$/,/^-->$/d; s/`[^`]*`//g' "$page" | grep -o '](\([^)#]*\)\|\(src\|href\)="[^"#]*' | sed 's/^](//; s/.*="//'); do
        case $link in
        http*:* | mailto:*) ;;
        *) [ -e "$(dirname "$page")/$link" ] || fail "$page: there is no $link" ;;
        esac
    done
done
if pkg-config --exists libpng; then
    cmake -S "$doc/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
        cmake --build "$work/examples" --target example-dot example-rowstats >>"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "the examples do not build"; }
    "$work/examples/rowstats" "$doc/data/table.npy" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "rowstats does not run"; }
fi

# --- removed again, from where it was moved to: nothing stays but what is not ours ---
mkdir -p "$prefix/include/another"
echo "kept" >"$doc/notes"
cmake -P "$lib/cmake/sinter/sinterUninstall.cmake" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "it does not uninstall"; }
left=$(cd "$prefix" && find . ! -type d | sort | tr '\n' ' ')
[ "$left" = "./share/doc/sinter/notes " ] || fail "these are left: $left"
[ -z "$(find "$prefix" -name 'sinter*' -type d ! -path '*/doc/sinter')" ] || fail "folders are left: $(find "$prefix" -type d)"
[ -d "$prefix/include/another" ] || fail "it removes folders of others"
rm -rf "$work"
