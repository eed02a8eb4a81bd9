#include "manager/serving/http_connection.h"

#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <optional>
#include <string>
#include <utility>

#include "manager/core/percent.h"

namespace mandate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;

constexpr char kText[] = "text/plain; charset=utf-8";

std::string_view AsStd(beast::string_view text) { return {text.data(), text.size()}; }

// The token of "Authorization: Bearer TOKEN"; "" for any other value.
std::string_view BearerOf(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() < kScheme.size() ||
      !beast::iequals({header.data(), kScheme.size()}, {kScheme.data(), kScheme.size()})) {
    return {};
  }
  header.remove_prefix(kScheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header.substr(0, header.find(' '));
}

template <class Stream>
class StreamConnection final : public HttpConnection {
 public:
  StreamConnection(const Host& host, tcp::socket socket,
                   std::shared_ptr<asio::ssl::context> tls) requires std::is_same_v<Stream, Tls>
      : host_(host), tls_(std::move(tls)), stream_(std::move(socket), *tls_) {}
  StreamConnection(const Host& host, tcp::socket socket) requires std::is_same_v<Stream, Plain>
      : host_(host), stream_(std::move(socket)) {}

  void Start() override {
    TakeTurn();
    if constexpr (std::is_same_v<Stream, Tls>) {
      Lowest().expires_after(absl::ToChronoNanoseconds(host_.options.request_timeout));
      stream_.async_handshake(asio::ssl::stream_base::server, [self = Self()](error_code error) {
        error ? self->End() : self->Read();
      });
    } else {
      Read();
    }
  }

  void Close() override {
    error_code ignored;
    Lowest().socket().close(ignored);
  }

 private:
  std::shared_ptr<StreamConnection> Self() {
    return std::static_pointer_cast<StreamConnection>(shared_from_this());
  }
  void TakeTurn() { turn_ = ++host_.turns; }
  beast::tcp_stream& Lowest() { return beast::get_lowest_layer(stream_); }

