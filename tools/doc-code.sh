#!/bin/sh
# Prints the C code of a page of documentation as one file: every block between ```c and ```, and every comment <!-- c ... -->,
# which holds what the tests need and readers do not see (includes, main). The same for C++ and Python, with cpp and python for c. tests/CMakeLists.txt
# compiles and runs the result; #line makes errors, and places in Sinter's messages, those of the page.
#
#   tools/doc-code.sh docs/errors.md [cpp|python]
set -eu

awk -v page="$1" -v language="${2:-c}" '
$0 == "```" language || $0 == "<!-- " language { code = 1; printf "#line %d \"%s\"\n", FNR + 1, page; next }
code && (/^```$/ || /^-->$/) { code = 0; next }
code
END { if (code) { print "#error a block of code does not end"; exit 1 } }
' "$1"
