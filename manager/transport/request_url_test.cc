#include "manager/transport/request_url.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace mandate {
namespace {

RequestUrl Url(std::string server, std::string name) {
  auto endpoint = std::make_shared<Endpoint>();
  endpoint->server = std::move(server);
  endpoint->tls_server_name = std::move(name);
  return UrlOf(HttpRequest(endpoint, BearerToken{}, "GET", "/api/v1?x=y"));
}

struct Row {
  const char *server, *name, *url, *connect_to, *host;
};

TEST(RequestUrl, Table) {
  const Row rows[] = {
      {"https://10.0.0.1:6443", "", "https://10.0.0.1:6443/api/v1?x=y", "", ""},
      {"https://a/clusters/1", "", "https://a/clusters/1/api/v1?x=y", "", ""},
      {"https://10.0.0.1:6443", "kubernetes", "https://kubernetes:6443/api/v1?x=y",
       "kubernetes:6443:10.0.0.1:6443", "10.0.0.1:6443"},
      {"https://a", "b.c", "https://b.c:443/api/v1?x=y", "b.c:443:a:443", "a"},
      {"https://a:8443/clusters/1", "b", "https://b:8443/clusters/1/api/v1?x=y", "b:8443:a:8443",
       "a:8443"},
      {"https://[::1]:6443", "b", "https://b:6443/api/v1?x=y", "b:6443:[::1]:6443", "[::1]:6443"},
      {"https://[::1]", "b", "https://b:443/api/v1?x=y", "b:443:[::1]:443", "[::1]"},
  };
  for (const Row& row : rows) {
    const RequestUrl url = Url(row.server, row.name);
    EXPECT_EQ(url.url, row.url);
    EXPECT_EQ(url.connect_to, row.connect_to);
    EXPECT_EQ(url.host, row.host);
  }
}

TEST(WithoutUser, KeepsTheAddress) {
  struct {
    const char *url, *shown;
  } rows[] = {
      {"https://10.0.0.1:6443", "https://10.0.0.1:6443"},
      {"https://user:password@host:6443", "https://***@host:6443"},
      {"http://u:p@ss@host", "http://***@host"},
      {"user:password@host", "***@host"},
      {"user:p://word@host", "***@host"},
  };
  for (const auto& row : rows) EXPECT_EQ(WithoutUser(row.url), row.shown);
}

}  // namespace
}  // namespace mandate
