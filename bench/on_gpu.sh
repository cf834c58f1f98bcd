#!/usr/bin/env bash
# One call on a machine with a GPU: checks the CUDA backend, measures what the device reaches, then times runs beside what
# bench/roofline.py predicts, then the peers; all of it goes into OUTPUT/on_gpu.json, step by step.
#   bench/on_gpu.sh [--build DIR] [--output DIR] [--data DIR] [--peers FILE] [--steps LIST] [--seconds N]
#   bench/on_gpu.sh --pack FILE.tar.xz [--build DIR]
#   bench/on_gpu.sh --smoke --build build/emulated [--output DIR]
# --build: a build with CUDA, or a packed one; without it build/cuda is configured and built here.
# --output: where the JSON goes (bench/results). --steps: some of those that `python3 bench/on_gpu.py --help` lists.
# --seconds: nothing is begun that would end later; what is left out is said.
# --pack: packs the programs and the libraries they need, but not CUDA's, to run on a machine that lacks the build's
#   dependencies: bench/on_gpu.sh --build FILE.tar.xz there. Build with -DKILOCHAIN_NATIVE=OFF if its processor is another.
# --smoke: every step in seconds, with tables made up: a test of this script (ctest, bench.on_gpu), not of a device.
# Exit status 0 only if every check passed on a device; timings are not judged.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=$root/shared
[ -d "$shared" ] || shared=$root/../shared
build= output=$here/results data=$shared/data peers=$shared/peers/bench_peers.py pack= more=()
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --output) output=$2; shift ;;
    --data) data=$2; shift ;;
    --peers) peers=$2; shift ;;
    --pack) pack=$2; shift ;;
    --steps | --seconds) more+=("$1" "$2"); shift ;;
    --smoke) more+=("$1") ;;
    *) sed -n '2,15s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done

if [ -z "$build" ]; then
  build=$root/build/cuda
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKILOCHAIN_CUDA=ON -DKILOCHAIN_BENCH=ON
  cmake --build "$build" --target kilochain test_gpu ceilings
fi
if [ -f "$build" ]; then
  unpacked=$(mktemp -d)
  trap 'rm -rf "$unpacked"' EXIT
  tar -xf "$build" -C "$unpacked"
  build=$unpacked
fi
build=$(cd "$build" && pwd)

if [ -n "$pack" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir -p "$folder/tests" "$folder/lib"
  mkdir "$folder/bench"
  for file in kilochain tests/test_gpu bench/ceilings; do strip -o "$folder/$file" "$build/$file"; done
  # The C and C++ runtimes are every machine's own; CUDA's belong to its driver.
  ldd "$build/kilochain" "$build/tests/test_gpu" "$build/bench/ceilings" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+|libcuda|libcublas|libcublasLt)\.so' |
    xargs -I{} cp -L {} "$folder/lib/"
  XZ_OPT=-2 tar -cJf "$pack" -C "$folder" .
  du -h "$pack"
  exit 0
fi

# Libraries: the packed ones, and CUDA's from the toolkit or from a Python package.
paths=$build/lib
for folder in /usr/local/cuda/lib64 $(python3 -c '
import glob, site, sys
for base in site.getsitepackages():
    print(*glob.glob(base + "/nvidia/*/lib"), sep="\n")' 2>/dev/null); do
  ls "$folder"/libcublas.so* "$folder"/libcudart.so* >/dev/null 2>&1 && paths=$paths:$folder
done
export LD_LIBRARY_PATH=$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
chmod +x "$build/kilochain" "$build/tests/test_gpu" 2>/dev/null || true
missing=$(ldd "$build/kilochain" "$build/tests/test_gpu" | grep 'not found' || true)
if [ -n "$missing" ]; then
  echo "on_gpu: libraries are missing: $missing. Install them, or pack the build with --pack?" >&2
  exit 2
fi
mkdir -p "$output"
python3 "$here/on_gpu.py" --build "$build" --output "$output" --data "$data" --peers "$peers" ${more[@]+"${more[@]}"}
