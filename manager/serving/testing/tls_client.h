// A blocking HTTPS client for tests, which does not verify the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <string>

#include "manager/core/strings.h"

namespace mandate {

struct TlsAnswer {
  unsigned code = 0;
  std::string body;
  bool keep_alive = false;  // the connection may be used again
};

// Sends the bytes of a request to "IP:PORT", and reads one response. Network errors throw.
inline TlsAnswer SendByTls(const std::string& address, const std::string& request) {
  namespace asio = boost::asio;
  const size_t colon = address.rfind(':');
  asio::io_context io;
  asio::ssl::context context(asio::ssl::context::tls_client);
  asio::ssl::stream<asio::ip::tcp::socket> stream(io, context);
  stream.next_layer().connect({asio::ip::make_address(address.substr(0, colon)),
                               static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  stream.handshake(asio::ssl::stream_base::client);
  asio::write(stream, asio::buffer(request));
  boost::beast::flat_buffer buffer;
  boost::beast::http::response<boost::beast::http::string_body> response;
  boost::beast::http::read(stream, buffer, response);
  return {response.result_int(), response.body(), response.keep_alive()};
}

// A POST of JSON.
inline TlsAnswer PostByTls(const std::string& address, const std::string& target,
                           const std::string& body) {
  return SendByTls(address,
                   StrCat("POST ", target, " HTTP/1.1\r\nHost: x\r\nContent-Type: ",
                          "application/json\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
}

}  // namespace mandate
