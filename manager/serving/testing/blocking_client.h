// A blocking HTTP client for tests, which sends any bytes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <string>

namespace mandate {

// One connection to "IP:PORT". Network errors throw, except in Closed() and ReadAll().
class BlockingClient {
 public:
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  explicit BlockingClient(const std::string& address) : socket_(io_) {
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    if (host.front() == '[') host = host.substr(1, host.size() - 2);
    socket_.connect({boost::asio::ip::make_address(host),
                     static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  }
  void Write(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  Response Read(bool head = false) {
    boost::beast::http::response_parser<boost::beast::http::string_body> parser;
    parser.skip(head);
    boost::beast::http::read(socket_, buffer_, parser);
    return parser.release();
  }
  Response Get(const std::string& target) {
    Write("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return Read();
  }
  Response Post(const std::string& target, const std::string& body) {
    Write("POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Type: text/x\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\n\r\n" + body);
    return Read();
  }
  // Blocks until the server closes the connection.
  bool Closed() {
    char byte;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::buffer(&byte, 1), error);
    return error == boost::asio::error::eof || error == boost::asio::error::connection_reset;
  }
  // What comes until the server closes the connection.
  std::string ReadAll() {
    std::string all;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(all), error);
    return all;
  }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
};

}  // namespace mandate
