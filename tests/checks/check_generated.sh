#!/bin/bash
# Fails when docs/generated/ is not what the command writes now. `./do format` writes it anew.
#   check_generated.sh MOTE_COMMAND
set -euo pipefail
cd "$(dirname "$0")/../.."
status=0
check() { # FILE OPTION
  local found="${TMPDIR:-/tmp}/mote_generated.$$.diff"
  if ! "$mote" ops "$2" | diff -u "docs/generated/$1" - > "$found"; then
    head -40 "$found"
    echo "docs/generated/$1 is out of date: run ./do format"
    status=1
  fi
  rm -f "$found"
}
mote=$1
check operators.md --markdown
check aten.md --aten
exit "$status"
