#!/usr/bin/env bash
# On a machine with a GPU: checks the CUDA backend, measures what the device reaches, then times runs beside what
# bench/roofline.py predicts, then the peers. Results go into OUTPUT, step by step: on_gpu*.json, and a page of both.
#   bench/on_gpu.sh [--build DIR|FILE] [--output DIR] [--data DIR] [--peers FILE] [--call 1|2|3] [--steps LIST]
#                   [--problems LIST] [--seconds N]
#   bench/on_gpu.sh --pack FOLDER
#   bench/on_gpu.sh --smoke --build build/emulated [--output DIR]
# The first hour on a new machine is three commands of nine minutes at most. Carry the sources and the folder build/gpu,
# which `bench/on_gpu.sh --pack build/gpu` makes beforehand (programs, their libraries, data, the peers); there:
#   bench/on_gpu.sh --build build/gpu/pack.tar.xz --output OUT --call 1     tests, ceilings, bars, kernels, sanitizers: 4 minutes
#   bench/on_gpu.sh --build build/gpu/pack.tar.xz --output OUT --call 2     agreement with the CPU, all sizes, other samplers
#   bench/on_gpu.sh --build build/gpu/pack.tar.xz --output OUT --call 3     peers on German, Caravan and MNIST
# Without build/gpu: --build names a build with CUDA; without it build/cuda is configured and built.
# --steps: some of those that `python3 bench/on_gpu.py --help` lists (the sanitizers' tools, all sizes, other samplers).
# --problems: whose peers are run (german,neal,caravan,mnist). --seconds: what is not done by then is left out, and said.
# --pack: for devices of compute capability 9.0 (H100, H200) and processors of x86-64-v3. cuBLAS is not in it: it is found
#   in a toolkit or in Python's packages.
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
    --steps | --problems | --seconds | --call) more+=("$1" "$2"); shift ;;
    --smoke) more+=("$1") ;;
    *) sed -n '2,/^set/s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done

configure() { cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKILOCHAIN_CUDA=ON -DKILOCHAIN_BENCH=ON "$@"; }
if [ -z "$build" ] && [ -n "$pack" ]; then
  build=$root/build/packed
  configure -DKILOCHAIN_CUDA_ARCHITECTURES=90-real -DKILOCHAIN_NATIVE=OFF -DCMAKE_CXX_FLAGS=-march=x86-64-v3 -DKILOCHAIN_PAPERS=OFF
  cmake --build "$build" --target kilochain test_gpu ceilings
elif [ -z "$build" ]; then
  build=$root/build/cuda
  configure
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
  mkdir -p "$folder/tests" "$folder/lib" "$folder/bench" "$folder/data" "$pack"
  for file in kilochain tests/test_gpu bench/ceilings; do strip -o "$folder/$file" "$build/$file"; done
  # The C and C++ runtimes are every machine's own, OpenMP's is not; cuBLAS is ten times the size of all the rest.
  ldd "$build/kilochain" "$build/tests/test_gpu" "$build/bench/ceilings" |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+|libcuda|libcublas|libcublasLt)\.so' |
    xargs -I{} cp -L {} "$folder/lib/"
  for file in german.csv caravan.csv mnist56-images-idx3-ubyte.gz mnist56-labels-idx1-ubyte.gz; do
    if [ -f "$data/$file" ]; then cp "$data/$file" "$folder/data/"; else echo "on_gpu: no $data/$file to pack; --data?" >&2; fi
  done
  if [ -f "$peers" ]; then cp "$peers" "$folder/data/"; else echo "on_gpu: no $peers to pack; --peers?" >&2; fi
  # Both are Python alone; JAX is the machine's own.
  python3 -m pip download -q --no-deps --only-binary=:all: -d "$folder/wheels" blackjax numpyro >&2 ||
    echo "on_gpu: the peers' wheels could not be fetched and are not packed" >&2
  git -C "$root" rev-parse --short HEAD >"$folder/commit" 2>/dev/null || true
  # Two programs with the same kernels: a dictionary that reaches from one to the other has them once.
  XZ_OPT="--lzma2=preset=3,dict=256MiB" tar -cJf "$pack/pack.tar.xz" -C "$folder" .
  du -h "$pack/pack.tar.xz"
  size=$(stat -c %s "$pack/pack.tar.xz")
  [ "$size" -le $((50 * 1024 * 1024)) ] || { echo "on_gpu: the pack has $size bytes, more than 50 MiB" >&2; exit 1; }
  exit 0
fi
[ -f "$build/commit" ] && export KILOCHAIN_COMMIT=$(cat "$build/commit")
if [ -f "$build/data/german.csv" ] && [ ! -f "$data/german.csv" ]; then data=$build/data; fi
[ -f "$peers" ] || peers=$build/data/bench_peers.py

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
