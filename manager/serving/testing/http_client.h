// A blocking HTTP client for tests.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <string>

namespace mandate {

struct HttpAnswer {
  unsigned code = 0;  // 0: the address refuses connections
  std::string body;
};

// The answer of "IP:PORT" to a GET. Other network errors throw.
inline HttpAnswer GetByHttp(const std::string& address, const std::string& target) {
  namespace asio = boost::asio;
  const size_t colon = address.rfind(':');
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect({asio::ip::make_address(address.substr(0, colon)),
                  static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))},
                 error);
  if (error) return {};
  asio::write(socket, asio::buffer("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  boost::beast::flat_buffer buffer;
  boost::beast::http::response<boost::beast::http::string_body> response;
  boost::beast::http::read(socket, buffer, response);
  return {response.result_int(), response.body()};
}

}  // namespace mandate
