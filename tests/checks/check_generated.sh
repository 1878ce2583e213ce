#!/bin/bash
# Fails when docs/generated/ is not what the command writes now. `./do format` writes it anew.
#   check_generated.sh MOTE_COMMAND
set -euo pipefail
cd "$(dirname "$0")/../.."
"$1" ops --markdown | diff -u docs/generated/operators.md - > "${TMPDIR:-/tmp}/mote_generated.$$.diff" && status=0 || status=1
head -40 "${TMPDIR:-/tmp}/mote_generated.$$.diff"
rm -f "${TMPDIR:-/tmp}/mote_generated.$$.diff"
[ "$status" = 0 ] || echo "docs/generated/operators.md is out of date: run ./do format"
exit "$status"
