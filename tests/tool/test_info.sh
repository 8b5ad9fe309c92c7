#!/bin/sh
# sinter-info against libraries that stand in for CUDA's, and where there is nothing: test_info.sh TOOL FAKE_CUDA FAKE_NVRTC
set -eu

tool=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
export SINTER_OPENCL=/nowhere/libOpenCL.so

fail()
{
    printf '%s, in\n' "$*" >&2
    cat "$out" >&2
    exit 1
}

has()
{
    grep -qF -- "$1" "$out" || fail "missing: $1"
}

export SINTER_CUDA="$2" SINTER_NVRTC="$3"
"$tool" >"$out"
has 'cpu        '
has 'cuda       Fake device 0'
has 'cuda:1     Fake device 1'
has '1.0 GiB of memory, 4 compute units'
has 'CUDA 12.4, NVRTC 12.4, compute capability 8.6'
has 'not usable: compute capability 6.0 is below 7.0'
has 'not usable: there is no OpenCL loader: /nowhere/libOpenCL.so'

"$tool" --json >"$out"
has '{"device": "cuda:1", "kind": "cuda", "name": "Fake device 1", "driver": "CUDA 12.4, NVRTC 12.4, compute capability 8.6", "memory": 1073741824, "units": 4, "usable": true, "why": null}'
has '{"device": null, "kind": "opencl", "name": null, "driver": null, "memory": null, "units": null, "usable": false, "why": "there is no OpenCL loader'
if command -v python3 >/dev/null; then
    python3 -m json.tool "$out" >/dev/null || fail 'not JSON'
fi

SINTER_NVRTC=/nowhere/libnvrtc.so "$tool" >"$out"
has 'not usable: no NVRTC: /nowhere/libnvrtc.so'
SINTER_CUDA=/nowhere/libcuda.so.1 "$tool" >"$out"
has 'not usable: no CUDA driver: /nowhere/libcuda.so.1'

"$tool" --version >"$out"
grep -qx 'sinter-info [0-9]*\.[0-9]*\.[0-9]*' "$out" || fail 'no version'
"$tool" --help >"$out"
has 'usage: sinter-info'
if [ -c /dev/full ]; then
    for option in --help --version --json; do
        status=0
        "$tool" $option 2>"$out" >/dev/full || status=$?
        [ "$status" -eq 1 ] || fail "status $status of $option"
        has 'the output cannot be written: No space left on device'
    done
fi
status=0
"$tool" --unheard-of >"$out" 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "status $status, not 2"
has 'unknown argument --unheard-of'
