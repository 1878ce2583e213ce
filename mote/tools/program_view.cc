#include "mote/tools/program_view.h"

#include <algorithm>
#include <cstring>

#include "mote/ops/op_docs.h"
#include "mote/tools/failure.h"

namespace mote::tools {

ProgramView::ProgramView(const std::string& path) {
  if (const Status s = MappedFile::open(path.c_str(), &file_); !s.ok())
    throw Failure(path + ": cannot open the program: " + why_text(s.why()), s.bits());
  bytes_ = file_.bytes();
  read(path);
}

ProgramView::ProgramView(const std::string& name, ConstBytes bytes) : bytes_(bytes) { read(name); }

void ProgramView::read(const std::string& name) {
  Diagnostic d;
  const Status s = read_table(bytes_, bytes_.size, &table_, &d);
  if (s.ok()) return;
  std::string text = name + ": cannot open the program: " + why_text(s.why());
  if (s.why() == Why::kUnknownFeature && d.name != nullptr) text += std::string(": '") + d.name + "'";
  if (d.expected != 0 || d.found != 0) text += ": expected " + std::to_string(d.expected) + ", found " + std::to_string(d.found);
  throw Failure(text, s.bits());
}

std::string ProgramView::op_name(const Instruction& n) const {
  switch (static_cast<ControlOp>(n.op)) {
    case ControlOp::kIf: return "if";
    case ControlOp::kLoop: return "loop";
    case ControlOp::kStrip: return "strip";
    case ControlOp::kDelegate: return "delegate";
  }
  for (const OpName& o : table_.op_names)
    if (o.op == n.op) return string(o.name);
  const OpDoc* doc = find_op_doc(n.op);
  return doc != nullptr ? "mote::" + doc->name : "op " + std::to_string(n.op);
}

std::string ProgramView::tensor_name(int32_t tensor) const {
  if (tensor < 0) return "-";
  for (const Io& io : table_.ios)
    if (io.tensor == static_cast<uint32_t>(tensor)) return string(io.name);
  return "%" + std::to_string(tensor);
}

std::string ProgramView::attrs_text(const Instruction& n) const {
  const uint8_t* bytes = table_.attrs.data + n.attrs;
  const auto word = [&](size_t i) {
    uint32_t v;
    std::memcpy(&v, bytes + 4 * i, sizeof v);
    return std::to_string(v);
  };
  if (n.op >= kFirstControlOp) {
    std::string text;
    for (size_t i = 0; i < n.attrs_size / 4u; ++i) text += (i > 0 ? " " : "") + word(i);
    return text;
  }
  const OpDoc* doc = find_op_doc(n.op);
  if (doc == nullptr || n.op >= kFirstCustomOp) return "";
  std::vector<uint8_t> attrs(doc->attrs_size);
  std::copy_n(bytes, std::min<size_t>(attrs.size(), n.attrs_size), attrs.begin());
  std::string text;
  for (const AttrDoc& a : doc->attrs) text += (text.empty() ? "" : " ") + a.name + "=" + attr_to_text(a, attrs.data());
  return text;
}

const char* segment_kind(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kConstants: return "constants";
    case SegmentKind::kBlob: return "blob";
    case SegmentKind::kGolden: return "golden";
    case SegmentKind::kSignature: return "signature";
  }
  return "unknown";
}

const char* storage_name(Storage storage) {
  switch (storage) {
    case Storage::kConstant: return "constant";
    case Storage::kArena: return "arena";
    case Storage::kState: return "state";
    case Storage::kInput: return "input";
    case Storage::kOutput: return "output";
  }
  return "unknown";
}

std::string hex(const uint8_t* bytes, size_t count) {
  static const char kDigits[] = "0123456789abcdef";
  std::string s;
  for (size_t i = 0; i < count; ++i) {
    s += kDigits[bytes[i] >> 4];
    s += kDigits[bytes[i] & 15];
  }
  return s;
}

}  // namespace mote::tools
