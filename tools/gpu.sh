#!/bin/sh
# On a machine with a CUDA GPU: conformance, random programs and the library's tests on it, then the benchmarks; prints a table and
# keeps it in build/gpu.md. gpu.sh BUILD-FOLDER [--quick] [names of benchmarks]. Status 77: there is no such GPU.
set -eu

build=$1
shift
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
quick=
if [ "${1:-}" = --quick ]; then
    quick=--quick
    shift
fi
table=$top/build/gpu.md
logs=$top/build/log
failed=0
mkdir -p "$logs"
export SINTER_DEVICE=cuda SINTER_CACHE_DIR="$top/build/kernels-gpu"
[ "$quick" ] || export SINTER_TEST_LONG=1

"$build/bin/sinter-info" >"$logs/gpu-info.log"
cat "$logs/gpu-info.log"
if ! "$build/bin/sinter-info" --json | grep -q '"device": "cuda"'; then
    echo 'There is no CUDA device that can be used: nothing to run.' >&2
    exit 77
fi

{
    printf '# %s\n\n```\n' "$(date -u +%Y-%m-%d)"
    cat "$logs/gpu-info.log"
    printf '```\n\n| test | result | seconds |\n|---|---|---|\n'
} >"$table"

test_on_gpu()
{
    log=$logs/gpu-$1.log
    started=$(date +%s)
    if "$build/tests/$1" >"$log" 2>&1; then result=passed; else result=FAILED; fi
    took=$(($(date +%s) - started))
    [ "$result" = passed ] || failed=1
    printf '%-24s %s %d s\n' "$1" "$result" "$took"
    printf '| %s | %s | %d |\n' "$1" "$result" "$took" >>"$table"
    [ "$result" = passed ] || tail -n 20 "$log"
}

for name in test_conformance test_prove test_run test_run_scalar test_errors_run test_programs test_random_programs test_matrix \
    test_devices test_dlpack test_dlpack_device test_determinism test_fold_rows test_fold_shapes test_hostile test_language \
    test_loops test_strided test_structs test_structure test_loop_contents test_wide test_concurrent_threads test_contexts_threads; do
    [ -x "$build/tests/$name" ] && test_on_gpu "$name"
done

show_and_keep()
{
    cat "$1"
    {
        printf '\n```\n'
        cat "$1"
        printf '```\n'
    } >>"$table"
}

bench_on_gpu()
{
    log=$logs/gpu-$1.log
    shift
    status=0
    "$@" >"$log" 2>&1 || status=$?
    show_and_keep "$log"
    [ "$status" -eq 0 ] || failed=1
}

# Programs that both have, by name: what CUB takes for each second of Sinter's.
against_cub()
{
    awk 'BEGIN { printf "%-14s %10s %10s %8s\n", "program", "Sinter ms", "CUB ms", "ratio" }
         FNR == NR { if ($3 + 0 > 0) ours[$1] = $3; next }
         $4 == "ms" && $1 in ours { printf "%-14s %10.4f %10.4f %8.2f\n", $1, ours[$1], $3, $3 / ours[$1] }' \
        "$logs/gpu-bench.log" "$logs/gpu-cub.log" >"$logs/gpu-ratios.log"
    show_and_keep "$logs/gpu-ratios.log"
}

# shellcheck disable=SC2086 # nothing or one word
bench_on_gpu bench "$build/bench/bench_cuda" $quick "$@"
# Without an nvcc here, what one has built before will do.
cub=$build/bench/cub
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    "$nvcc" -O3 -std=c++17 -w -arch=native -o "$cub" "$top/bench/cuda/cub.cu" >"$logs/gpu-nvcc.log" 2>&1 || rm -f "$cub"
fi
if [ -x "$cub" ]; then
    bench_on_gpu cub "$cub" "$@"
    [ "$quick" ] || against_cub
else
    echo 'No nvcc: not compared with CUB and Thrust.'
fi
echo "The table is in $table"
exit "$failed"
