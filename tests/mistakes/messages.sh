#!/bin/sh
# Does every message about a mistake in a program or a call say what would be right? It does so behind a semicolon, or
# with "not": "argument 1 is of type f64, not f32". That there is no memory is no mistake.
#
#   tests/mistakes/messages.sh FILE...
set -eu
awk '
# The literals between the parentheses of a call that begins at this place of the text, one behind the other.
function literals(text, at,    depth, c, out) {
    depth = 1
    while (depth > 0 && at <= length(text)) {
        c = substr(text, at++, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "\"")
            while ((c = substr(text, at++, 1)) != "\"") {
                if (c == "\\") c = c substr(text, at++, 1)
                out = out c
            }
    }
    return out
}
function look(name, text,    from, said, rest, lines) {
    from = 1
    while (match(substr(text, from), /(op_fail|call_fail)\(/)) {
        said = literals(text, from + RSTART + RLENGTH - 1)
        rest = substr(text, 1, from + RSTART)
        lines = gsub(/\n/, "", rest) + 1
        from += RSTART + RLENGTH - 1
        if (said ~ /[a-z][a-z]/ && said !~ /^no memory/) {
            count++
            if (said !~ /; / && said !~ /, not %/) { print name ":" lines ": " said; failed = 1 }
        }
    }
}
FNR == 1 { if (name) look(name, text); name = FILENAME; text = "" }
{ text = text $0 "\n" }
END {
    look(name, text)
    if (count < 50) { print "only " count " messages were found"; failed = 1 }
    exit failed
}' "$@"
