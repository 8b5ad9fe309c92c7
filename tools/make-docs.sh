#!/bin/sh
# Writes the table of scalar operations in docs/language.md, between its two marks, from the operator table src/ir/ops.def.
#
#   tools/make-docs.sh            rewrites docs/language.md
#   tools/make-docs.sh --check    fails if that would change it (a test does this)
set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
page=$top/docs/language.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT

scalar_table()
{
    awk '
    /^\/\*  / {
        heading = $0; sub(/^\/\*  /, "", heading); sub(/ *\*\/$/, "", heading);
        next
    }
    /^OP\(/ {
        line = $0; sub(/^OP\(/, "", line);
        doc = line; sub(/^[^"]*"/, "", doc); sub(/"\) *$/, "", doc);
        sub(/, *".*$/, "", line);
        split(line, f, / *, */);
        if (f[4] == "OWN") next; # no part of the language
        if (heading) printf "\n**%s%s**\n\n| C | on | gives | what |\n|---|---|---|---|\n", toupper(substr(heading, 1, 1)), substr(heading, 2);
        heading = "";
        call = "sn_" f[2] (f[3] == 1 ? "(a)" : f[3] == 2 ? "(a, b)" : "(a, b, c)");
        on["INT"] = "integers"; on["FLOAT"] = "floats"; on["NUM"] = "numbers"; on["ANY"] = "all"; on["BOOL"] = "bool";
        gives = f[4] == "TEST" ? "bool" : f[4] == "COUNT" ? "i32" : "the same type";
        if (f[2] == "convert") { call = "sn_to_f32(a), ..., sn_to(type, a)"; gives = "that type" }
        if (f[2] == "bitcast") { call = "sn_bitcast(type, a)"; gives = "that type" }
        if (f[6] ~ /PARTIAL/) doc = doc " (integers: an error by zero, or the smallest by -1)";
        printf "| `%s` | %s | %s | %s |\n", call, on[f[5]], gives, doc;
    }' "$top/src/ir/ops.def"
}

table=$(scalar_table) awk '
/^<!-- operators/ { print; print ENVIRON["table"] "\n"; skipping = 1; next }
/^<!-- end of operators/ { skipping = 0 }
!skipping' "$page" >"$new"

if [ "${1:-}" = --check ]; then
    cmp -s "$new" "$page" && exit 0
    echo "docs/language.md is not what src/ir/ops.def says: run tools/make-docs.sh" >&2
    diff "$page" "$new" >&2 || :
    exit 1
fi
cat "$new" >"$page"
