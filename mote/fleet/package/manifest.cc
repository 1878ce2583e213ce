#include "mote/fleet/package/manifest.h"

#include <algorithm>
#include <array>
#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::package {
namespace {

constexpr size_t kMaxFiles = 256, kMaxNeeds = 8192;

std::array<uint64_t, 3> parse_version(std::string_view text) {
  std::array<uint64_t, 3> out{};
  size_t part = 0, digits = 0;
  for (const char c : text) {
    if (c == '.' && digits > 0 && part < 2) {
      ++part;
      digits = 0;
    } else if (c >= '0' && c <= '9' && digits < 9) {
      out[part] = out[part] * 10 + static_cast<uint64_t>(c - '0');
      ++digits;
    } else {
      throw Error("'" + std::string(text) + "' is not MAJOR.MINOR.PATCH");
    }
  }
  if (part != 2 || digits == 0) throw Error("'" + std::string(text) + "' is not MAJOR.MINOR.PATCH");
  return out;
}

void check_name(const std::string& name, const char* what) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (name.empty() || name.size() > 128 || name[0] == '.' || name.find_first_not_of(allowed) != std::string::npos)
    throw Error(std::string(what) + " '" + name + "' may have letters, digits, '.', '_', '-', and not start with a dot");
}

// Canonical text has control characters as they are. Nothing that a manifest says has any: they hide in terminals and end C strings.
void check_text(const std::string& text, const char* what) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw Error(std::string(what) + " has a control character, " + std::to_string(static_cast<int>(c)));
}

HealthGate parse_health(const Json& value) {
  JsonObject o(value);
  HealthGate h;
  h.p99_us = o.number("p99_us");
  h.ram_bytes = o.number("ram_bytes");
  h.soak_seconds = o.number("soak_seconds");
  h.crashes = o.number("crashes");
  h.golden = o.flag("golden");
  h.confirmation = o.flag("confirmation");
  o.finish();
  return h;
}

Variant parse_variant(const Json& value) {
  JsonObject o(value);
  Variant v;
  v.file = o.text("file");
  v.needs.ops = o.texts("ops");
  v.needs.dtypes = o.texts("dtypes");
  v.needs.isa = o.texts("isa");
  v.needs.backends = o.texts("backends");
  v.needs.ram_bytes = o.number("ram_bytes");
  o.finish();
  return v;
}

File parse_file(const Json& value) {
  JsonObject o(value);
  File f;
  f.name = o.text("name");
  f.offset = o.number("offset");
  f.bytes = o.number("bytes");
  f.sha256 = o.sha256("sha256");
  o.finish();
  return f;
}

template <class Item, class Parse>
std::vector<Item> parse_list(const Json& list, Parse parse) {
  std::vector<Item> out;
  for (Json::Cursor c(list); c.next();) {
    out.push_back(parse(c.value()));
    if (out.size() > kMaxFiles) throw Error("more than 256 files or variants");
  }
  return out;
}

// The lists of all variants together are bounded too: a short text may ask for many small strings.
std::vector<Variant> parse_variants(const Json& list) {
  size_t needs = 0;
  return parse_list<Variant>(list, [&](const Json& value) {
    Variant v = parse_variant(value);
    needs += v.needs.ops.size() + v.needs.dtypes.size() + v.needs.isa.size() + v.needs.backends.size();
    if (needs > kMaxNeeds) throw Error("more than 8192 operators, types, instruction sets and backends");
    return v;
  });
}

void check_files(const Manifest& m) {
  std::set<std::string> names;
  uint64_t end = 0;
  for (const File& f : m.files) {
    check_name(f.name, "file name");
    if (!names.insert(f.name).second) throw Error("two files are named " + f.name);
    if (f.offset < end || f.offset > m.payload_bytes || f.bytes > m.payload_bytes - f.offset)
      throw Error(f.name + " does not lie in the payload, behind the file before it");
    end = f.offset + f.bytes;
  }
  for (const Variant& v : m.variants) {
    if (names.count(v.file) == 0) throw Error("variant " + v.file + " is not among the files");
  }
  if (m.variants.empty()) throw Error("no variants");
  if (m.chunks.size() != m.payload_bytes / kChunkBytes + (m.payload_bytes % kChunkBytes != 0))
    throw Error(std::to_string(m.chunks.size()) + " chunks do not make " + std::to_string(m.payload_bytes) + " bytes");
}

