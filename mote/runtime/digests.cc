#include <cstring>

#include "mote/format/sha256.h"
#include "mote/runtime/program.h"

namespace mote {

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
  return Status::kOk;
}

}  // namespace mote
