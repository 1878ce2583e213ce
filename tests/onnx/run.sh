#!/bin/sh
# run.sh PROGRAM EXPORTER EXPECTED CASES [ARGUMENT...]: lets EXPORTER write the cases into the folder CASES, then runs them.
# The interpreter comes from MOTE_PYTHON; without it, or without a package that the exporter needs, the test is skipped.
if [ -z "$MOTE_PYTHON" ]; then
  echo "skipped: MOTE_PYTHON does not name a Python interpreter with the onnx package"
  exit 77
fi
here=$(dirname "$0")
program=$1 exporter=$2 expected=$3 cases=$4
shift 4
"$MOTE_PYTHON" "$here/$exporter" "$cases" || exit $?
exec "$program" "$cases" "$here/$expected" "$@"
