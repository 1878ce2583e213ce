#!/bin/sh
# run.sh SCRIPT [ARGUMENT...]: a Python script of this folder. Skipped without an interpreter that has executorch.
python=${MOTE_EXECUTORCH_PYTHON:-$MOTE_PYTHON}
if [ -z "$python" ] || ! "$python" -c "import executorch.exir" 2>/dev/null; then
  echo "skipped: neither MOTE_EXECUTORCH_PYTHON nor MOTE_PYTHON names a Python interpreter with executorch"
  exit 77
fi
exec "$python" "$@"
