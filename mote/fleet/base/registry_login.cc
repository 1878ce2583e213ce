#include "mote/fleet/base/registry_login.h"

#include <algorithm>
#include <cstdlib>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {
namespace {

constexpr size_t kMaxAnswer = 64 << 10, kMaxCredentials = 1 << 20;

// One word that may stand in a header: printable, no spaces.
bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// "http://HOST:PORT" and "HOST:PORT" of an address.
std::string origin_of(std::string_view url) {
  const size_t scheme = url.find("://");
  return std::string(url.substr(0, url.find_first_of("/?#\\", scheme == std::string_view::npos ? 0 : scheme + 3)));
}

// The port that a scheme means is the same as none.
std::string with_port(std::string origin) {
  const size_t host = origin.find("://") + 3, bracket = origin.rfind(']');
  const size_t colon = origin.find(':', bracket == std::string::npos || bracket < host ? host : bracket);
  if (colon != std::string::npos) return origin;
  return origin + (equal_ignoring_case(std::string_view(origin).substr(0, 8), "https://") ? ":443" : ":80");
}

std::string host_of(std::string_view url) {
  const std::string origin = origin_of(url);
  const size_t scheme = origin.find("://");
  return scheme == std::string::npos ? origin : origin.substr(scheme + 3);
}

// name="value" or name=value at the start of `rest`, which moves behind it.
std::pair<std::string_view, std::string> take_parameter(std::string_view* rest) {
  const size_t equals = rest->find('=');
  if (equals == std::string_view::npos) throw Error("a parameter without value");
  const std::string_view name = rest->substr(0, equals);
  std::string value;
  size_t i = equals + 1;
  if (i < rest->size() && (*rest)[i] == '"') {
    for (++i; i < rest->size() && (*rest)[i] != '"'; ++i) {
      if ((*rest)[i] == '\\' && i + 1 < rest->size()) ++i;
      value += (*rest)[i];
    }
    if (i++ >= rest->size()) throw Error("a value that does not end");
  } else {
    while (i < rest->size() && (*rest)[i] != ',' && (*rest)[i] != ' ') value += (*rest)[i++];
  }
  rest->remove_prefix(std::min(rest->find_first_not_of(", ", i), rest->size()));
  return {name, value};
}

Challenge parse_bearer(std::string_view rest) {
  Challenge c;
  c.token = true;
  while (!rest.empty()) {
    const auto [name, value] = take_parameter(&rest);
    if (equal_ignoring_case(name, "realm")) c.realm = value;
    if (equal_ignoring_case(name, "service")) c.service = value;
    if (equal_ignoring_case(name, "scope")) c.scope = value;
  }
  if (!is_word(c.realm)) throw Error("no realm");
  return c;
}

}  // namespace

bool same_origin(std::string_view a, std::string_view b) {
  // User and password in an address are not the host, and an address without a scheme is none.
  const auto plain = [](std::string_view url) {
    return url.find("://") != std::string_view::npos && url.find('\\') == std::string_view::npos &&
           origin_of(url).find('@') == std::string::npos;
  };
  return plain(a) && plain(b) && equal_ignoring_case(with_port(origin_of(a)), with_port(origin_of(b)));
}

Challenge parse_challenge(std::string_view headers) {
  if (headers.size() > kMaxAnswer) throw Error("a challenge of more than 64 KiB");
  bool basic = false;
  while (!headers.empty()) {
    const size_t end = std::min(headers.find('\n'), headers.size());
    std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 1, headers.size()));
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view scheme = line.substr(0, space);
    line.remove_prefix(std::min(line.find_first_not_of(' ', space), line.size()));
    if (equal_ignoring_case(scheme, "bearer")) return within("its challenge", [&] { return parse_bearer(line); });
    basic |= equal_ignoring_case(scheme, "basic");
  }
  if (!basic) throw Error("asks for a login of a kind that is neither Basic nor Bearer");
  return {};
}

std::string parse_token(std::string_view json) {
  const Json answer = Json::parse(json);
  std::optional<Json> token = answer.find("token");
  if (!token) token = answer.find("access_token");
  if (!token) throw Error("no token");
  std::string out = token->string(kMaxAnswer);
  if (!is_word(out)) throw Error("a token that is none");
  return out;
}

std::map<std::string, std::string> parse_credentials(std::string_view json) {
  std::map<std::string, std::string> out;
  const Json whole = Json::parse(json);
  const std::optional<Json> auths = whole.find("auths");
  if (!auths) return out;
  for (Json::Cursor c(*auths); c.next();) {
    if (out.size() >= 1024) throw Error("more than 1024 registries");
    const std::optional<Json> auth = c.value().find("auth");
    if (!auth) continue;  // kept by a helper program
    const std::string value = auth->string(4096);
    const std::optional<std::string> raw = from_base64(value);
    if (!raw || raw->find(':') == std::string::npos) throw Error("auth of " + c.key() + " is not base64 of user:password");
    out[host_of(c.key())] = value;
  }
  return out;
}

std::string RegistryLogin::authorization(const std::string& url) const {
  const auto found = by_origin_.find(origin_of(url));
  return found == by_origin_.end() ? "" : found->second;
}

std::string RegistryLogin::credentials_for(const std::string& host) {
  const std::optional<std::string> text = path_.empty() ? std::nullopt : read_file(files_, path_, kMaxCredentials);
  if (!text) return "";
  const std::map<std::string, std::string> all = within(path_, [&] { return parse_credentials(*text); });
  const auto found = all.find(host);
  return found == all.end() ? "" : "Basic " + found->second;
}

void RegistryLogin::answer(const std::string& url, const std::string& asked_by, const std::string& headers) {
  if (!same_origin(url, asked_by))
    throw Error(origin_of(url) + " leads to " + printable(origin_of(asked_by), 200) +
                ", which asks for a login; only the registry itself gets one. Its storage must take addresses as they are");
  const std::string origin = origin_of(url), host = host_of(url);
  const std::string basic = credentials_for(host);
  const Challenge c = within(host, [&] { return parse_challenge(headers); });
  if (!c.token) {
    if (basic.empty())
      throw Error(host + " asks for a login, and " + (path_.empty() ? "no file of credentials is named" : path_ + " has none for it"));
    by_origin_[origin] = basic;
    return;
  }
  const bool secure = origin.compare(0, 8, "https://") == 0;
  if (secure && c.realm.compare(0, 8, "https://") != 0) throw Error(host + " wants its password sent over plain HTTP");
  FetchRequest request;
  request.url = c.realm + (c.realm.find('?') == std::string::npos ? "?" : "&") + "service=" + percent_encode(c.service);
  if (!c.scope.empty()) request.url += "&scope=" + percent_encode(c.scope);
  request.max_bytes = kMaxAnswer;
  request.authorization = basic;  // without: public repositories give tokens to everybody
  std::string text;
  plain_.get(request, {nullptr, [&](std::string_view bytes) { text += bytes; }});
  by_origin_[origin] = "Bearer " + within(c.realm, [&] { return parse_token(text); });
}

std::string registry_auth_path(const std::string& otherwise) {
  const char* named = std::getenv("MOTE_REGISTRY_AUTH");
  return named != nullptr && named[0] != '\0' ? named : otherwise;
}

}  // namespace mote::fleet