void check(const Manifest& m) {
  check_name(m.id, "id");
  parse_version(m.version);
  parse_version(m.runtime_min);
  check_text(m.licence, "licence");
  check_text(m.data_class, "data class");
  for (const Variant& v : m.variants)
    for (const auto* list : {&v.needs.ops, &v.needs.dtypes, &v.needs.isa, &v.needs.backends})
      for (const std::string& text : *list) check_text(text, "a variant");
  if (!m.runtime_below.empty()) parse_version(m.runtime_below);
  check_files(m);
}

}  // namespace

Manifest parse_manifest(std::string_view text) {
  if (text.size() > kMaxManifestBytes) throw Error("a manifest of more than 4 MiB");
  const Json whole = Json::parse_canonical(text);
  if (whole.canonical() != text) throw Error("the manifest is not canonical JSON");
  JsonObject o(whole);
  Manifest m;
  if (o.number("format") != 1) throw Error("format " + std::to_string(o.number("format")) + " is not known; this program reads 1");
  m.id = o.text("id");
  m.version = o.text("version");
  m.licence = o.text("licence");
  m.data_class = o.text("data_class");
  m.sbom_sha256 = o.sha256("sbom_sha256", true);
  m.security_counter = o.number("security_counter");
  m.runtime_min = o.text("runtime_min");
  m.runtime_below = o.text("runtime_below");
  m.health = within("health", [&] { return parse_health(o.at("health")); });
  m.variants = within("variants", [&] { return parse_variants(o.at("variants")); });
  m.files = within("files", [&] { return parse_list<File>(o.at("files"), parse_file); });
  m.payload_bytes = o.number("payload_bytes");
  const Json chunks = o.at("chunks");
  m.chunks.reserve(chunks.size());
  for (Json::Cursor c(chunks); c.next();) {
    std::optional<std::string> raw = from_hex(c.value().string(2 * kSha256Bytes));
    if (!raw || raw->size() != kSha256Bytes) throw Error("a chunk's digest is no SHA-256");
    m.chunks.push_back(std::move(*raw));
  }
  o.finish();
  // One manifest has one text: digests in upper case, say, would be another.
  if (manifest_text(m, text.size()) != text) throw Error("the manifest is not written as Mote writes it");
  return m;
}

std::string manifest_text(const Manifest& m, size_t likely_bytes) {
  check(m);
  JsonWriter o(JsonWriter::Strings::kCanonical);
  o.text.reserve(likely_bytes);
  o.open('{').name("chunks").open('[');
  for (const std::string& c : m.chunks) o.value(to_hex(c));
  o.close(']').name("data_class").value(m.data_class).name("files").open('[');
  for (const File& f : m.files) {
    o.open('{').name("bytes").value(f.bytes).name("name").value(f.name).name("offset").value(f.offset);
    o.name("sha256").value(to_hex(f.sha256)).close('}');
  }
  const HealthGate& h = m.health;
  o.close(']').name("format").value(uint64_t{1}).name("health").open('{').name("confirmation").value(h.confirmation);
  o.name("crashes").value(h.crashes).name("golden").value(h.golden).name("p99_us").value(h.p99_us);
  o.name("ram_bytes").value(h.ram_bytes).name("soak_seconds").value(h.soak_seconds).close('}');
  o.name("id").value(m.id).name("licence").value(m.licence);
  o.name("payload_bytes").value(m.payload_bytes).name("runtime_below").value(m.runtime_below);
  o.name("runtime_min").value(m.runtime_min).name("sbom_sha256").value(to_hex(m.sbom_sha256));
  o.name("security_counter").value(m.security_counter).name("variants").open('[');
  for (const Variant& v : m.variants) {
    o.open('{').name("backends").value(v.needs.backends).name("dtypes").value(v.needs.dtypes).name("file").value(v.file);
    o.name("isa").value(v.needs.isa).name("ops").value(v.needs.ops).name("ram_bytes").value(v.needs.ram_bytes).close('}');
  }
  o.close(']').name("version").value(m.version).close('}');
  return std::move(o.text);
}

int compare_versions(std::string_view a, std::string_view b) {
  const auto left = parse_version(a), right = parse_version(b);
  return left < right ? -1 : left == right ? 0 : 1;
}

}  // namespace mote::fleet::package
