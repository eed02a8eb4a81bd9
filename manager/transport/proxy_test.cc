#include "manager/transport/proxy.h"

#include <map>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using Variables = std::map<std::string, std::string>;

std::string ProxyOf(const std::string& server, const Variables& variables) {
  const auto proxy =
      ProxyFromEnvironment(server, [&](const std::string& name) -> std::optional<std::string> {
        const auto at = variables.find(name);
        return at == variables.end() ? std::nullopt : std::optional(at->second);
      });
  return proxy.ok() ? *proxy : std::string(absl::StatusCodeToString(proxy.status().code()));
}

TEST(Proxy, ReadsTheEnvironment) {
  EXPECT_EQ(ProxyOf("https://api:6443", {}), "");
  EXPECT_EQ(ProxyOf("https://api:6443", {{"HTTP_PROXY", "http://p:1"}}), "");
  EXPECT_EQ(ProxyOf("https://api:6443", {{"ALL_PROXY", "http://p:1"}}), "");
  EXPECT_EQ(ProxyOf("https://api:6443", {{"HTTPS_PROXY", "http://p:1"}}), "http://p:1");
  EXPECT_EQ(ProxyOf("https://api:6443", {{"https_proxy", "http://p:1"}}), "http://p:1");
  EXPECT_EQ(ProxyOf("https://api", {{"HTTPS_PROXY", "http://u:1"}, {"https_proxy", "http://l:1"}}),
            "http://u:1");
  EXPECT_EQ(ProxyOf("https://api", {{"HTTPS_PROXY", "http://user:word@p:1"}}), "UNIMPLEMENTED");
}

TEST(Proxy, NeverForLoopback) {
  for (const char* server : {"https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:1",
                             "https://127.8.9.10", "https://LOCALHOST"}) {
    EXPECT_EQ(ProxyOf(server, {{"HTTPS_PROXY", "http://p:1"}}), "") << server;
  }
}

TEST(Proxy, NoProxyTable) {
  struct Row {
    const char *server, *no_proxy;
    bool proxied;
  };
  const Row rows[] = {
      {"https://10.96.0.1:443", "", true},
      {"https://10.96.0.1:443", "*", false},
      {"https://10.96.0.1:443", "a, * ,b", false},
      {"https://10.96.0.1:443", "10.96.0.1", false},
      {"https://10.96.0.1:443", "10.96.0.2", true},
      {"https://10.96.0.1:443", "10.96.0.1:443", false},
      {"https://10.96.0.1", "10.96.0.1:443", false},
      {"https://10.96.0.1:443", "10.96.0.1:6443", true},
      {"https://10.96.0.1:443", "10.96.0.0/12", false},
      {"https://10.112.0.1:443", "10.96.0.0/12", true},
      {"https://10.96.0.1:443", "0.0.0.0/0", false},
      {"https://10.96.0.1:443", "10.96.0.0/33", true},
      {"https://10.96.0.1:443", "10.96.0.0/12x", true},
      {"https://10.96.0.1:443", "::/0", true},
      {"https://[fd00::1]:6443", "fd00::/8", false},
      {"https://[fd00::1]:6443", "fd00::1", false},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", false},
      {"https://[fd00::1]:6443", "[fd00::1]:443", true},
      {"https://api.example.com", "example.com", false},
      {"https://example.com", "example.com", false},
      {"https://API.Example.com", "example.COM", false},
      {"https://badexample.com", "example.com", true},
      {"https://api.example.com", ".example.com", false},
      {"https://example.com", ".example.com", true},
      {"https://api.example.com", "*.example.com", false},
      {"https://api.example.com:6443/prefix", "api.example.com:6443", false},
      {"https://api.example.com", "  x ,, example.com ", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ProxyOf(row.server, {{"HTTPS_PROXY", "p:3128"}, {"NO_PROXY", row.no_proxy}}),
              row.proxied ? "http://p:3128" : "")
        << row.server << " " << row.no_proxy;
    EXPECT_EQ(ProxyOf(row.server, {{"HTTPS_PROXY", "p:3128"}, {"no_proxy", row.no_proxy}}),
              row.proxied ? "http://p:3128" : "");
  }
}

TEST(Proxy, ParsesProxies) {
  struct Row {
    const char *text, *proxy;  // null: refused
  };
  const Row rows[] = {
      {"http://p:3128", "http://p:3128"},
      {"http://p:3128/", "http://p:3128"},
      {"p:3128", "http://p:3128"},
      {"http://p", "http://p:80"},
      {"http://[fd00::2]:3128", "http://[fd00::2]:3128"},
      {"https://p:3128", nullptr},
      {"socks5://p:1080", nullptr},
      {"http://user:secret@p:3128", nullptr},
      {"user:secret@p", nullptr},
      {"http://", nullptr},
      {"http://p:port", nullptr},
      {"http://p:3128/path", nullptr},
      {"http://p q", nullptr},
  };
  for (const Row& row : rows) {
    const auto proxy = ParseProxy(row.text, "proxy-url");
    EXPECT_EQ(proxy.ok(), row.proxy != nullptr) << row.text;
    if (proxy.ok()) {
      EXPECT_EQ(*proxy, row.proxy);
    } else {
      EXPECT_TRUE(absl::StartsWith(proxy.status().message(), "proxy-url: "));
      EXPECT_FALSE(absl::StrContains(proxy.status().message(), "secret"));
    }
  }
}

}  // namespace
}  // namespace mandate
