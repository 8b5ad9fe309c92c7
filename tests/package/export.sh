#!/bin/sh
# An exported program is linked with a program of its own, and runs where there is no code generator.
# export.sh COMPILER INCLUDE LIBRARY EXPORTER FOLDER
set -eu
cc=$1 include=$2 library=$3 exporter=$4 folder=$5
rm -rf "$folder"
mkdir -p "$folder/cache"
status=0
wanted=$("$exporter" "$folder/saxpy") || status=$?
if [ "$status" = 77 ]; then exit 77; fi
[ "$status" = 0 ]
cat >"$folder/main.c" <<'C'
#include "saxpy.h"

#include <stdio.h>

int main(void)
{
    enum { N = 100003 };
    static float x[N], y[N], z[N];
    float a = 0.5f, sum = 0, table[4];
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 97) / 7;
        y[i] = (float)(i % 89) / 3;
    }
    sn_context *cx = sn_open(NULL);
    sn_program *p = cx ? saxpy_open(cx) : NULL;
    if (!p || sn_call(p, sn_value(&a), sn_in(x, N), sn_in(y, N), sn_into(z, N), sn_value(&sum), sn_into(table, 4)) != SN_OK) {
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
        return 1;
    }
    if (sn_counts(cx).compiled || !sn_counts(cx).loaded || table[3] != -4)
        return 2;
    printf("%.9g\n", (double)sum);
    sn_drop(p);
    sn_close(cx);
    return 0;
}
C
"$cc" -std=c17 -I"$include" -I"$folder" "$folder/main.c" "$folder/saxpy.o" "$library" -lm -lpthread -ldl -o "$folder/main"
got=$(SINTER_CODEGEN=/none/of/this SINTER_CACHE_DIR="$folder/cache" SINTER_DEVICE=cpu "$folder/main")
[ "$got" = "$wanted" ] || { echo "$got, not $wanted" >&2; exit 1; }
rm -rf "$folder"
