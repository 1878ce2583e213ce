#include "tests/fuzz_models/mutate_model.h"

#include <algorithm>
#include <cstring>

#include "onnx.pb.h"

namespace mote::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int64_t kNumbers[] = {0,  1,    -1,         2,           3,          4,          5,         7,        8,
                                16, 255,  256,        32767,       65535,      65536,      1 << 20,   1 << 24,  -2,
                                -8, 1000, 2147483647, -2147483648, 4294967295, 4294967296, INT64_MAX, INT64_MIN};

int64_t number(Dice& dice, int64_t now) {
  switch (dice.below(4)) {
    case 0: return kNumbers[dice.below(std::size(kNumbers))];
    case 1: return static_cast<int64_t>(static_cast<uint64_t>(now) + dice.below(5) - 2);
    case 2: return static_cast<int64_t>(static_cast<uint64_t>(now) ^ uint64_t{1} << dice.below(64));
    default: return dice.below(32);
  }
}

bool is_flatbuffer(const ModelBytes& bytes) {
  if (bytes.size() < 8) return false;
  const auto is = [&](const char* signature) { return std::memcmp(bytes.data() + 4, signature, 4) == 0; };
  return is("TFL3") || is("TOSA") || is("ET12");
}
bool is_zip(const ModelBytes& bytes) { return bytes.size() >= 4 && std::memcmp(bytes.data(), "PK\3\4", 4) == 0; }

// Every message of a model, and the names in it: a changed name is most interesting when it is another one's.
struct Inventory {
  std::vector<Message*> messages;
  std::vector<std::string> names;

  void add(Message* m, int depth) {
    if (depth > 24 || messages.size() > 20000) return;
    messages.push_back(m);
    const Reflection* r = m->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    r->ListFields(*m, &fields);
    for (const FieldDescriptor* f : fields) {
      if (f->type() == FieldDescriptor::TYPE_STRING && names.size() < 5000) {
        for (int i = 0; i < (f->is_repeated() ? r->FieldSize(*m, f) : 1); ++i)
          names.push_back(f->is_repeated() ? r->GetRepeatedString(*m, f, i) : r->GetString(*m, f));
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (!f->is_repeated()) add(r->MutableMessage(m, f), depth + 1);
        for (int i = 0; f->is_repeated() && i < r->FieldSize(*m, f); ++i) add(r->MutableRepeatedMessage(m, f, i), depth + 1);
      }
    }
  }
};

class OnnxMutation {
 public:
  OnnxMutation(Inventory& inventory, Dice& dice) : inventory_(inventory), dice_(dice) {}

  void run() {
    Message* m = inventory_.messages[dice_.raw() % inventory_.messages.size()];
    const auto* descriptor = m->GetDescriptor();
    if (descriptor->field_count() == 0) return;
    const FieldDescriptor* f = descriptor->field(static_cast<int>(dice_.below(static_cast<uint32_t>(descriptor->field_count()))));
    // Fields that are there matter more than those that are not.
    std::vector<const FieldDescriptor*> present;
    m->GetReflection()->ListFields(*m, &present);
    if (!present.empty() && dice_.chance(70)) f = present[dice_.raw() % present.size()];
    if (f->is_repeated()) repeated(m, f);
    else single(m, f);
  }

 private:
  std::string text(const std::string& now) {
    if (dice_.chance(70) && !inventory_.names.empty()) return inventory_.names[dice_.raw() % inventory_.names.size()];
    if (dice_.chance(20)) return "";
    std::string s = now;
    if (!s.empty()) s[dice_.raw() % s.size()] = static_cast<char>(dice_.byte());
    return s;
  }
  std::string raw(const std::string& now) {
    std::string s = now;
    if (s.empty() || dice_.chance(20)) s.resize(dice_.below(64));
    else if (dice_.chance(30)) s.resize(dice_.raw() % s.size());
    for (uint32_t i = 0, n = 1 + dice_.below(4); i < n && !s.empty(); ++i) s[dice_.raw() % s.size()] = static_cast<char>(dice_.byte());
    return s;
  }

