#include <cstdlib>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "manager/transport/testing/server_session.h"

namespace mandate {
namespace {

// One request at a time, keep-alive, bodies by Content-Length: enough for clients in tests.
class Http1Session : public ServerSession, public std::enable_shared_from_this<Http1Session> {
 public:
  explicit Http1Session(Context context) : context_(std::move(context)) {}

  bool Receive(std::string_view bytes) override {
    if (done_) return true;
    incoming_.append(bytes);
    return Advance();
  }

  void Collect(std::string& out, size_t) override {
    out += outgoing_;
    outgoing_.clear();
  }

  bool done() const override { return done_ && outgoing_.empty(); }
  // A socket that is closed with unread bytes is reset, and the client may lose the response.
  absl::Duration linger() const override {
    return early_ ? absl::Seconds(1) : absl::ZeroDuration();
  }
  void GoAway(GoAwayFrame) override { closing_ = true; }
  size_t open_streams() const override { return stream_ != nullptr ? 1 : 0; }

  void CloseStreams() override {
    if (stream_ != nullptr) stream_->MarkClosed();
    stream_.reset();
  }

  void Open(uint64_t stream, int code, const HttpHeaders& headers) override {
    if (stream != current_) return;
    absl::StrAppend(&outgoing_, "HTTP/1.1 ", code, " Text\r\n");
    chunked_ = true;
    for (const auto& [name, value] : headers) {
      absl::StrAppend(&outgoing_, name, ": ", value, "\r\n");
      if (name == "content-length") chunked_ = false;
    }
    if (chunked_) absl::StrAppend(&outgoing_, "transfer-encoding: chunked\r\n");
    if (closing_) absl::StrAppend(&outgoing_, "connection: close\r\n");
    outgoing_ += "\r\n";
    context_.wants_to_write();
  }

  void Send(uint64_t stream, std::string bytes) override {
    if (stream != current_ || bytes.empty()) return;
    if (chunked_) absl::StrAppend(&outgoing_, absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
    if (!chunked_) outgoing_ += bytes;
    context_.wants_to_write();
  }

  void End(uint64_t stream) override {
    if (stream != current_) return;
    if (chunked_) outgoing_ += "0\r\n\r\n";
    CloseStreams();
    ++current_;
    done_ = closing_;
    context_.wants_to_write();
    // The client may have sent its next request already.
    context_.loop.Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Advance();
    });
  }

  void Reset(uint64_t stream, uint32_t) override {
    if (stream != current_) return;
    CloseStreams();
    done_ = true;
    context_.wants_to_write();
  }

 private:
  bool Advance() {
    if (stream_ != nullptr || done_) return true;
    const size_t head_end = incoming_.find("\r\n\r\n");
    if (head_end == std::string::npos) return incoming_.size() < (1 << 20);
    ServerRequest request;
    size_t length = 0;
    bool first = true;
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(incoming_.substr(0, head_end), "\r\n"))) {
      if (first) {
        const std::vector<std::string> parts = absl::StrSplit(line, ' ');
        if (parts.size() != 3) return false;
        request.method = parts[0];
        request.target = parts[1];
        first = false;
        continue;
      }
      const size_t colon = line.find(':');
      if (colon == std::string::npos) return false;
      std::string name = absl::AsciiStrToLower(line.substr(0, colon));
      std::string value(absl::StripAsciiWhitespace(line.substr(colon + 1)));
      if (name == "content-length") length = std::strtoull(value.c_str(), nullptr, 10);
      request.headers.emplace_back(std::move(name), std::move(value));
    }
    if (length > 0 && context_.early_answer.has_value()) {
      AnswerEarly();
      return true;
    }
    if (incoming_.size() < head_end + 4 + length) return true;
    request.body = incoming_.substr(head_end + 4, length);
    incoming_.erase(0, head_end + 4 + length);
    request.connection = context_.connection;
    request.client_common_name = context_.client_common_name;
    stream_ = std::make_shared<ServerStream>(context_.loop, weak_from_this(), current_,
                                             std::move(request));
    context_.handler(stream_);
    return true;
  }

  void AnswerEarly() {
    const EarlyAnswer& answer = *context_.early_answer;
    context_.answered_early();
    absl::StrAppend(&outgoing_, "HTTP/1.1 ", answer.code,
                    " Text\r\nconnection: close\r\ncontent-length: ", answer.body.size(),
                    "\r\n\r\n", answer.body);
    incoming_.clear();
    early_ = done_ = true;
    context_.wants_to_write();
  }

  const Context context_;
  std::string incoming_;
  std::string outgoing_;
  std::shared_ptr<ServerStream> stream_;  // the request in progress
  uint64_t current_ = 1;
  bool chunked_ = false;
  bool closing_ = false;
  bool early_ = false;
  bool done_ = false;
};

}  // namespace

std::shared_ptr<ServerSession> NewHttp1Session(ServerSession::Context context) {
  return std::make_shared<Http1Session>(std::move(context));
}

}  // namespace mandate
