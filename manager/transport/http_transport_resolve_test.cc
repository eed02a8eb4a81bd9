// Names that take long to look up.
#include <dlfcn.h>
#include <netdb.h>

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/executor.h"
#include "manager/core/strings.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace {

// If set, a lookup of slow.test waits for the other one, and fails.
mandate::Latch looked_up, answered;

}  // namespace

// libcurl's threads call this one instead of the C library's.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node == nullptr || std::string(node) != "slow.test")
    return real(node, service, hints, result);
  looked_up.Set();
  answered.Wait();
  return EAI_NONAME;
}

namespace mandate {
namespace {

class HttpTransportResolveTest : public TransportFixture {
 protected:
  ~HttpTransportResolveTest() override { answered.Set(); }
};

TEST_F(HttpTransportResolveTest, CancellingALookupDoesNotBlockTheLoop) {
  Start();
  const auto here = endpoint_;
  ChangeEndpoint([&](Endpoint& endpoint) { endpoint.server = "https://slow.test:6443"; });
  const auto slow = endpoint_;
  const auto call = StartCall(Request("/"), Within(absl::Milliseconds(100)));
  Watch watch = Open(Request("/watch"));
  looked_up.Wait();
  watch.stream.reset();
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kDeadlineExceeded);

  endpoint_ = here;
  const auto other = StartCall(Request("/"));
  EXPECT_TRUE(Eventually([&] { return other->done.IsSet(); }));
  EXPECT_TRUE(Eventually([this] { return Stats().connections == 1; }));
  // The next lookup of that name does not wait for the last one, which still has no answer.
  endpoint_ = slow;
  const auto again = Call(Request("/"), Within(absl::Milliseconds(100)));
  EXPECT_EQ(again.status().code(), absl::StatusCode::kDeadlineExceeded);
  OnLoop([this] { transport_.reset(); });
  answered.Set();
}

}  // namespace
}  // namespace mandate
