#include "manager/transport/testing/connect_proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace mandate {
namespace {

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat("test proxy: ", what, " failed: ", strerror(errno)));
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// The port of "CONNECT host:port HTTP/1.1"; 0: another line.
uint16_t PortOf(const std::string& head) {
  if (!head.starts_with("CONNECT ")) return 0;
  const size_t end = head.find(' ', 8);
  const size_t colon = head.rfind(':', end);
  uint32_t port = 0;
  return absl::SimpleAtoi(head.substr(colon + 1, end - colon - 1), &port)
             ? static_cast<uint16_t>(port)
             : 0;
}

}  // namespace

// A client and the server that it is tunnelled to. Loop thread only.
class ConnectProxy::Connection {
 public:
  Connection(ConnectProxy& proxy, int client, std::function<void()> close)
      : proxy_(proxy), client_{.fd = client}, close_(std::move(close)) {}
  ~Connection() {
    for (End* end : {&client_, &server_}) {
      end->watch.reset();
      if (end->fd >= 0) close(end->fd);
    }
  }

  void Start() { Watch(client_); }

 private:
  struct End {
    int fd = -1;
    std::unique_ptr<EventLoop::FdWatch> watch = nullptr;
    std::string outgoing = {};
  };

  void Watch(End& end) {
    auto watch = proxy_.loop_->WatchFd(end.fd, EPOLLIN, [this](uint32_t) { Drive(); });
    if (watch.ok()) end.watch = *std::move(watch);
  }

  void Drive() {
    if (!Read(client_, tunnel_ ? server_.outgoing : head_)) return close_();
    if (!tunnel_ && head_.ends_with("\r\n\r\n") && !Answer()) return close_();
    if (tunnel_ && !Read(server_, client_.outgoing)) return close_();
    if (!Write(client_) || !Write(server_)) close_();
  }

  // False: close the connection.
  bool Answer() {
    std::string answer;
    {
      MutexLock lock(proxy_.mutex_);
      answer = proxy_.answer_;
      proxy_.heads_.push_back(head_);
    }
    if (answer.empty()) return true;
    client_.outgoing = answer;
    if (!answer.starts_with("HTTP/1.1 200")) {
      Write(client_);
      return false;
    }
    server_.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(PortOf(head_));
    // Blocking: loopback answers at once.
    if (connect(server_.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      client_.outgoing = "HTTP/1.1 502 Bad gateway\r\n\r\n";
      Write(client_);
      return false;
    }
    tunnel_ = true;
    Watch(server_);
    return true;
  }

  bool Read(End& from, std::string& into) {
    std::array<char, 16 * 1024> buffer;
    while (true) {
      const ssize_t count = recv(from.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0) return errno == EAGAIN;
      if (count == 0) return false;
      into.append(buffer.data(), static_cast<size_t>(count));
      if (tunnel_ && &from == &client_) {
        MutexLock lock(proxy_.mutex_);
        proxy_.passed_.append(buffer.data(), static_cast<size_t>(count));
      }
    }
  }

  bool Write(End& to) {
    while (!to.outgoing.empty()) {
      const ssize_t count =
          send(to.fd, to.outgoing.data(), to.outgoing.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && errno != EAGAIN) return false;
      if (count < 0) break;
      to.outgoing.erase(0, static_cast<size_t>(count));
    }
    if (to.watch != nullptr) {
      to.watch->SetEvents(to.outgoing.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
    }
    return true;
  }

  ConnectProxy& proxy_;
  End client_;
  End server_;
  std::function<void()> close_;
  std::string head_;
  bool tunnel_ = false;
};

absl::StatusOr<std::unique_ptr<ConnectProxy>> ConnectProxy::Create() {
  auto proxy = std::unique_ptr<ConnectProxy>(new ConnectProxy());
  auto loop = EventLoop::Create({.thread_name = "test-proxy"});
  if (!loop.ok()) return std::move(loop).status();
  proxy->loop_ = *std::move(loop);
  if (absl::Status status = proxy->Listen(); !status.ok()) return status;
  return proxy;
}

ConnectProxy::~ConnectProxy() {
  if (loop_ != nullptr) {
    Latch done;
    loop_->Post([&] {
      accepting_.reset();
      connections_.clear();
      done.Set();
    });
    loop_->Await(done);
    loop_->Stop();
  }
  if (listener_ >= 0) close(listener_);
}

absl::Status ConnectProxy::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return Failed("socket");
  sockaddr_in address = Loopback(0);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (bind(listener_, generic, size) != 0) return Failed("bind");
  if (listen(listener_, 128) != 0) return Failed("listen");
  if (getsockname(listener_, generic, &size) != 0) return Failed("getsockname");
  port_ = ntohs(address.sin_port);
  absl::Status status;
  Latch done;
  loop_->Post([&] {
    auto watch = loop_->WatchFd(listener_, EPOLLIN, [this](uint32_t) { Accept(); });
    status = watch.status();
    if (watch.ok()) accepting_ = *std::move(watch);
    done.Set();
  });
  loop_->Await(done);
  return status;
}

void ConnectProxy::Accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const uint64_t id = next_connection_++;
    // In a later task: the connection's own callback closes it.
    auto connection = std::make_shared<Connection>(
        *this, fd, [this, id] { loop_->Post([this, id] { connections_.erase(id); }); });
    connection->Start();
    connections_.emplace(id, std::move(connection));
  }
}

void ConnectProxy::AnswerWith(std::string head) {
  MutexLock lock(mutex_);
  answer_ = std::move(head);
}

std::vector<std::string> ConnectProxy::heads() const {
  MutexLock lock(mutex_);
  return heads_;
}

std::string ConnectProxy::passed() const {
  MutexLock lock(mutex_);
  return passed_;
}

}  // namespace mandate