  void single(Message* m, const FieldDescriptor* f) {
    const Reflection* r = m->GetReflection();
    if (dice_.chance(15)) return r->ClearField(m, f);
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32: return r->SetInt32(m, f, static_cast<int32_t>(number(dice_, r->GetInt32(*m, f))));
      case FieldDescriptor::CPPTYPE_INT64: return r->SetInt64(m, f, number(dice_, r->GetInt64(*m, f)));
      case FieldDescriptor::CPPTYPE_UINT32: return r->SetUInt32(m, f, static_cast<uint32_t>(number(dice_, r->GetUInt32(*m, f))));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r->SetUInt64(m, f, static_cast<uint64_t>(number(dice_, static_cast<int64_t>(r->GetUInt64(*m, f)))));
      case FieldDescriptor::CPPTYPE_FLOAT: return r->SetFloat(m, f, dice_.chance(50) ? 0.0f : static_cast<float>(number(dice_, 1)));
      case FieldDescriptor::CPPTYPE_DOUBLE: return r->SetDouble(m, f, static_cast<double>(number(dice_, 1)));
      case FieldDescriptor::CPPTYPE_BOOL: return r->SetBool(m, f, !r->GetBool(*m, f));
      case FieldDescriptor::CPPTYPE_ENUM:
        return r->SetEnumValue(
            m, f, f->enum_type()->value(static_cast<int>(dice_.below(static_cast<uint32_t>(f->enum_type()->value_count()))))->number());
      case FieldDescriptor::CPPTYPE_STRING:
        return r->SetString(m, f, f->type() == FieldDescriptor::TYPE_BYTES ? raw(r->GetString(*m, f)) : text(r->GetString(*m, f)));
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const std::string bytes = donor(f->message_type());
        return graft(bytes, r->MutableMessage(m, f));
      }
    }
  }

  void repeated(Message* m, const FieldDescriptor* f) {
    const Reflection* r = m->GetReflection();
    const int count = r->FieldSize(*m, f);
    if (count > 1 && dice_.chance(30)) return r->SwapElements(m, f, pick(count), pick(count));
    if (count > 0 && dice_.chance(30)) return r->RemoveLast(m, f);
    const bool add = count == 0 || dice_.chance(20);
    const int at = count > 0 ? pick(count) : 0;
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        if (add) return r->AddInt32(m, f, static_cast<int32_t>(number(dice_, 1)));
        return r->SetRepeatedInt32(m, f, at, static_cast<int32_t>(number(dice_, r->GetRepeatedInt32(*m, f, at))));
      case FieldDescriptor::CPPTYPE_INT64:
        if (add) return r->AddInt64(m, f, number(dice_, 1));
        return r->SetRepeatedInt64(m, f, at, number(dice_, r->GetRepeatedInt64(*m, f, at)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        if (add) return r->AddFloat(m, f, static_cast<float>(number(dice_, 1)));
        return r->SetRepeatedFloat(m, f, at, static_cast<float>(number(dice_, 1)));
      case FieldDescriptor::CPPTYPE_STRING:
        if (add) return r->AddString(m, f, text(""));
        return r->SetRepeatedString(m, f, at, text(r->GetRepeatedString(*m, f, at)));
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const std::string bytes = donor(f->message_type());
        return graft(bytes, add ? r->AddMessage(m, f) : r->MutableRepeatedMessage(m, f, at));
      }
      default: return;
    }
  }

  // Bytes of some part of this kind. Taken before the target is made: choosing one side of a oneof frees the other.
  std::string donor(const google::protobuf::Descriptor* kind) {
    std::vector<const Message*> same;
    for (const Message* m : inventory_.messages)
      if (m->GetDescriptor() == kind && m->ByteSizeLong() < 1u << 16) same.push_back(m);
    return same.empty() ? std::string() : same[dice_.raw() % same.size()]->SerializePartialAsString();
  }
  static void graft(const std::string& bytes, Message* to) {
    if (to->ByteSizeLong() <= 1u << 16) (void)to->ParsePartialFromString(bytes);
  }

  int pick(int count) { return static_cast<int>(dice_.raw() % static_cast<uint64_t>(count)); }

  Inventory& inventory_;
  Dice& dice_;
};

}  // namespace

void mutate_bytes(ModelBytes& bytes, Dice& dice) {
  for (uint32_t i = 0, n = 1 + dice.below(6); i < n && !bytes.empty(); ++i) {
    const size_t at = dice.raw() % bytes.size();
    switch (dice.below(5)) {
      case 0: bytes[at] = static_cast<uint8_t>(bytes[at] ^ 1u << dice.below(8)); break;
      case 1: bytes[at] = dice.byte(); break;
      case 2:
        bytes.erase(bytes.begin() + static_cast<long>(at),
                    bytes.begin() + static_cast<long>(std::min(bytes.size(), at + 1 + dice.below(16))));
        break;
      case 3: bytes.insert(bytes.begin() + static_cast<long>(at), 1 + dice.below(16), dice.byte()); break;
      default: bytes[at] = static_cast<uint8_t>(kNumbers[dice.below(std::size(kNumbers))]);
    }
  }
  if (dice.chance(3) && !bytes.empty()) bytes.resize(dice.raw() % bytes.size());
}

void mutate_onnx(ModelBytes& bytes, Dice& dice) {
  onnx::ModelProto model;
  if (dice.chance(10) || !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return mutate_bytes(bytes, dice);
  for (uint32_t i = 0, n = 1 + dice.below(4); i < n; ++i) {
    Inventory inventory;  // anew: a change may have removed what it lists
    inventory.add(&model, 0);
    OnnxMutation(inventory, dice).run();
  }
  if (model.ByteSizeLong() > 1u << 24) return;
  bytes.resize(model.ByteSizeLong());
  (void)model.SerializePartialToArray(bytes.data(), static_cast<int>(bytes.size()));
}

void mutate_flatbuffer(ModelBytes& bytes, Dice& dice) {
  if (bytes.size() < 64 || dice.chance(5)) return mutate_bytes(bytes, dice);
  // Few changes: most of them meet an offset, which the reader refuses.
  for (uint32_t i = 0, n = 1 + (dice.chance(50) ? 0 : dice.below(4)); i < n; ++i) {
    // Tables lie where small numbers do; weights are noise. Look for a word that looks like a field.
    size_t at = 0;
    for (int attempt = 0; attempt < 64; ++attempt) {
      at = dice.raw() % (bytes.size() / 4 - 1) * 4;
      uint32_t word;
      std::memcpy(&word, &bytes[at], 4);
      if (word < 4096 || word > 0xfffff000u) break;
    }
    if (dice.chance(50)) {
      bytes[at + dice.below(4)] = static_cast<uint8_t>(number(dice, bytes[at]));
      continue;
    }
    int32_t word;
    std::memcpy(&word, &bytes[at], 4);
    word = static_cast<int32_t>(number(dice, word));
    std::memcpy(&bytes[at], &word, 4);
  }
}

void mutate_model(ModelBytes& bytes, Dice& dice) {
  if (is_flatbuffer(bytes)) mutate_flatbuffer(bytes, dice);
  else if (is_zip(bytes)) mutate_pt2(bytes, dice);
  else mutate_onnx(bytes, dice);
}

}  // namespace mote::fuzz
