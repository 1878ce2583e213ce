#!/bin/sh
# run.sh SCRIPT RUNNER [ARGUMENT...]: a Python script of this folder. Skipped without an interpreter that has torch.
python=${MOTE_TORCH_PYTHON:-$MOTE_PYTHON}
if [ -z "$python" ] || ! "$python" -c "import torch, numpy" 2>/dev/null; then
  echo "skipped: neither MOTE_TORCH_PYTHON nor MOTE_PYTHON names a Python interpreter with torch"
  exit 77
fi
# PyTorch's kernels made at run time use instructions that virtual machines announce and then refuse.
ONEDNN_MAX_CPU_ISA=${ONEDNN_MAX_CPU_ISA:-AVX2} exec "$python" "$@"
