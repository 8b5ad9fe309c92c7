#!/bin/sh
# Does every message about a mistake say what would be right: in a program, a call, a file, a tensor, a text, a device that
# is asked for? It does so behind a semicolon, or by what was expected: "argument 1 is of type f64, not f32"; "extent n is 3
# in argument 1, but 4 in ...". An index outside an extent names the extent. That there is no memory is no mistake, nor is
# what Sinter did wrong itself; what a driver or the system says is passed on, behind a colon at the end.
#
#   tests/mistakes/messages.sh FILE...
set -eu
awk '
# The literals from this place of the text to the end of the statement or of the call, each behind a bar.
function literals(text, at,    depth, c, out) {
    depth = 1
    while (depth > 0 && at <= length(text)) {
        c = substr(text, at++, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == ";") depth = 0
        if (c == "\"") {
            out = out "|"
            while ((c = substr(text, at++, 1)) != "\"" && c != "") {
                if (c == "\\") c = c substr(text, at++, 1)
                out = out c
            }
        }
    }
    return out
}
function is_good(said) {
    return said ~ /; / || said ~ /, not / || said ~ / but / || said ~ /[|]expected / || said ~ /: expected / || \
           said ~ /outside the extent/
}
function is_no_mistake(said) {
    return said !~ /[a-z][a-z]/ || said !~ / / || said ~ /[|](|.*: )%s([|]|$)/ || \
           said ~ /(no|out of) memory/ || said ~ /^[|]internal error/
}
function look(name, text,    says, from, said, rest, lines) {
    from = 1
    says = name ~ /(api\/array|device\/(cuda|opencl))\.c$/ ? calls "|return |\\? NULL : " : calls # reasons as values
    while (match(substr(text, from), says)) {
        said = literals(text, from + RSTART + RLENGTH - 1)
        rest = substr(text, 1, from + RSTART)
        lines = gsub(/\n/, "", rest) + 1
        from += RSTART + RLENGTH - 1
        if (is_no_mistake(said))
            continue
        count++
        if (!is_good(said)) { print name ":" lines ": " said; failed = 1 }
    }
}
BEGIN {
    calls = "op_fail call_fail api_fail api_fail_at api_warn refuse fail ir_fail parser_fail interpret_fails run_fails run_fails_at fails_behind"
    gsub(/ /, "|", calls)
    calls = "[^a-z_](" calls ")\\(|why = "
}
FNR == 1 { if (name) look(name, text); name = FILENAME; text = "" }
{ text = text $0 "\n" }
END {
    look(name, text)
    if (count < 250) { print "only " count " messages were found"; failed = 1 }
    if (ENVIRON["COUNT"]) print count
    exit failed
}' "$@"
