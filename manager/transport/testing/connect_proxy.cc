#include "manager/transport/testing/connect_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"

namespace mandate {
namespace {

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

// The next bytes; empty if the other end has closed.
std::string Receive(int socket) {
  std::string bytes(16 * 1024, '\0');
  const ssize_t count = recv(socket, bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return bytes;
}

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

ConnectProxy::ConnectProxy() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const bool listens = bind(listener_, generic, size) == 0 && listen(listener_, 128) == 0 &&
                       getsockname(listener_, generic, &size) == 0;
  if (!listens) std::abort();
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this] { Accept(); });
}

ConnectProxy::~ConnectProxy() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  close(listener_);
  {
    MutexLock lock(mutex_);
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  clients_.clear();
  MutexLock lock(mutex_);
  for (const int socket : sockets_) close(socket);
}

void ConnectProxy::Accept() {
  int client;
  while ((client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0) {
    Keep(client);
    clients_.emplace_back([this, client] {
      Serve(client);
      shutdown(client, SHUT_RDWR);
    });
  }
}

void ConnectProxy::Keep(int socket) {
  MutexLock lock(mutex_);
  sockets_.push_back(socket);
}

void ConnectProxy::Serve(int client) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    const std::string more = Receive(client);
    if (more.empty()) return;
    head += more;
  }
  std::string answer;
  {
    MutexLock lock(mutex_);
    answer = answer_;
    heads_.push_back(head);
  }
  if (answer.empty()) {
    Receive(client);  // until the client leaves
    return;
  }
  if (!answer.starts_with("HTTP/1.1 200")) {
    SendAll(client, answer);
    return;
  }
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Keep(server);
  const sockaddr_in address = Loopback(PortOf(head));
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    SendAll(client, "HTTP/1.1 502 Bad gateway\r\n\r\n");
    return;
  }
  if (SendAll(client, answer)) Tunnel(client, server);
  shutdown(server, SHUT_RDWR);
}

void ConnectProxy::Tunnel(int client, int server) {
  pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
  while (poll(ends, 2, /*timeout=*/-1) > 0) {
    for (const auto& [from, to] : {std::pair(ends[0], server), std::pair(ends[1], client)}) {
      if (from.revents == 0) continue;
      const std::string bytes = Receive(from.fd);
      if (from.fd == client) {
        MutexLock lock(mutex_);
        passed_ += bytes;
      }
      if (bytes.empty() || !SendAll(to, bytes)) return;
    }
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