  void Read() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(host_.options.max_header_bytes));
    parser_->body_limit(boost::none);  // the header decides
    Lowest().expires_after(absl::ToChronoNanoseconds(served_ ? host_.options.idle_timeout
                                                             : host_.options.request_timeout));
    // The client may wait long before its first bytes. After them, the timeout of the whole request
    // applies.
    stream_.async_read_some(buffer_.prepare(1024), [self = Self()](error_code error, size_t size) {
      if (error) return self->End();
      self->buffer_.commit(size);
      self->Lowest().expires_after(absl::ToChronoNanoseconds(self->host_.options.request_timeout));
      http::async_read_header(self->stream_, self->buffer_, *self->parser_,
                              [self](error_code failed, size_t) { self->OnHeader(failed); });
    });
  }

  // Handles a read error by an answer, or by closing the connection. Returns false if there is no
  // error.
  bool Failed(error_code error) {
    if (!error) return false;
    if (error == http::error::header_limit) {
      Answer({431, kText, "the request's header is too large\n"}, false);
    } else if (error == http::error::body_limit) {
      Answer({413, kText, "the request's body is too large\n"}, false);
    } else if (error.category() == http::make_error_code(http::error::bad_value).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      Answer({400, kText, "not an HTTP/1.1 request\n"}, false);
    } else {
      End();
    }
    return true;
  }

  void OnHeader(error_code error) {
    if (Failed(error)) return;
    const auto& request = parser_->get();
    head_ = request.method() == http::verb::head;
    const auto length = parser_->content_length();
    const bool has_body = parser_->chunked() || length.value_or(0) > 0;
    const auto route = host_.options.posts.find(std::string(Path()));
    if (route != host_.options.posts.end()) {
      allow_ = "POST";
      if (request.method() != http::verb::post) {
        return Answer({405, kText, "only POST is supported\n"}, !has_body && request.keep_alive());
      }
      return ReadBody(route->second, length);
    }
    // A server with POST routes only: any other path is not found, with or without a body.
    if (host_.options.handlers.empty() && host_.options.deferred.empty()) {
      return Answer(host_.serve(Request()), !has_body && request.keep_alive());
    }
    allow_ = "GET, HEAD";
    if (has_body) return Answer({413, kText, "request bodies are not supported\n"}, false);
    if (!head_ && request.method() != http::verb::get) {
      return Answer({405, kText, "only GET and HEAD are supported\n"}, request.keep_alive());
    }
    if (!host_.options.access_check) return Serve();
    Check();
  }

  void ReadBody(const PostRoute& route, boost::optional<uint64_t> length) {
    const size_t limit = route.max_body_bytes;
    if (length.value_or(0) > limit) return (void)Failed(http::error::body_limit);
    if (route.admit) {
      auto admitted = route.admit(static_cast<size_t>(length.value_or(limit)));
      if (auto* refusal = std::get_if<ServedResponse>(&admitted)) {
        return Answer(std::move(*refusal), false);  // the body is not read
      }
      permit_ = std::get<std::shared_ptr<void>>(std::move(admitted));
    }
    parser_->body_limit(limit);
    http::async_read(stream_, buffer_, *parser_, [self = Self(), &route](error_code error, size_t) {
      if (!self->Failed(error)) self->Post(route);
    });
  }

  void Post(const PostRoute& route) {
    auto& message = parser_->get();
    ServedRequest request = Request();
    PostedRequest posted{.path = std::string(request.path),
                         .query = std::move(request.query),
                         .content_type = std::string(AsStd(message[http::field::content_type])),
                         .body = std::move(message.body()),
                         .permit = std::move(permit_)};
    route.handle(std::move(posted), AnswerLater());
  }

  // The function may be called on any thread; then `next` runs here with its argument. Until then
  // nothing is read and no timeout applies: the caller of the function has its own deadline.
  template <class Value, class Next>
  std::function<void(Value)> Later(Next next) {
    waits_for_us_ = true;
    Lowest().expires_never();
    return [weak = std::weak_ptr(Self()), io = host_.io, next](Value value) {
      asio::post(*io, [weak, next, value = std::move(value)]() mutable {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->waits_for_us_ = false;
        self->Lowest().expires_after(
            absl::ToChronoNanoseconds(self->host_.options.request_timeout));
        next(*self, std::move(value));
      });
    };
  }
  std::function<void(ServedResponse)> AnswerLater() {
    return Later<ServedResponse>([](StreamConnection& self, ServedResponse response) {
      self.Answer(std::move(response), self.parser_->get().keep_alive());
    });
  }

  std::string_view Path() const {
    const std::string_view target = AsStd(parser_->get().target());
    return target.substr(0, target.find('?'));
  }

  ServedRequest Request() const {
    ServedRequest request{.path = Path(),
                          .accept = AsStd(parser_->get()[http::field::accept]),
                          .host = AsStd(parser_->get()[http::field::host])};
    const std::string_view target = AsStd(parser_->get().target());
    const size_t question = target.find('?');
    if (question == std::string_view::npos) return request;
    for (const auto& [name, value] : ParseQuery(target.substr(question + 1))) {
      const auto [at, is_first] = request.query.try_emplace(name, value);
      if (!is_first) at->second += "," + value;
    }
    return request;
  }

  void Check() {
    const std::string_view verb = head_ ? "head" : "get";
    const std::string_view bearer = BearerOf(AsStd(parser_->get()[http::field::authorization]));
    host_.options.access_check(
        {.verb = verb, .path = Path(), .bearer = bearer},
        Later<std::optional<ServedResponse>>(
            [](StreamConnection& self, std::optional<ServedResponse> refusal) {
              if (!refusal.has_value()) return self.Serve();
              self.Answer(*std::move(refusal), self.parser_->get().keep_alive());
            }));
  }

  void Serve() {
    const auto deferred = host_.options.deferred.find(std::string(Path()));
    if (deferred != host_.options.deferred.end()) {
      return deferred->second(Request(), AnswerLater());
    }
    Answer(host_.serve(Request()), parser_->get().keep_alive());
  }

  void Answer(ServedResponse answer, bool keep_alive) {
    TakeTurn();
    served_ = true;
    permit_.reset();
    keep_alive = keep_alive && !host_.draining;
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(answer.code));
    response_.set(http::field::content_type, answer.content_type);
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set(http::field::cache_control, "no-cache, private");
    if (answer.code == 405) response_.set(http::field::allow, allow_);
    if (answer.code == 401) response_.set(http::field::www_authenticate, "Bearer");
    response_.keep_alive(keep_alive);
    response_.content_length(answer.body.size());
    if (!head_) response_.body() = std::move(answer.body);
    serializer_.emplace(response_);
    const auto written = [self = Self(), keep_alive](error_code failed, size_t) {
      if (failed) return self->End();
      keep_alive ? self->Read() : self->Finish();
    };
    if (head_) {
      http::async_write_header(stream_, *serializer_, written);
    } else {
      http::async_write(stream_, *serializer_, written);
    }
  }

  // Sends the end of the stream, so that the client knows that nothing was cut off.
  void Finish() {
    if constexpr (std::is_same_v<Stream, Tls>) {
      stream_.async_shutdown([self = Self()](error_code) { self->End(); });
    } else {
      End();
    }
  }

  void End() {
    error_code ignored;
    Lowest().socket().shutdown(tcp::socket::shutdown_both, ignored);
    Lowest().close();
    host_.forget(shared_from_this());
  }

  const Host& host_;
  std::shared_ptr<asio::ssl::context> tls_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<void> permit_;  // of the request whose body is being read
  http::response<http::string_body> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  bool head_ = false;
  const char* allow_ = "GET, HEAD";  // the methods of the path
  bool served_ = false;              // a request was served on this connection
};

}  // namespace

std::shared_ptr<HttpConnection> HttpConnection::Make(const Host& host, tcp::socket socket,
                                                     std::shared_ptr<asio::ssl::context> tls) {
  if (tls == nullptr) return std::make_shared<StreamConnection<Plain>>(host, std::move(socket));
  return std::make_shared<StreamConnection<Tls>>(host, std::move(socket), std::move(tls));
}

}  // namespace mandate
