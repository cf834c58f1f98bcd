#!/usr/bin/env bash
# On a machine with a GPU: checks the CUDA backend, measures what the device reaches, then times runs beside what
# bench/roofline.py predicts, then the peers; all of it goes into OUTPUT/on_gpu.json, step by step.
#   bench/on_gpu.sh [--build DIR] [--output DIR] [--data DIR] [--peers FILE] [--steps LIST] [--problems LIST]
#                   [--seconds N]
#   bench/on_gpu.sh --pack FILE.tar.xz [--build DIR]
#   bench/on_gpu.sh --smoke --build build/emulated [--output DIR]
# --build: a build with CUDA, or a packed one; without it build/cuda is configured and built here.
# --output: where the JSON goes (bench/results). --steps: some of those that `python3 bench/on_gpu.py --help` lists, and
#   the JSON has their names. --problems: whose peers are run (german,neal,caravan,mnist).
# --seconds: nothing goes on for longer; what is left out is said. Where a command may take 600 s, these are five calls
#   with --seconds 560, and one for each problem of the peers:
#     --steps tests,ceilings     --steps bars,agreement,evaluators     --steps sanitizer     --steps sizes
#     --steps samplers           --steps peers --problems german
# --pack: packs the programs and the libraries they need, but not cuBLAS, to run on a machine that lacks the build's
#   dependencies: bench/on_gpu.sh --build FILE.tar.xz there finds cuBLAS in a toolkit or in Python's packages. It is small
#   when built for one kind of device (here an H100 or H200), and runs on other processors when built for what all have;
#   without the fused multiply-adds of x86-64-v3 the tests of equal bits are skipped:
#     -DKILOCHAIN_CUDA=ON -DKILOCHAIN_BENCH=ON -DKILOCHAIN_CUDA_ARCHITECTURES=90-real
#     -DKILOCHAIN_NATIVE=OFF -DCMAKE_CXX_FLAGS=-march=x86-64-v3
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
    --steps | --problems | --seconds) more+=("$1" "$2"); shift ;;
    --smoke) more+=("$1") ;;
    *) sed -n '2,/^set/s/^# //p' "$0" >&2; exit 2 ;;
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
  tar -xf "$build" -C "$unpacked" 2>/dev/null || python3 -m tarfile -e "$build" "$unpacked"  # where there is no xz
  build=$unpacked
fi
build=$(cd "$build" && pwd)

if [ -n "$pack" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir -p "$folder/tests" "$folder/lib"
  mkdir "$folder/bench"
  for file in kilochain tests/test_gpu bench/ceilings; do strip -o "$folder/$file" "$build/$file"; done
  # The C and C++ runtimes are every machine's own; cuBLAS is ten times the size of all the rest.
  ldd "$build/kilochain" "$build/tests/test_gpu" "$build/bench/ceilings" |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+|libcuda|libcublas|libcublasLt)\.so' |
    xargs -I{} cp -L {} "$folder/lib/"
  # Two programs with the same kernels: a dictionary that reaches from one to the other has them once.
  XZ_OPT="--lzma2=preset=3,dict=256MiB" tar -cJf "$pack" -C "$folder" .
  du -h "$pack"
  exit 0
fi

# Libraries: the packed ones, and what is missing then from the toolkit or from Python's packages, where each of CUDA's
# may have a folder of its own. For our programs alone: the peers have CUDA of their own.
programs=("$build/kilochain" "$build/tests/test_gpu" "$build/bench/ceilings")
chmod +x "${programs[@]}" 2>/dev/null || true
paths=$build/lib
mapfile -t folders < <(
  ls -d /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 ${CONDA_PREFIX:+"$CONDA_PREFIX/lib"} 2>/dev/null || true
  python3 -c '
import glob, site, sys
for base in dict.fromkeys(site.getsitepackages() + [site.getusersitepackages()] + sys.path):
    print(*glob.glob(base + "/nvidia/*/lib"), sep="\n")' 2>/dev/null)
lacking() {
  LD_LIBRARY_PATH=$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd "${programs[@]}" 2>&1 | awk '/not found/' | sort -u
}
for _ in 1 2; do  # what was found may need others
  for name in $(lacking | awk '$2 == "=>" { print $1 }'); do
    for folder in ${folders[@]+"${folders[@]}"}; do
      [ -n "$folder" ] && [ -e "$folder/$name" ] && paths=$paths:$folder && break
    done
  done
done
missing=$(lacking || true)
if [ -n "$missing" ]; then
  echo "on_gpu: libraries are missing: $missing. Install them (cuBLAS: pip install nvidia-cublas)," \
    "or pack the build with --pack?" >&2
  exit 2
fi
mkdir -p "$output"
python3 "$here/on_gpu.py" --build "$build" --output "$output" --data "$data" --peers "$peers" --libraries "$paths" \
  ${more[@]+"${more[@]}"}
