#!/usr/bin/env bash
# Folders are the dependency order: kernels <- targets <- host <- { examples, tests, bench }. Fails on an #include that
# goes the other way.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
refuse() {  # folder, pattern of what it must not include
  if grep -rnE "^#include \"($2)/" "$1" --include='*.hpp' --include='*.cpp' --include='*.cu'; then
    echo "check_arrows: the files above, in $1, include upwards ($2)" >&2
    status=1
  fi
}
refuse kernels 'targets|host|tests|bench|examples'
refuse targets 'host|tests|bench|examples'
refuse kernels/samplers 'targets'
refuse host 'tests|bench|examples'
[ "$status" = 0 ] && echo "check_arrows: every include points down"
exit "$status"
