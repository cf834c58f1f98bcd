#!/usr/bin/env bash
# Each room may include itself and the rooms listed beside it; nothing else. Fails on an #include that is not in the table.
# A room is a folder with what lies below it; a folder that is listed itself is a room of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

kernels='kernels kernels/device kernels/random kernels/linalg kernels/adapt'
steps='host/statistics host/statistics/streaming host/chains host/draws host/registry'
rooms=$(cat <<EOF
base
kernels/device            base
kernels/random            base kernels/device
kernels                   base kernels/device kernels/random
kernels/linalg            base kernels kernels/device
kernels/adapt             base kernels kernels/device kernels/random kernels/linalg
kernels/samplers          base $kernels
kernels/discrete          base kernels kernels/device kernels/random
targets/data              base kernels/device
targets                   base kernels kernels/device kernels/random kernels/linalg targets/data
targets/discrete          base kernels kernels/device kernels/random kernels/discrete targets targets/data
targets/external          base kernels kernels/device targets
targets/stan              base kernels kernels/device targets targets/data targets/external
model                     base kernels kernels/device kernels/random targets targets/data
host/statistics           base kernels/device
host/statistics/streaming base kernels/device host/statistics
host/chains               base $kernels kernels/discrete targets targets/discrete
host/draws                base kernels/device host/statistics host/chains
host/registry             base kernels kernels/device kernels/samplers kernels/discrete targets targets/data targets/discrete targets/external model host/chains
host/tune                 base kernels/device kernels/random
host/learn                base kernels kernels/device targets/data host/statistics host/chains
host/run                  base kernels kernels/device kernels/random targets targets/data targets/discrete $steps host/learn
host/report               base kernels/device host/statistics host/draws host/run
host/frontend             base kernels kernels/device targets/data targets/stan $steps host/run host/report host/tune
capi                      base host/registry host/run host/frontend
python                    base targets/data targets/external host/registry host/run host/frontend
papers                    base $kernels targets targets/data targets/discrete $steps host/run host/tune host/frontend
include                   host/run host/registry kernels kernels/adapt model
examples                  include model
tests                     *
bench                     *
EOF
)

git ls-files -- '*.hpp' '*.cpp' '*.cu' '*.cuh' | xargs grep -HnE '^ *#include "' | awk -v rooms="$rooms" '
  function room_of(path,   r, best) {
    best = ""
    for (r in allowed) if (index(path, r "/") == 1 && length(r) > length(best)) best = r
    return best
  }
  BEGIN {
    lines = split(rooms, row, "\n")
    for (i = 1; i <= lines; ++i) {
      words = split(row[i], word, " ")
      allowed[word[1]] = " " word[1] " "
      for (k = 2; k <= words; ++k) allowed[word[1]] = allowed[word[1]] word[k] " "
    }
  }
  {
    split($0, at, ":"); split($0, quoted, "\"")
    from = room_of(at[1]); to = room_of(quoted[2])
    if (from == "") { print at[1] ":" at[2] ": " at[1] " is in no room of the table"; bad = 1; next }
    if (to == "" || index(allowed[from], " * ") || index(allowed[from], " " to " ")) next
    print at[1] ":" at[2] ": " from " must not include " to " (" quoted[2] ")"
    bad = 1
  }
  END { if (bad) { print "check_arrows: the includes above go against the table in tools/check_arrows.sh"; exit 1 }
        print "check_arrows: every include goes along an arrow" }'
