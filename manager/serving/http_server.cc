#include "manager/serving/http_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <set>
#include <thread>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/serving/http_connection.h"
#include "manager/serving/listener.h"

namespace mandate {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);

}  // namespace

// Everything except the start and the end of the thread happens on the thread.
class HttpServer::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        host_{options_,
              io_,
              turns_,
              draining_,
              [this](const ServedRequest& request) { return Serve(request); },
              [this](const std::shared_ptr<HttpConnection>& ended) { Forget(ended); }},
        acceptor_(*io_),
        accept_again_(*io_) {}
  ~Impl() {
    if (!thread_.joinable()) return;
    asio::post(*io_, [this] { Close(); });
    thread_.join();
  }

  absl::Status Start();
  void Drain() { draining_ = true; }
  const std::string& address() const { return address_; }

 private:
  void Accept();
  void Add(tcp::socket socket);
  // Closes the connection that has waited longest for its client to send a request or to read a
  // response. Returns false if there is none.
  bool CloseIdleConnection();
  void Forget(const std::shared_ptr<HttpConnection>& connection);
  void Close();
  ServedResponse Serve(const ServedRequest& request) const;

  const Options options_;
  std::string address_;
  prometheus::Gauge* connections_gauge_ = nullptr;
  prometheus::Counter* refused_ = nullptr;
  const std::shared_ptr<asio::io_context> io_ = std::make_shared<asio::io_context>();
  uint64_t turns_ = 0;
  std::atomic<bool> draining_ = false;
  const HttpConnection::Host host_;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_again_;
  std::set<std::shared_ptr<HttpConnection>> connections_;
  std::thread thread_;
};

absl::Status HttpServer::Impl::Start() {
  if (options_.metrics == nullptr) return absl::InvalidArgumentError("the server needs metrics");
  ListenSystem system;
  RETURN_IF_ERROR(Listen(options_.address, acceptor_, system));
  const tcp::endpoint local = acceptor_.local_endpoint();
  const std::string host = local.address().to_string();
  address_ = StrCat(local.address().is_v6() ? StrCat("[", host, "]") : host, ":", local.port());
  const Labels labels = {{"address", options_.address}};
  connections_gauge_ = &options_.metrics->Gauge("mandate_http_connections",
                                                "Open connections to this server", labels);
  refused_ = &options_.metrics->Counter("mandate_http_connections_refused_total",
                                        "Connections closed because there were too many", labels);
  Accept();
  thread_ = std::thread([this] { io_->run(); });
  return absl::OkStatus();
}

void HttpServer::Impl::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // Most likely there are no free descriptors, so an immediate retry would only fail again.
      options_.log.Error("Cannot accept a connection", {{"error", error.message()}});
      accept_again_.expires_after(kAcceptPause);
      accept_again_.async_wait([this](error_code cancelled) {
        if (!cancelled) Accept();
      });
      return;
    }
    const bool full = connections_.size() >= options_.max_connections;
    if (full) refused_->Increment();
    if (!full || CloseIdleConnection()) {
      Add(std::move(socket));
    } else {
      error_code ignored;
      socket.close(ignored);
    }
    Accept();
  });
}

bool HttpServer::Impl::CloseIdleConnection() {
  std::shared_ptr<HttpConnection> longest;
  for (const auto& connection : connections_) {
    if (connection->waits_for_us()) continue;
    if (longest == nullptr || connection->turn() < longest->turn()) longest = connection;
  }
  if (longest == nullptr) return false;
  // The connection ends when its pending operation fails. Its place is free now.
  connections_.erase(longest);
  longest->Close();
  return true;
}

void HttpServer::Impl::Add(tcp::socket socket) {
  const auto connection = HttpConnection::Make(
      host_, std::move(socket),
      options_.certificate == nullptr ? nullptr : options_.certificate->Context());
  connections_.insert(connection);
  connections_gauge_->Set(static_cast<double>(connections_.size()));
  connection->Start();
}

void HttpServer::Impl::Forget(const std::shared_ptr<HttpConnection>& connection) {
  connections_.erase(connection);
  connections_gauge_->Set(static_cast<double>(connections_.size()));
}

void HttpServer::Impl::Close() {
  error_code ignored;
  acceptor_.close(ignored);
  accept_again_.cancel();
  // Each connection ends when its pending operation fails. Then the thread has no work left, and
  // ends.
  for (const auto& connection : connections_) connection->Close();
}

ServedResponse HttpServer::Impl::Serve(const ServedRequest& request) const {
  auto handler = options_.handlers.find(std::string(request.path));
  for (size_t slash = request.path.rfind('/');
       handler == options_.handlers.end() && slash != std::string_view::npos;
       slash = slash == 0 ? std::string_view::npos : request.path.rfind('/', slash - 1)) {
    handler = options_.handlers.find(std::string(request.path.substr(0, slash + 1)));
  }
  if (handler == options_.handlers.end()) {
    std::string paths;
    for (const auto& [path, known] : options_.handlers) StrAppend(&paths, path, "\n");
    for (const auto& [path, known] : options_.deferred) StrAppend(&paths, path, "\n");
    for (const auto& [path, known] : options_.posts) StrAppend(&paths, "POST ", path, "\n");
    return {404, "text/plain; charset=utf-8", StrCat("not found; known paths:\n", paths)};
  }
  std::string what = "unknown";
  try {
    return handler->second(request);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  options_.log.Error("An HTTP handler threw an exception",
                     {{"path", request.path}, {"error", what}});
  return {500, "text/plain; charset=utf-8", "internal error\n"};
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Create(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
void HttpServer::Drain() { impl_->Drain(); }
const std::string& HttpServer::address() const { return impl_->address(); }

}  // namespace mandate
