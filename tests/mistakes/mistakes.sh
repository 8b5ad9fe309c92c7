#!/bin/sh
# Do compilers say what is wrong with mistakes.c and how it is done right, line by line, and nothing else?
#
#   tests/mistakes/mistakes.sh LANGUAGE COMPILER     LANGUAGE: c or c++
#
# 77: there is no such compiler. Memory and time are limited, because compilers may not stop at a mistake.
set -eu
language=$1 compiler=$2
command -v "$compiler" >/dev/null || exit 77
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work" # a compiler that crashes leaves notes there
ulimit -v 2000000
if [ "$language" = c ]; then
    others='//C++:' standard=c11
else
    others='//C:' standard=c++17
fi
flags="-x $language -std=$standard -fsyntax-only -I$top/include"
case $("$compiler" --version) in
*clang*) flags="$flags -ferror-limit=0 -fmacro-backtrace-limit=1" ;;
*) flags="$flags -fmax-errors=0" ;;
esac

check() { # file
    if timeout 60 "$compiler" $flags "$1" >"$work/out" 2>&1; then
        echo "$compiler finds no mistake in $1"
        exit 1
    fi
    awk '
        function fail(text) { print text; failed = 1 }
        FNR == NR {
            if (match($0, /\/\/[C+]*: /)) wanted[FNR] = substr($0, RSTART + RLENGTH)
            next
        }
        # The place of a message is that of the line itself, or of the instantiation that asked for it.
        match($0, /mistakes\.c:[0-9]+/) { line = substr($0, RSTART + 11, RLENGTH - 11) + 0; seen[line] = 1 }
        /error: / && !/mistakes\.c/ { line = 0 }
        /error: / { errors++; said = said "\n" $0; if (line) at[line] = at[line] "\n" $0 }
        END {
            for (l in wanted) {
                if (!(l in seen)) fail("line " l " is in no message: " wanted[l])
                if (!index(said, wanted[l])) fail("line " l ": nothing says: " wanted[l])
                if (l in at && !index(at[l], wanted[l])) fail("line " l ": wanted " wanted[l] ", not" at[l])
            }
            for (l in at) if (!(l in wanted)) fail("line " l ": " at[l])
            exit failed
        }' "$1" "$work/out" || {
        cat "$work/out"
        exit 1
    }
}

# Lines of the other language become empty, so that numbers stay.
awk -v others="$others" '{ print index($0, others) ? "" : $0 }' "$top/tests/mistakes/mistakes.c" >"$work/mistakes.c"
check "$work/mistakes.c"

# What is right compiles without a warning, also of the insides of the macros.
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Werror -DSN_SHOW_WARNINGS"
right() {
    "$compiler" -x "$language" -fsyntax-only -I"$top/include" $strict "$@" "$top/tests/mistakes/right.c"
}
right -std=$standard
if [ "$language" = c ]; then
    right -std=gnu11 -Wstrict-prototypes
    right -std=$standard -pedantic-errors -DSN_NO_LIFTING
fi
