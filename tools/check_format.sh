#!/usr/bin/env bash
# Every C++ and CUDA file must be as .clang-format has it. Version 14 of clang-format decides (others break some lines
# elsewhere): Debian 12's, else PyPI's 14.0.6 in build/format. Without either it says so and ends well.
#   tools/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
format=clang-format-14
if ! command -v "$format" >/dev/null; then
  format=build/format/bin/clang-format
  if [ ! -x "$format" ]; then
    { python3 -m venv build/format && build/format/bin/python -m pip install -q 'clang-format==14.0.6'; } >/dev/null 2>&1 || {
      echo "check_format: clang-format 14 is not here and could not be fetched; formatting is not checked"
      exit 0
    }
  fi
fi
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh')
if [ "${1:-}" = --fix ]; then
  "$format" -i "${files[@]}"
  exit
fi
# One process for all: a process a file takes ten times as long.
mapfile -t off < <("$format" --dry-run "${files[@]}" 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: warning: code should be clang-formatted.*/\1/p' | sort -u)
if [ "${#off[@]}" -gt 0 ]; then
  printf '%s\n' "${off[@]}"
  echo "check_format: ${#off[@]} of ${#files[@]} files are not as .clang-format has them. tools/check_format.sh --fix?"
  exit 1
fi
# Comments are not wrapped by it.
mapfile -t headers < <(git ls-files '*.h')  # for C programs too: comments are of another kind
if awk 'length($0) > 120 && (FILENAME ~ /[.]h$/ || /^ *\/\//) { print FILENAME ":" FNR; found = 1 } END { exit !found }' \
  "${files[@]}" "${headers[@]}"; then
  echo "check_format: these lines are longer than 120 columns. Break them at a clause?"
  exit 1
fi
echo "check_format: ${#files[@]} files, all as .clang-format has them"
