#include "manager/client/rest_client.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// RFC 3986: unreserved characters stay as they are, and in a path also the colon of names such as
// system:node. Everything else is escaped.
void AppendEscaped(std::string_view part, bool in_path, std::string& out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  // A segment "." or ".." would be interpreted as a step in the path.
  const bool dots = in_path && (part == "." || part == "..");
  for (const unsigned char c : part) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '~' || (c == '.' && !dots) ||
                       (c == ':' && in_path);
    if (plain) {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
  }
}

void AppendSegment(std::string_view part, std::string& out) {
  out += '/';
  AppendEscaped(part, true, out);
}

}  // namespace

std::string ResourceTarget(const KindInfo& kind, const ObjectKey& key, std::string_view subresource,
                           const std::vector<std::pair<std::string, std::string>>& query) {
  std::string target = kind.group.empty() ? "/api" : "/apis";
  if (!kind.group.empty()) AppendSegment(kind.group, target);
  AppendSegment(kind.version, target);
  if (kind.scope == Scope::kNamespaced && !key.ns.empty()) {
    target += "/namespaces";
    AppendSegment(key.ns, target);
  }
  AppendSegment(kind.plural, target);
  if (!key.name.empty()) AppendSegment(key.name, target);
  if (!subresource.empty()) AppendSegment(subresource, target);
  char separator = '?';
  for (const auto& [name, value] : query) {
    target += separator;
    AppendEscaped(name, false, target);
    target += '=';
    AppendEscaped(value, false, target);
    separator = '&';
  }
  return target;
}

std::string RestRequest::ToString() const {
  std::string text = StrCat(method, " ", target);
  for (const std::string_view name : {"?continue=", "&continue="}) {
    const size_t at = text.find(name);
    if (at == std::string::npos) continue;
    const size_t value = at + name.size();
    text.replace(value, text.find('&', value) - value, "***");
  }
  return text;
}

}  // namespace mandate
