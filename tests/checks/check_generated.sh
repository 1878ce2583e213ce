#!/bin/bash
# Fails when pages of docs/generated/ are out of date. `./do format` writes it anew.
#   check_generated.sh MOTE_COMMAND [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/../.."
status=0
check() { # FILE COMMAND...
  local found="${TMPDIR:-/tmp}/mote_generated.$$.diff"
  if ! "${@:2}" | diff -u "docs/generated/$1" - > "$found"; then
    head -40 "$found"
    echo "docs/generated/$1 is out of date: run ./do format"
    status=1
  fi
  rm -f "$found"
}
mote=$1 python=${2:-python3}
check operators.md "$mote" ops --markdown
check aten.md "$mote" ops --aten
check tflite.md "$mote" ops --tflite
check tosa.md "$mote" ops --tosa
check isas.md "$python" tests/checks/isas_page.py
exit "$status"
