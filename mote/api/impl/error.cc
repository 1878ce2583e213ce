#include "mote/api/impl/error.h"

#include <cstring>

#include "mote/api/impl/memory.h"

namespace mote::api {
namespace {

// Appends to a fixed buffer; what does not fit is cut.
class Text {
 public:
  Text(char* buffer, size_t capacity) : at_(buffer), left_(capacity) { *at_ = 0; }

  Text& operator<<(const char* s) {
    while (*s != 0 && left_ > 1) {
      *at_++ = *s++;
      --left_;
    }
    *at_ = 0;
    return *this;
  }
  Text& operator<<(int64_t value) {
    char digits[24];
    char* p = digits + sizeof digits;
    *--p = 0;
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    do *--p = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0) *--p = '-';
    return *this << p;
  }

 private:
  char* at_;
  size_t left_;
};

template <size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  Text text(to, N);
  text << (from != nullptr ? from : "");
}

bool is_dtype(int64_t v) noexcept { return v > 0 && v < kDTypeCount; }

void append_types(Text& text, int64_t mask) noexcept {
  bool first = true;
  for (int v = 1; v < kDTypeCount; ++v) {
    if ((mask >> v & 1) == 0) continue;
    text << (first ? "" : ", ") << dtype_name(static_cast<DType>(v));
    first = false;
  }
}

// Most reasons carry plain numbers; those that carry element types or upper bounds say so here.
void append_values(Text& text, Why why, int64_t expected, int64_t found) noexcept {
  if (expected == 0 && found == 0) return;
  switch (why) {
    case Why::kDType:
      if (!is_dtype(found)) break;
      text << ": expected ";
      append_types(text, expected);
      text << ", found " << dtype_name(static_cast<DType>(found));
      return;
    case Why::kDTypeMismatch:
      if (!is_dtype(expected) || !is_dtype(found)) break;
      text << ": expected " << dtype_name(static_cast<DType>(expected)) << ", found " << dtype_name(static_cast<DType>(found));
      return;
    case Why::kBound:
    case Why::kTripBound:
    case Why::kMemoryLimit: text << ": expected at most " << expected << ", found " << found; return;
    case Why::kBufferSize:
    case Why::kBankSize:
    case Why::kInstanceSize:
    case Why::kScratchSize: text << ": expected at least " << expected << " bytes, found " << found; return;
    case Why::kInputIndex:
    case Why::kOutputIndex:
    case Why::kMethodIndex: text << ": expected less than " << expected << ", found " << found; return;
    case Why::kPlacedElsewhere: text << ", this operator and " << found - 1 << " others"; return;
    case Why::kUnknownOp:
    case Why::kKernelMissing: text << ": found operator " << found; return;
    case Why::kBackendVersion:
      if (expected != 0) break;
      [[fallthrough]];
    case Why::kBackendAbsent:
    case Why::kBackendFailed:
    case Why::kCustomOpFailed: text << ": it returned " << found; return;
    default: break;
  }
  text << ": expected " << expected << ", found " << found;
}

const char* tensor_name(int32_t tensor, const Names& names) noexcept {
  if (names.table == nullptr || tensor < 0) return "";
  for (const Io& io : names.table->ios)
    if (io.tensor == static_cast<uint32_t>(tensor)) return names.table->string(io.name);
  return "";
}

void append_place(Text& text, const mote_error& e, const Diagnostic& d) noexcept {
  if (d.instruction >= 0) {
    text << ": instruction " << int64_t{d.instruction};
    if (e.op[0] != 0) text << " (" << e.op << (e.source[0] != 0 ? ", " : "") << e.source << ")";
    else if (e.source[0] != 0) text << " (" << e.source << ")";
  }
  if (d.tensor >= 0) {
    text << (d.instruction >= 0 ? ", " : ": ") << "tensor ";
    if (e.tensor[0] != 0) text << "'" << e.tensor << "'";
    else text << int64_t{d.tensor};
  }
}

}  // namespace

