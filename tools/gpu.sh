#!/bin/sh
# On a machine with a CUDA GPU: conformance, random programs and the library's tests on it, then the benchmarks; prints a table and
# keeps it in build/gpu.md. gpu.sh BUILD-FOLDER [--quick | --long] [names of benchmarks]: small benchmarks, or all that tests have.
# Status 77: there is no such GPU.
set -eu

build=$1
shift
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
quick=
long=
case ${1:-} in
--quick | --long)
    if [ "$1" = --quick ]; then quick=$1; else long=$1; fi
    shift
    ;;
esac
table=$top/build/gpu.md
logs=$top/build/log
failed=0
mkdir -p "$logs"
export SINTER_DEVICE=cuda SINTER_CACHE_DIR="$top/build/kernels-gpu"
if [ "$long" ]; then export SINTER_TEST_LONG=1; else export SINTER_TEST_SAMPLE=1; fi

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

# Of a build, for logs, a test: a line with its name, its status and how many seconds it took.
# shellcheck disable=SC2016 # for the shell that runs it
one_test='started=$(date +%s) status=0
"$0/tests/$2" >"$1/gpu-$2.log" 2>&1 || status=$?
echo "$2 $status $(($(date +%s) - started))"'

# All tests of the library, as they are registered; those that take longest first, several at a time, as compiling takes most of it.
# Not those of what only CPUs have: traced values, the code generator in this process, exact counts of its kernels and copies.
on_cpus='^test_(trace|no_codegen|generator_failure|address_space|count|costs)$'
results=$logs/gpu-tests.log
{
    printf '%s\n' test_large test_random_programs test_prove test_segments test_fold_choice test_conformance test_sort test_control
    ctest --test-dir "$build" -N -L '^(api|conformance)$' | sed -n 's/^ *Test *#[0-9]*: \(test_[a-z0-9_]*\).*/\1/p'
    echo test_programs
} | grep -vE "$on_cpus" | awk '!seen[$0]++' | while read -r name; do
    [ -x "$build/tests/$name" ] && echo "$name"
done | xargs -P "$(nproc)" -n 1 sh -c "$one_test" "$build" "$logs" >"$results"
while read -r name status took; do
    result=passed
    [ "$status" -ne 77 ] || result='passed but for what was skipped' # 77
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        result=FAILED
        failed=1
        tail -n 20 "$logs/gpu-$name.log"
    fi
    printf '%-24s %s %d s\n' "$name" "$result" "$took"
    printf '| %s | %s | %d |\n' "$name" "$result" "$took" >>"$table"
done <"$results"

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
