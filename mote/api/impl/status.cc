// Version, status and type names of the C interface.

#include "mote/core/status.h"
#include "mote/api/mote.h"
#include "mote/core/dtype.h"
#include "mote/format/program.h"
#include "mote_version.h"  // generated: MOTE_VERSION_TEXT

namespace {

// mote.h spells the numbers out for C; the lists of core must say the same.
#define MOTE_SAME(c_name, core_name) static_assert(static_cast<int>(c_name) == static_cast<int>(core_name), "mote.h must agree with core")
MOTE_SAME(MOTE_OK, mote::Status::kOk);
MOTE_SAME(MOTE_INVALID_ARGUMENT, mote::Status::kInvalidArgument);
MOTE_SAME(MOTE_UNSUPPORTED, mote::Status::kUnsupported);
MOTE_SAME(MOTE_OUT_OF_MEMORY, mote::Status::kOutOfMemory);
MOTE_SAME(MOTE_CORRUPT, mote::Status::kCorrupt);
MOTE_SAME(MOTE_NOT_FOUND, mote::Status::kNotFound);
MOTE_SAME(MOTE_VERSION, mote::Status::kVersion);
MOTE_SAME(MOTE_IO, mote::Status::kIo);
MOTE_SAME(MOTE_SHAPE, mote::Status::kShape);
MOTE_SAME(MOTE_DEADLINE, mote::Status::kDeadline);
MOTE_SAME(MOTE_CANCELLED, mote::Status::kCancelled);
MOTE_SAME(MOTE_STEP_LIMIT, mote::Status::kStepLimit);
MOTE_SAME(MOTE_BACKEND, mote::Status::kBackend);
MOTE_SAME(MOTE_DIGEST, mote::Status::kDigest);
MOTE_SAME(MOTE_POLICY, mote::Status::kPolicy);
MOTE_SAME(MOTE_BUSY, mote::Status::kBusy);
MOTE_SAME(MOTE_INTERNAL, mote::Status::kInternal);
MOTE_SAME(MOTE_PAUSED, mote::Status::kPaused);
MOTE_SAME(MOTE_NOT_BOUND, mote::Status::kNotBound);
MOTE_SAME(MOTE_F32, mote::DType::f32);
MOTE_SAME(MOTE_F64, mote::DType::f64);
MOTE_SAME(MOTE_F16, mote::DType::f16);
MOTE_SAME(MOTE_BF16, mote::DType::bf16);
MOTE_SAME(MOTE_S8, mote::DType::s8);
MOTE_SAME(MOTE_U8, mote::DType::u8);
MOTE_SAME(MOTE_S16, mote::DType::s16);
MOTE_SAME(MOTE_U16, mote::DType::u16);
MOTE_SAME(MOTE_S32, mote::DType::s32);
MOTE_SAME(MOTE_U32, mote::DType::u32);
MOTE_SAME(MOTE_S64, mote::DType::s64);
MOTE_SAME(MOTE_U64, mote::DType::u64);
MOTE_SAME(MOTE_BOOL, mote::DType::boolean);
MOTE_SAME(MOTE_S4, mote::DType::s4);
MOTE_SAME(MOTE_U4, mote::DType::u4);
#undef MOTE_SAME

constexpr int kCodes = 0
#define MOTE_STATUS(value, name, text) +1
#include "mote/core/status.def"
#undef MOTE_STATUS
    ;
static_assert(kCodes == MOTE_NOT_BOUND + 1, "a code was added to status.def: add it to mote.h and above");
static_assert(mote::kDTypeCount == MOTE_U4 + 1, "a type was added to dtype.def: add it to mote.h and above");

// A number too large for the narrower type is none of its values, and must not wrap to one.
template <class T, uint32_t kLargest>
T narrow(uint32_t value) {
  return static_cast<T>(value < kLargest ? value : kLargest);
}

}  // namespace

extern "C" {

uint32_t mote_api_version(void) { return MOTE_API_VERSION; }
const char* mote_version(void) { return MOTE_VERSION_TEXT; }

void mote_format_version(uint32_t* out_major, uint32_t* out_minor) {
  if (out_major != nullptr) *out_major = mote::kFormatMajor;
  if (out_minor != nullptr) *out_minor = mote::kFormatMinor;
}

mote_code mote_status_code(mote_status status) { return static_cast<mote_code>(mote::Status::from_bits(status).code()); }
uint32_t mote_status_why(mote_status status) { return static_cast<uint32_t>(mote::Status::from_bits(status).why()); }
const char* mote_code_name(mote_code code) { return mote::status_name(narrow<mote::Status::Code, 0xff>(code)); }
const char* mote_code_text(mote_code code) { return mote::status_text(narrow<mote::Status::Code, 0xff>(code)); }
const char* mote_why_name(uint32_t why) { return mote::why_name(narrow<mote::Why, 0xffff>(why)); }
const char* mote_why_text(uint32_t why) { return mote::why_text(narrow<mote::Why, 0xffff>(why)); }
const char* mote_dtype_name(mote_dtype dtype) { return mote::dtype_name(narrow<mote::DType, 0xff>(dtype)); }
uint32_t mote_dtype_bits(mote_dtype dtype) { return mote::dtype_bits(narrow<mote::DType, 0xff>(dtype)); }

}  // extern "C"
