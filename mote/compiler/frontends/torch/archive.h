#pragma once

#include "mote/compiler/frontends/torch/torch.h"

namespace mote::frontends::torch {

// True when the bytes are a zip archive with exported programs inside.
bool is_archive(const ir::Bytes& bytes);

// The programs of a .pt2 file as torch.export.save writes it (PyTorch 2.8 and later). Tensors share the file's bytes where they are
// stored as they are. False after problems.
bool read_archive(const Source& source, ExportedModel* out, ir::Problems* problems);

}  // namespace mote::frontends::torch
