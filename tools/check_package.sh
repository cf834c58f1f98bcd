#!/usr/bin/env bash
# Installs a build, builds examples/posteriors against it as another project would, and runs it: reference posteriors within
# 4 standard errors, by NUTS and with nothing said but data, and the command line with targets of its own.
#   tools/check_package.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
place=$build/package
rm -rf "$place/installed"
cmake --install "$build" --prefix "$place/installed" >/dev/null
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S examples/posteriors -B "$place/posteriors" -G Ninja -DCMAKE_PREFIX_PATH="$place/installed" "${launcher[@]}" >"$place/configure.log" 2>&1 || { cat "$place/configure.log" >&2; exit 1; }
cmake --build "$place/posteriors" >"$place/build.log" 2>&1 || { cat "$place/build.log" >&2; exit 1; }
# Files of another project get no flags of ours; a model's and a sampler's do.
grep -q -- -fno-trapping-math "$place/posteriors/build.ninja"
if sed -n '/^build.*check_posteriors.cpp.o:/,/^$/p' "$place/posteriors/build.ninja" | grep -e -march= -e -mprefer -e -fno-math -e -W; then
  echo "flags of Kilochain's own reach another project's files" >&2
  exit 1
fi
printf '1,0\n0,4\n' >"$place/covariance.csv"
"$place/posteriors/my_kilochain" targets eight_schools
"$place/posteriors/my_kilochain" sample --target gaussian --covariance "$place/covariance.csv" --sampler two_scales --num-chains 64 --num-warmup 1000 --num-samples 10000 --quiet
"$place/posteriors/my_kilochain" sample --target eight_schools --data data/eight_schools.json --sampler nuts --num-chains 32 --num-warmup 1000 --num-samples 1000 --output "$place/schools.nc" --overwrite --quiet
"$place/posteriors/my_kilochain" summary "$place/schools.nc" --rows 3
"$place/posteriors/my_kilochain" sample --target state_space --data data/state_space.json --quiet
if [ -d ../shared/posteriordb ]; then
  "$place/posteriors/check_posteriors" ../shared/posteriordb
  "$place/posteriors/check_posteriors" ../shared/posteriordb nuts eight_schools kidiq arma low_dim_gauss_mix sblrc mesquite
  # No reference: status 0 says that it has converged.
  "$place/posteriors/my_kilochain" sample --target radon_noncentred --data ../shared/posteriordb/radon_mn-radon_hierarchical_intercept_noncentered/data.json --quiet
else
  echo "SKIPPED: no ../shared/posteriordb beside this folder: means and mean squares are not compared"
fi
