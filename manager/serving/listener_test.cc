#include "manager/serving/listener.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>

namespace mandate {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

TEST(ParseListenAddressTest, ReadsIpAddressesLocalhostAndNoHost) {
  const struct {
    std::string text;
    std::string host;
    int port;
    bool loopback;
  } rows[] = {
      {"127.0.0.1:8081", "127.0.0.1", 8081, true}, {"localhost:0", "127.0.0.1", 0, true},
      {"[::1]:65535", "::1", 65535, true},         {":8080", "::", 8080, false},
      {"0.0.0.0:1", "0.0.0.0", 1, false},          {"10.1.2.3:8443", "10.1.2.3", 8443, false},
  };
  for (const auto& row : rows) {
    const auto parsed = ParseListenAddress(row.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->address().to_string(), row.host);
    EXPECT_EQ(parsed->port(), row.port);
    EXPECT_EQ(parsed->address().is_loopback(), row.loopback);
  }
}

TEST(ParseListenAddressTest, RejectsOtherText) {
  for (const char* text : {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "host:80",
                           "127.0.0.1:80x", "[::1]", "1.2.3:80"}) {
    EXPECT_EQ(ParseListenAddress(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// A node with one of the possible configurations of IPv6.
class Node : public ListenSystem {
 public:
  enum class Ipv6 { kOnly, kCannotOpen, kCannotBind, kInUse };
  explicit Node(Ipv6 ipv6) : ipv6_(ipv6) {}

  error_code Open(tcp::acceptor& acceptor, const tcp& protocol) override {
    if (protocol == tcp::v4()) return ListenSystem::Open(acceptor, protocol);
    // ipv6.disable=1
    if (ipv6_ == Ipv6::kCannotOpen) return asio::error::address_family_not_supported;
    error_code error = ListenSystem::Open(acceptor, protocol);
    // net.ipv6.bindv6only=1
    if (!error && ipv6_ == Ipv6::kOnly) acceptor.set_option(asio::ip::v6_only(true), error);
    return error;
  }
  error_code Bind(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) override {
    if (endpoint.address().is_v6()) {
      // net.ipv6.conf.all.disable_ipv6=1
      if (ipv6_ == Ipv6::kCannotBind) {
        return {EADDRNOTAVAIL, boost::system::system_category()};
      }
      if (ipv6_ == Ipv6::kInUse) return asio::error::address_in_use;
    }
    return ListenSystem::Bind(acceptor, endpoint);
  }

 private:
  const Ipv6 ipv6_;
};

class ListenerTest : public testing::Test {
 protected:
  bool HasIpv6() {
    tcp::acceptor probe(io_);
    error_code error;
    probe.open(tcp::v6(), error);
    if (!error) probe.bind({asio::ip::address_v6::loopback(), 0}, error);
    return !error;
  }
  // Whether a client can connect to the port at this address.
  bool Reaches(const char* host) {
    tcp::socket client(io_);
    error_code error;
    client.connect({asio::ip::make_address(host), acceptor_.local_endpoint().port()}, error);
    return !error;
  }

  asio::io_context io_;
  tcp::acceptor acceptor_{io_};
};

TEST_F(ListenerTest, EveryInterfaceIsBothVersions) {
  if (!HasIpv6()) GTEST_SKIP() << "no IPv6 here";
  Node node(Node::Ipv6::kOnly);
  for (const char* address : {":0", "[::]:0"}) {
    ASSERT_TRUE(Listen(address, acceptor_, node).ok()) << address;
    EXPECT_TRUE(Reaches("::1")) << address;
    EXPECT_TRUE(Reaches("127.0.0.1")) << address;
    acceptor_.close();
  }
}

TEST_F(ListenerTest, EveryInterfaceIsIpv4WhereThereIsNoIpv6) {
  for (const Node::Ipv6 ipv6 : {Node::Ipv6::kCannotOpen, Node::Ipv6::kCannotBind}) {
    if (ipv6 == Node::Ipv6::kCannotBind && !HasIpv6()) continue;
    Node node(ipv6);
    const absl::Status status = Listen(":0", acceptor_, node);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Reaches("127.0.0.1"));
    acceptor_.close();
    EXPECT_TRUE(absl::IsUnavailable(Listen("[::1]:0", acceptor_, node))) << "that was asked for";
  }
}

// Otherwise a process cannot listen on its port until the connections of the former one are over.
TEST_F(ListenerTest, APortMayBeUsedAgainAtOnce) {
  ListenSystem system;
  ASSERT_TRUE(Listen("127.0.0.1:0", acceptor_, system).ok());
  asio::socket_base::reuse_address option;
  acceptor_.get_option(option);
  EXPECT_TRUE(option.value());
}

TEST_F(ListenerTest, APortThatIsTakenIsTaken) {
  if (!HasIpv6()) GTEST_SKIP() << "no IPv6 here";
  Node node(Node::Ipv6::kInUse);
  EXPECT_TRUE(absl::IsUnavailable(Listen(":0", acceptor_, node)));
  EXPECT_FALSE(acceptor_.is_open());
  EXPECT_TRUE(absl::IsInvalidArgument(Listen("nowhere", acceptor_, node)));
}

}  // namespace
}  // namespace mandate
