#!/bin/sh
# The example that exports a program, what it wrote linked with the one that runs it, and the same by sinter-export.
# export_example.sh COMPILER INCLUDE LIBRARY EXAMPLE MAIN TOOL FOLDER
set -eu
cc=$1 include=$2 library=$3 example=$4 main=$5 tool=$6 folder=$7
rm -rf "$folder"
mkdir -p "$folder/cache"
status=0
"$example" "$folder/sharpen" || status=$?
if [ "$status" = 77 ]; then exit 77; fi
[ "$status" = 0 ]

run()
{
    "$cc" -std=c17 -I"$include" -I"$folder" "$main" "$folder/sharpen.o" "$library" -lm -lpthread -ldl -o "$folder/main"
    got=$(SINTER_CODEGEN=/none/of/this SINTER_CACHE_DIR="$folder/cache" SINTER_DEVICE=cpu "$folder/main")
    case $got in
    "-0.5 0 240, "*" kernels from the object, 0 compiled") ;;
    *)
        echo "$got" >&2
        exit 1
        ;;
    esac
}

run
cat >"$folder/text" <<'T'
signature "[rows,columns]f32 -> [rows,columns]f32, [columns]f32"
extents rows, columns
a1 = input [rows, columns]f32
a2 = stencil a1 pattern 3 x 3 clamp {x1: f32, x2: f32, x3: f32, x4: f32, x5: f32, x6: f32, x7: f32, x8: f32, x9: f32 -> x5 * 2.0f32 - (x2 + x8 + (x4 + x6)) * 0.25f32}
a3 = transpose: backpermute safe [columns, rows] a2 {x1: i64, x2: i64 -> x2, x1}
a4 = sum: fold commutes a3 seed 0.0f32 {x1: f32, x2: f32 -> x1 + x2}
output a2, a4
T
rm "$folder/sharpen.o" "$folder/sharpen.h"
"$tool" --for all "$folder/text" "$folder/sharpen"
run
"$tool" "$folder/text" "$folder/sharpen"
run
# mistakes are explained
! "$tool" "$folder/text" 2>"$folder/said"
grep -q 'a text and a prefix are wanted' "$folder/said"
! "$tool" --for x86-64-v9 "$folder/text" "$folder/sharpen" 2>"$folder/said"
grep -q 'is no set of instructions' "$folder/said"
! "$tool" "$folder/no" "$folder/sharpen" 2>"$folder/said"
grep -q 'no cannot be read' "$folder/said"
echo 'a1 = nonsense' >"$folder/no"
! "$tool" "$folder/no" "$folder/sharpen" 2>"$folder/said"
grep -q 'nonsense' "$folder/said"
grep -q "^sinter-export: $folder/no: parse_program: line " "$folder/said"
printf 'extents n\nb = input [n]u8\noutput b\n\000' >"$folder/no"
! "$tool" "$folder/no" "$folder/sharpen" 2>"$folder/said"
grep -q 'no is no text: there is a zero byte in it' "$folder/said"
rm -rf "$folder"
