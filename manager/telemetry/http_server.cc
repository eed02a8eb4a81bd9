#include "manager/telemetry/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "manager/core/strings.h"
#include "manager/telemetry/url.h"

namespace mandate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);

std::chrono::steady_clock::duration ToChrono(absl::Duration duration) {
  return absl::ToChronoNanoseconds(duration);
}

std::string_view AsStd(beast::string_view text) { return {text.data(), text.size()}; }

// "127.0.0.1:8081", "[::1]:8081", ":8081" (every interface).
absl::StatusOr<tcp::endpoint> ParseAddress(const std::string& address) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(AsAbsl(
        StrCat("\"", address, "\" is no address to listen on; write IP:PORT, as 127.0.0.1:8081")));
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
  error_code failed;
  const auto ip = asio::ip::make_address(host, failed);
  if (failed) return invalid();
  return tcp::endpoint(ip, port);
}

}  // namespace

// Everything but the thread's start and end happens on the thread.
class HttpServer::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), acceptor_(io_), accept_again_(io_) {}
  ~Impl() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { Close(); });
    thread_.join();
  }

  absl::Status Start();
  const std::string& address() const { return address_; }

 private:
  class Connection;

  void Accept();
  void Close();
  ServedResponse Serve(std::string_view target) const;

  const Options options_;
  std::string address_;
  prometheus::Gauge* connections_gauge_ = nullptr;
  prometheus::Counter* refused_ = nullptr;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_again_;
  std::set<std::shared_ptr<Connection>> connections_;
  std::thread thread_;
};

class HttpServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {}

  void Read() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(server_.options_.max_header_bytes));
    parser_->body_limit(0);
    stream_.expires_after(ToChrono(server_.options_.idle_timeout));
    // The first bytes may be long in coming; then the whole request is due.
    stream_.async_read_some(
        buffer_.prepare(1024), [self = shared_from_this()](error_code error, size_t size) {
          if (error) return self->End();
          self->buffer_.commit(size);
          self->stream_.expires_after(ToChrono(self->server_.options_.request_timeout));
          http::async_read(self->stream_, self->buffer_, *self->parser_,
                           [self](error_code failed, size_t) { self->Answer(failed); });
        });
  }

  void Close() {
    error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void Answer(error_code error) {
    ServedResponse answer;
    bool keep_alive = false;
    if (error == http::error::header_limit) {
      answer = {431, "text/plain; charset=utf-8", "the request's header is too large\n"};
    } else if (error == http::error::body_limit) {
      answer = {413, "text/plain; charset=utf-8", "requests have no body here\n"};
    } else if (error &&
               error.category() == http::make_error_code(http::error::bad_value).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      answer = {400, "text/plain; charset=utf-8", "not a request of HTTP/1.1\n"};
    } else if (error) {
      return End();
    } else {
      const auto& request = parser_->get();
      keep_alive = request.keep_alive();
      head_ = request.method() == http::verb::head;
      if (head_ || request.method() == http::verb::get) {
        answer = server_.Serve(AsStd(request.target()));
      } else {
        answer = {405, "text/plain; charset=utf-8", "only GET and HEAD\n"};
      }
    }
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(answer.code));
    response_.set(http::field::content_type, answer.content_type);
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set(http::field::cache_control, "no-cache, private");
    if (answer.code == 405) response_.set(http::field::allow, "GET, HEAD");
    response_.keep_alive(keep_alive);
    response_.content_length(answer.body.size());
    if (!head_) response_.body() = std::move(answer.body);
    serializer_.emplace(response_);
    const auto written = [self = shared_from_this(), keep_alive](error_code failed, size_t) {
      if (failed || !keep_alive) return self->End();
      self->Read();
    };
    if (head_) {
      http::async_write_header(stream_, *serializer_, written);
    } else {
      http::async_write(stream_, *serializer_, written);
    }
  }

  void End() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
    server_.connections_.erase(shared_from_this());
    server_.connections_gauge_->Set(static_cast<double>(server_.connections_.size()));
  }

  Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  bool head_ = false;
};

absl::Status HttpServer::Impl::Start() {
  if (options_.metrics == nullptr) return absl::InvalidArgumentError("the server needs metrics");
  absl::StatusOr<tcp::endpoint> endpoint = ParseAddress(options_.address);
  if (!endpoint.ok()) return endpoint.status();
  error_code error;
  acceptor_.open(endpoint->protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(*endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return absl::UnavailableError(
        AsAbsl(StrCat("cannot listen on ", options_.address, ": ", error.message(),
                      "; choose another address, or 127.0.0.1:0 for any free port")));
  }
  const tcp::endpoint local = acceptor_.local_endpoint();
  const std::string host = local.address().to_string();
  address_ = StrCat(local.address().is_v6() ? StrCat("[", host, "]") : host, ":", local.port());
  const Labels labels = {{"address", options_.address}};
  connections_gauge_ = &options_.metrics->Gauge("mandate_http_connections",
                                                "Open connections to this server", labels);
  refused_ = &options_.metrics->Counter("mandate_http_connections_refused_total",
                                        "Connections closed because there were too many", labels);
  Accept();
  thread_ = std::thread([this] { io_.run(); });
  return absl::OkStatus();
}

void HttpServer::Impl::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // Out of descriptors, most likely: trying at once would only spin.
      options_.log.Error("Cannot accept a connection", {{"error", error.message()}});
      accept_again_.expires_after(kAcceptPause);
      accept_again_.async_wait([this](error_code cancelled) {
        if (!cancelled) Accept();
      });
      return;
    }
    if (connections_.size() < options_.max_connections) {
      auto connection = std::make_shared<Connection>(*this, std::move(socket));
      connections_.insert(connection);
      connections_gauge_->Set(static_cast<double>(connections_.size()));
      connection->Read();
    } else {
      refused_->Increment();
      error_code ignored;
      socket.close(ignored);
    }
    Accept();
  });
}

void HttpServer::Impl::Close() {
  error_code ignored;
  acceptor_.close(ignored);
  accept_again_.cancel();
  // Each ends by its pending operation's error; then the thread has nothing left to do.
  for (const auto& connection : connections_) connection->Close();
}

ServedResponse HttpServer::Impl::Serve(std::string_view target) const {
  const size_t question = target.find('?');
  ServedRequest request;
  request.path = target.substr(0, question);
  if (question != std::string_view::npos) request.query = ParseQuery(target.substr(question + 1));

  auto handler = options_.handlers.find(std::string(request.path));
  for (size_t slash = request.path.rfind('/');
       handler == options_.handlers.end() && slash != std::string_view::npos;
       slash = slash == 0 ? std::string_view::npos : request.path.rfind('/', slash - 1)) {
    handler = options_.handlers.find(std::string(request.path.substr(0, slash + 1)));
  }
  if (handler == options_.handlers.end()) {
    std::string paths;
    for (const auto& [path, known] : options_.handlers) StrAppend(&paths, path, "\n");
    return {404, "text/plain; charset=utf-8", StrCat("not found; there are:\n", paths)};
  }
  std::string what = "unknown";
  try {
    return handler->second(request);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  options_.log.Error("A handler threw", {{"path", request.path}, {"error", what}});
  return {500, "text/plain; charset=utf-8", "internal error\n"};
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Create(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
const std::string& HttpServer::address() const { return impl_->address(); }

}  // namespace mandate
