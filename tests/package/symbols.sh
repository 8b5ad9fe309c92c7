#!/bin/sh
# What the libraries export: symbols.sh SHARED STATIC LIST. Both have exactly the symbols of the list (src/sinter.symbols),
# and the shared one the name and the needs of a library. `symbols.sh --write SHARED LIST` writes the list anew, for whoever
# changed the interface on purpose.
set -eu

fail()
{
    printf 'symbols.sh: %s\n' "$*" >&2
    exit 1
}

exported() # nm's option, library
{
    nm "$1" --defined-only "$2" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort
}

if [ "$1" = --write ]; then
    exported -D "$2" >"$3"
    exit 0
fi

shared=$1 static=$2 list=$3
there=$(mktemp)
trap 'rm -f "$there"' EXIT
exported -D "$shared" >"$there"
diff "$list" "$there" >&2 || fail "$shared exports something else than $list says; see the head of this file"
exported -g "$static" >"$there"
diff "$list" "$there" >&2 || fail "$static exports something else than $list says"
grep -v '^sn_' "$list" >&2 && fail "these names are not ours"

dynamic=$(readelf -d "$shared")
echo "$dynamic" | grep -q 'SONAME.*\[libsinter\.so\.[0-9.]*\]' || fail "$shared has no name with a version"
# libLLVM, OpenCL and CUDA are opened when they are needed, if they are there.
needs=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needs; do
    case $library in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
    *) fail "$shared needs $library" ;;
    esac
done