const char* op_name(uint16_t op, const Names& names) noexcept {
  switch (static_cast<ControlOp>(op)) {
    case ControlOp::kIf: return "if";
    case ControlOp::kLoop: return "loop";
    case ControlOp::kStrip: return "strip";
    case ControlOp::kDelegate: return "delegate";
  }
  if (names.table != nullptr) {
    for (const OpName& n : names.table->op_names)
      if (n.op == op) return names.table->string(n.name);
  }
  const OpDef* def = names.ops != nullptr ? names.ops->find(op, nullptr) : nullptr;
  return def != nullptr && def->name != nullptr ? def->name : "";
}

namespace {

// `expected` and `found` are wider than a Diagnostic's: sizes of files and memory.
mote_status report(mote_error* error, const char* doing, const Diagnostic& d, const Names& given, int64_t expected,
                   int64_t found) noexcept {
  if (error == nullptr) return d.status.bits();
  Names names = given;
  // A table that failed verification may hold texts that lie outside; its names are used only once it is sound.
  if (names.table != nullptr && names.table->certificate == nullptr) names.table = nullptr;
  mote_error e;
  e.status = d.status;
  e.instruction = d.instruction;
  e.expected = expected;
  e.found = found;
  if (d.op >= 0) copy_text(e.op, op_name(static_cast<uint16_t>(d.op), names));
  if (names.table != nullptr && d.instruction >= 0 && static_cast<size_t>(d.instruction) < names.table->source_names.size)
    copy_text(e.source, names.table->string(names.table->source_names[static_cast<size_t>(d.instruction)]));
  copy_text(e.tensor, tensor_name(d.tensor, names));
  Text text(e.message, sizeof e.message);
  text << "cannot " << doing;
  append_place(text, e, d);
  const bool reasoned = d.status.why() != Why::kNone;
  text << ": " << (reasoned ? why_text(d.status.why()) : status_text(d.status.code()));
  if (d.name != nullptr && d.name[0] != 0) text << ": '" << d.name << "'";
  append_values(text, d.status.why(), expected, found);
  *error = e;
  return d.status.bits();
}

}  // namespace

mote_status report(mote_error* error, const char* doing, const Diagnostic& d, const Names& names) noexcept {
  return report(error, doing, d, names, d.expected, d.found);
}

mote_status report(mote_error* error, const char* doing, Status status, int64_t expected, int64_t found, const char* name) noexcept {
  Diagnostic d;
  d.status = status;
  d.name = name;
  return report(error, doing, d, {}, expected, found);
}

void append(mote_error* error, const char* more) noexcept {
  if (error == nullptr || more == nullptr || more[0] == 0) return;
  const size_t used = std::strlen(error->message);
  Text text(error->message + used, sizeof error->message - used);
  text << ": " << more;
}

}  // namespace mote::api

extern "C" {

mote_error* mote_error_create(void) { return mote::api::make<mote_error>(); }
void mote_error_destroy(mote_error* error) { mote::api::destroy(error); }
mote_status mote_error_status(const mote_error* error) { return error != nullptr ? error->status.bits() : 0; }
const char* mote_error_message(const mote_error* error) { return error != nullptr ? error->message : ""; }
const char* mote_error_op(const mote_error* error) { return error != nullptr ? error->op : ""; }
const char* mote_error_source(const mote_error* error) { return error != nullptr ? error->source : ""; }
const char* mote_error_tensor(const mote_error* error) { return error != nullptr ? error->tensor : ""; }
int32_t mote_error_instruction(const mote_error* error) { return error != nullptr ? error->instruction : -1; }
int64_t mote_error_expected(const mote_error* error) { return error != nullptr ? error->expected : 0; }
int64_t mote_error_found(const mote_error* error) { return error != nullptr ? error->found : 0; }

}  // extern "C"
