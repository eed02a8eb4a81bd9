#include "manager/serving/listen_address.h"

#include <charconv>

#include "manager/core/strings.h"

namespace mandate {

using boost::asio::ip::tcp;

absl::StatusOr<tcp::endpoint> ParseListenAddress(const std::string& address) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(AsAbsl(
        StrCat("\"", address,
               "\" is not a valid address to listen on; write IP:PORT, such as 127.0.0.1:8081")));
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return invalid();
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  uint16_t port = 0;
  const char* end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc() || rest != end) return invalid();
  if (host.empty()) return tcp::endpoint(tcp::v6(), port);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code failed;
  const auto ip = boost::asio::ip::make_address(host, failed);
  if (failed) return invalid();
  return tcp::endpoint(ip, port);
}

}  // namespace mandate
