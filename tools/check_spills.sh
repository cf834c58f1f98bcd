#!/usr/bin/env bash
# Compiles every CUDA source for sm_80 and sm_90 and fails on a compiler warning, or on a spill or stack frame in a hot kernel
# (those that run in every iteration), or on static shared memory where a launch takes all there is. Usage: tools/check_spills.sh [build directory] [architectures, such as "90"]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/spills}
architectures=${2:-80;90}
hot='advance_chains|advance_with_products|place_chains|square_factor|evaluate_chains|evaluate_blocks'
hot+='|iterate_blocks|iterate_warps|pool_|set_segment|copy_records|design_residuals|design_answers|split_points|select_asking|gather_points'
log=$build/ptxas.log
mkdir -p "$build"
launcher=()
if command -v ccache >/dev/null; then  # it keeps the compiler's report with the object, and says it again
  launcher=(-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi
# Precompiled headers would have the host's library built before any kernel.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKILOCHAIN_CUDA=ON -DKILOCHAIN_CUDA_REPORT=ON \
  -DKILOCHAIN_PRECOMPILE=OFF \
  "${launcher[@]}" -DKILOCHAIN_CUDA_ARCHITECTURES="$architectures" > "$build/configure.log" 2>&1 ||
  { cat "$build/configure.log" >&2; exit 1; }
objects=$(ninja -C "$build" -t targets all | sed -n 's/^\(.*\.cu\.o\): .*/\1/p')
# Reports come when an object is made: all are made anew.
for o in $objects; do rm -f "$build/$o"; done
nice -n 5 ninja -C "$build" -j "$(nproc)" $objects > "$log" 2>&1 || { cat "$log" >&2; exit 1; }
status=0
if grep -nE 'warning|Warning' "$log"; then
  echo "check_spills: compiler warnings (above)" >&2
  status=1
fi
kernels=$(grep -cE "Compiling entry function" "$log" || true)
spills=$(awk -v hot="$hot" '
  /Compiling entry function/ { name = $0; sub(/.*function ./, "", name); sub(/. for .*/, "", name); arch = $NF }
  /bytes stack frame/ { if (name ~ hot && ($1 > 0 || $5 > 0 || $9 > 0)) print name, arch ":", $0; name = "" }
' "$log")
if [ -n "$spills" ]; then
  printf '%s\n' "$spills" >&2
  echo "check_spills: stack or spills in the hot kernels above" >&2
  status=1
fi
# These are launched with all the shared memory that a block may have: nothing is left for the compiler.
static=$(awk '
  /Compiling entry function/ { name = $0; sub(/.*function ./, "", name); sub(/. for .*/, "", name); arch = $NF }
  /Used .* registers/ && / smem/ && name ~ /evaluate_blocks|iterate_blocks/ { print name, arch ":", $0 }
' "$log")
if [ -n "$static" ]; then
  printf '%s\n' "$static" >&2
  echo "check_spills: static shared memory beside the dynamic in the kernels above" >&2
  status=1
fi
[ "$kernels" -gt 0 ] || { echo "check_spills: no kernel was compiled" >&2; status=1; }
[ "$status" = 0 ] && echo "check_spills: $kernels kernels, no warnings, no spills in hot kernels ($architectures)"
exit "$status"
