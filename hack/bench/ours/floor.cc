#include "hack/bench/ours/floor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "hack/bench/ours/report.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"

namespace mandate::bench {
namespace {

constexpr std::string_view kPath =
    "/api/v1/namespaces/bench/configmaps?watch=1&sendInitialEvents=true";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kInitialEnd = "initial-events-end";
// A stamp: the annotation's key, the tag and length of its value, and the unix time in nanoseconds.
constexpr std::string_view kStamp = "bench/ts";
constexpr size_t kStampDigits = 19;
constexpr size_t kStampBytes = kStamp.size() + 2 + kStampDigits;

// The head of a frame (RFC 9113, 4.1): length, type, flags, stream.
constexpr size_t kHeadBytes = 9;

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame = {0, static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size()),
                       static_cast<char>(type), static_cast<char>(flags)};
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(stream >> shift);
  return frame.append(payload);
}

// A header (RFC 7541, 6.2.2): the name's index in the static table, and the value (under 127 bytes)
// as plain text.
std::string Header(int name, std::string_view value) {
  std::string header = name < 15 ? std::string(1, static_cast<char>(name))
                                 : std::string{15, static_cast<char>(name - 15)};
  return (header += static_cast<char>(value.size())).append(value);
}

// Everything that a client sends for one watch, with flow-control windows that never fill.
std::string Request() {
  const std::string method_get_scheme_https = "\x82\x87";
  const std::string headers = method_get_scheme_https + Header(1, "bench") + Header(4, kPath) +
                              Header(19, kProtobuf);  // :authority, :path, accept
  const std::string_view initial_window("\x00\x04\x7f\xff\xff\xff", 6);
  const std::string_view more("\x7f\xff\x00\x00", 4);
  return StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Frame(4, 0, 0, initial_window),
                Frame(8, 0, 0, more), Frame(4, /*ACK*/ 1, 0, ""),
                Frame(1, /*END_STREAM | END_HEADERS*/ 5, 1, headers));
}

// A connection to a server on loopback. It sends no credential, so it does not verify the server.
class Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& server) {
    auto connection = std::make_unique<Connection>();
    uint32_t port = 0;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!absl::SimpleAtoi(server.substr(server.rfind(':') + 1), &port)) {
      return absl::InvalidArgumentError(StrCat(server, " has no port"));
    }
    address.sin_port = htons(static_cast<uint16_t>(port));
    const int one = 1;
    setsockopt(connection->socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    static constexpr unsigned char kH2[] = {2, 'h', '2'};
    SSL* const ssl = connection->ssl_.get();
    epoll_event readable = {.events = EPOLLIN, .data = {}};
    if (connect(connection->socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        SSL_set_alpn_protos(ssl, kH2, sizeof kH2) != 0 ||
        SSL_set_fd(ssl, connection->socket_) != 1 || SSL_connect(ssl) != 1 ||
        epoll_ctl(connection->epoll_, EPOLL_CTL_ADD, connection->socket_, &readable) != 0) {
      return absl::UnavailableError(StrCat("cannot connect to ", server));
    }
    return connection;
  }
  ~Connection() {
    close(epoll_);
    close(socket_);
  }

  bool Send(std::string_view bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }

  // Waits for one TLS record and appends its body bytes to `body`; false if the connection is
  // closed. If more data is in the socket, the next call returns at once.
  bool Receive(std::string& body) {
    if (SSL_pending(ssl_.get()) == 0) {
      epoll_event event;
      if (epoll_wait(epoll_, &event, 1, -1) != 1) return false;
    }
    const int count = SSL_read(ssl_.get(), buffer_.data(), static_cast<int>(buffer_.size()));
    if (count <= 0) return false;
    for (std::string_view left(buffer_.data(), static_cast<size_t>(count)); !left.empty();) {
      if (payload_left_ == 0) {
        head_ += left.front();
        left.remove_prefix(1);
        if (head_.size() < kHeadBytes) continue;
        for (int i = 0; i < 3; ++i) {
          payload_left_ = payload_left_ << 8 | static_cast<uint8_t>(head_[i]);
        }
        is_data_ = head_[3] == 0;
        head_.clear();
      } else {
        const std::string_view payload = left.substr(0, payload_left_);
        if (is_data_) body.append(payload);
        payload_left_ -= payload.size();
        left.remove_prefix(payload.size());
      }
    }
    return true;
  }

 private:
  const int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()),
                                                                   SSL_CTX_free};
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{SSL_new(context_.get()), SSL_free};
  std::array<char, 16 << 10> buffer_;
  std::string head_;  // the received part of a frame's head
  size_t payload_left_ = 0;
  bool is_data_ = false;
};

double AgeOf(int64_t sent) { return static_cast<double>(WallNanoseconds() - sent) / 1e3; }

// A thread that is woken for each stamp; of the stamps that arrive while it is awake, it sees the
// last.
class Woken {
 public:
  void Hand(int64_t sent) {
    sent_ = sent;
    sent_.notify_one();
  }
  std::vector<double> End() {
    Hand(kEnd);
    thread_.join();
    return ages_;
  }

 private:
  static constexpr int64_t kEnd = -1;

  std::atomic<int64_t> sent_ = 0;
  std::vector<double> ages_;
  std::jthread thread_{[this] {
    for (int64_t last = 0;;) {
      sent_.wait(last);
      last = sent_;
      if (last == kEnd) return;
      ages_.push_back(AgeOf(last));
    }
  }};
};

// Appends the ages of the stamps in `body` to `ages`, and removes everything from `body` that
// cannot be the start of another stamp.
void TakeAges(std::string& body, std::vector<double>& ages, Woken& woken) {
  size_t at = 0;
  for (size_t found; (found = body.find(kStamp, at)) != body.npos; at = found + kStampBytes) {
    if (found + kStampBytes > body.size()) break;
    int64_t sent = 0;
    if (absl::SimpleAtoi(body.substr(found + kStampBytes - kStampDigits, kStampDigits), &sent)) {
      ages.push_back(AgeOf(sent));
      woken.Hand(sent);
    }
  }
  body.erase(0, std::max(at, body.size() - std::min(body.size(), kStampBytes)));
}

}  // namespace

absl::Status Floor(const std::string& kubeconfig, int events) {
  ASSIGN_OR_RETURN(const ClusterConfig cluster, LoadKubeconfig({kubeconfig}));
  ASSIGN_OR_RETURN(const auto connection, Connection::Open(cluster.endpoint.server));
  const absl::Status over = absl::UnavailableError("the server has closed the connection");
  if (!connection->Send(Request())) return over;
  std::string body;
  while (body.find(kInitialEnd) == body.npos) {
    body.erase(0, body.size() - std::min(body.size(), kInitialEnd.size()));
    if (!connection->Receive(body)) return over;
  }
  body.clear();
  const size_t wanted = static_cast<size_t>(events);
  std::vector<double> ages;
  Woken woken;
  const double before = CpuSeconds();
  SayReady();
  while (ages.size() < wanted) {
    if (!connection->Receive(body)) return over;
    TakeAges(body, ages, woken);
  }
  const double used = CpuSeconds() - before;
  ReportAges(woken.End(), "");
  ReportAges(std::move(ages), " at the loop");
  Report("cpu per event", used * 1e6 / events, "us");
  return absl::OkStatus();
}

}  // namespace mandate::bench
