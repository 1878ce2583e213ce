#include <cstring>

#include "mote/core/layout.h"
#include "mote/format/sha256.h"
#include "mote/runtime/program.h"

namespace mote {

Status check_layouts(const Program& program, Diagnostic* diagnostic) noexcept {
  const ProgramTable& t = program.table();
  for (uint32_t i = 0; i < t.tensors.size; ++i) {
    const TensorDesc& d = t.tensors[i];
    if (d.layout != Layout::kPanel16k4Pairs) continue;
    const uint32_t n = static_cast<uint32_t>(d.dims[0]), k = n == 0 ? 0 : static_cast<uint32_t>(element_count(d)) / n;
    if (pairs_fit(reinterpret_cast<const int8_t*>(program.segment(d.bank).data + d.offset), panel_bytes(d.layout, d.dtype, n, k))) continue;
    const Status status(Status::kCorrupt, Why::kWeightPairs);
    if (diagnostic != nullptr) {
      diagnostic->status = status;
      diagnostic->found = i;
    }
    return status;
  }
  return Status::kOk;
}

Status check_digests(const Program& program, Diagnostic* diagnostic) noexcept {
  const ProgramTable& t = program.table();
  for (uint32_t i = 0; i < t.segments.size; ++i) {
    const Segment& s = t.segments[i];
    if (s.kind == SegmentKind::kSignature) continue;
    const ConstBytes bytes = program.segment(i);
    Status status = Status::kOk;
    if (bytes.size < s.size) {
      status = {Status::kInvalidArgument, Why::kSegmentMissing};
    } else {
      Sha256 sha;
      sha.update({bytes.data, static_cast<size_t>(s.size)});
      uint8_t digest[32];
      sha.finish(digest);
      if (std::memcmp(digest, s.sha256, sizeof digest) != 0) status = {Status::kDigest, Why::kDigestMismatch};
    }
    if (status.ok()) continue;
    if (diagnostic != nullptr) {
      diagnostic->status = status;
      diagnostic->found = i;
    }
    return status;
  }
  return check_layouts(program, diagnostic);
}

}  // namespace mote
