#!/bin/sh
# sinter-export, used wrongly, where files cannot be read or written, and in its plain way: test_export_tool.sh TOOL FOLDER
set -eu

tool=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
trap 'cd /; rm -rf "$folder"' EXIT
unset SINTER_DEVICE

cat >dot.terms <<'T'
signature "[n]f32, [n]f32 -> f32"
extents n
a1 = input [n]f32
a2 = input [n]f32
a3 = zip_with: map a1, a2 {x1: f32, x2: f32 -> x1 * x2}
a4 = fold commutes a3 seed 0.0f32 {x1: f32, x2: f32 -> x1 + x2}
output a4
T

fail()
{
    printf '%s, in\n' "$*" >&2
    cat said >&2
    exit 1
}

# run STATUS WHAT-IS-SAID ARGUMENT...
run()
{
    wanted=$1 said=$2 status=0
    shift 2
    "$tool" "$@" >said 2>&1 || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted, of $*"
    [ -z "$said" ] || grep -qF -- "$said" said || fail "missing: $said, of $*"
}

status=0
"$tool" dot.terms dot >said 2>&1 || status=$?
if [ "$status" = 1 ] && grep -q 'code generator' said; then exit 77; fi
[ "$status" = 0 ] && [ -s dot.o ] && [ -s dot.h ] && [ ! -s said ] || fail "status $status"

run 2 'a text and a prefix are wanted'
run 2 'a text and a prefix are wanted' dot.terms
run 2 'one argument too many: b' dot.terms a b
run 2 'unknown argument -x' -x
run 2 '--for wants sets of instructions' --for
run 2 '--for wants sets of instructions' --for ', ' dot.terms a
run 1 '"x86" is no set of instructions' --for x86 dot.terms a
run 1 'does not end with a name of C' dot.terms 1a
run 1 'nowhere/a.o cannot be written: No such file or directory' dot.terms nowhere/a
run 1 '"sn_open" is a function of the library' dot.terms sn
run 1 'missing.terms cannot be read: No such file or directory' missing.terms a
run 1 '. cannot be read: Is a directory' . a
printf 'output\0a' >zero.terms
run 1 'zero.terms is no text: there is a zero byte in it' zero.terms a
run 0 'usage: ' --help
run 0 'sinter-export ' --version

# What begins with a minus, behind "--"; the environment's device, which is for programs, does not count.
cp dot.terms ./-dot.terms
run 0 '' -- -dot.terms minus
[ -s minus.o ] || fail 'no minus.o'
rm minus.o
export SINTER_DEVICE=interpreter
run 0 '' dot.terms minus
[ -s minus.o ] || fail 'no minus.o'
unset SINTER_DEVICE

# Where nothing more can be written there is no half of a file.
if [ -c /dev/full ]; then
    for option in --help --version; do
        status=0
        "$tool" $option 2>said >/dev/full || status=$?
        [ "$status" = 1 ] || fail "status $status of $option"
        grep -q 'cannot be written' said || fail "nothing said by $option"
    done
    ln -s /dev/full full.o
    run 1 'full.o cannot be written: No space left on device' dot.terms full
    [ -c full.o ] || fail 'the device was removed'
fi
status=0
(trap '' XFSZ; ulimit -f 1; "$tool" dot.terms big) 2>said || status=$?
[ "$status" = 1 ] || fail "status $status, with little room"
[ ! -e big.o ] || fail 'half an object was left'
