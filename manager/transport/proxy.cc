#include "manager/transport/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

struct Address {
  std::array<unsigned char, 16> bytes = {};
  int bits = 0;  // 32 or 128
};

std::optional<Address> ParseIp(const std::string& text) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
    address.bits = 32;
  } else if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) {
    address.bits = 128;
  } else {
    return std::nullopt;
  }
  return address;
}

bool SamePrefix(const Address& a, const Address& b, int bits) {
  if (a.bits != b.bits || bits < 0 || bits > a.bits) return false;
  const int whole = bits / 8;
  if (std::memcmp(a.bytes.data(), b.bytes.data(), static_cast<size_t>(whole)) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || (a.bytes[whole] ^ b.bytes[whole]) >> (8 - rest) == 0;
}

bool IsLoopback(const Address& address) {
  const Address v6 = {.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, .bits = 128};
  return address.bits == 32 ? address.bytes[0] == 127 : SamePrefix(address, v6, 128);
}

struct HostPort {
  std::string host;  // in lower case, without brackets
  std::string port;  // empty: none
};

HostPort SplitHostPort(std::string_view text) {
  HostPort result;
  if (text.starts_with('[')) {
    const size_t end = std::min(text.find(']'), text.size());
    result.host = text.substr(1, end - 1);
    if (text.substr(end).starts_with("]:")) result.port = text.substr(end + 2);
  } else if (const size_t colon = text.find(':');
             colon != std::string_view::npos &&
             text.find(':', colon + 1) == std::string_view::npos) {
    result.host = text.substr(0, colon);
    result.port = text.substr(colon + 1);
  } else {
    result.host = text;  // also an IPv6 address without brackets
  }
  absl::AsciiStrToLower(&result.host);
  return result;
}

// Whether one entry of NO_PROXY covers the server.
bool Excludes(std::string_view entry, const HostPort& server, const std::optional<Address>& ip) {
  if (const size_t slash = entry.find('/'); slash != std::string_view::npos) {
    const std::string_view size = entry.substr(slash + 1);
    int bits = -1;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bits);
    const auto network = ParseIp(std::string(entry.substr(0, slash)));
    return error == std::errc() && end == size.data() + size.size() && network.has_value() &&
           ip.has_value() && SamePrefix(*network, *ip, bits);
  }
  const HostPort wanted = SplitHostPort(entry);
  if (!wanted.port.empty() && wanted.port != server.port) return false;
  if (const auto address = ParseIp(wanted.host); address.has_value()) {
    return ip.has_value() && SamePrefix(*address, *ip, address->bits);
  }
  std::string_view domain = wanted.host;
  if (domain.starts_with('*')) domain.remove_prefix(1);
  if (domain.empty()) return false;
  if (domain.starts_with('.')) return server.host.ends_with(domain);
  return server.host == domain || server.host.ends_with(StrCat(".", domain));
}

std::string FirstOf(
    const std::function<std::optional<std::string>(const std::string& name)>& environment,
    const char* upper, const char* lower) {
  std::string value = environment(upper).value_or("");
  return value.empty() ? environment(lower).value_or("") : value;
}

}  // namespace

absl::StatusOr<std::string> ParseProxy(std::string_view text, std::string_view source) {
  constexpr std::string_view kScheme = "http://";
  const size_t scheme_end = text.find("://");
  if (scheme_end != std::string_view::npos) {
    if (text.substr(0, scheme_end + 3) != kScheme) {
      return absl::UnimplementedError(
          StrCat(source, ": only http:// proxies are supported; the traffic through them is TLS"));
    }
    text.remove_prefix(kScheme.size());
  }
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.find('@') != std::string_view::npos) {
    return absl::UnimplementedError(
        StrCat(source, ": proxies that need a user and password are not supported"));
  }
  const bool visible =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  const HostPort address = SplitHostPort(text);
  const bool port_ok = std::all_of(address.port.begin(), address.port.end(),
                                   [](unsigned char c) { return absl::ascii_isdigit(c); });
  if (!visible || address.host.empty() || !port_ok || text.find('/') != std::string_view::npos) {
    return absl::InvalidArgumentError(
        StrCat(source, ": this is not a proxy address; write http://HOST:PORT"));
  }
  // Go's default port; libcurl's is 1080.
  return StrCat(kScheme, text, address.port.empty() ? ":80" : "");
}

absl::StatusOr<std::string> ProxyFromEnvironment(
    std::string_view server,
    const std::function<std::optional<std::string>(const std::string& name)>& environment) {
  const std::string proxy = FirstOf(environment, "HTTPS_PROXY", "https_proxy");
  if (proxy.empty()) return std::string();
  if (const size_t scheme = server.find("://"); scheme != std::string_view::npos) {
    server.remove_prefix(scheme + 3);
  }
  HostPort target = SplitHostPort(server.substr(0, server.find('/')));
  if (target.port.empty()) target.port = "443";
  const std::optional<Address> ip = ParseIp(target.host);
  if (target.host == "localhost" || (ip.has_value() && IsLoopback(*ip))) return std::string();
  const std::string excluded = FirstOf(environment, "NO_PROXY", "no_proxy");
  for (const absl::string_view part : absl::StrSplit(excluded, ',')) {
    const std::string_view entry = AsStd(absl::StripAsciiWhitespace(part));
    if (entry == "*" || (!entry.empty() && Excludes(entry, target, ip))) return std::string();
  }
  return ParseProxy(proxy, "HTTPS_PROXY");
}

}  // namespace mandate
