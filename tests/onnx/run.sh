#!/bin/sh
# run.sh PROGRAM CASES [ARGUMENT...]: exports the cases where that has not been done yet, then runs them.
# The interpreter comes from MOTE_PYTHON; without it, or without the onnx package, the test is skipped.
here=$(dirname "$0")
if [ -z "$MOTE_PYTHON" ]; then
  echo "skipped: MOTE_PYTHON does not name a Python interpreter with the onnx package"
  exit 77
fi
program=$1 cases=$2
shift 2
"$MOTE_PYTHON" "$here/export_cases.py" "$cases" || exit $?
exec "$program" "$cases" "$here/expected.tsv" "$@"
