#include "manager/transport/http_transport.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

class HttpTransportTest : public TransportFixture {};

TEST_F(HttpTransportTest, CallsOverHttp2) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    stream->Respond(request.target == "/here" ? 200 : 404,
                    std::string(request.Header("authorization")) + " " +
                        std::string(request.Header("user-agent")));
  });
  StartTransport();
  const auto found = Call(Request("/here", "abc"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->code, 200);
  EXPECT_EQ(found->content_type, "application/json");
  EXPECT_EQ(found->body, "Bearer abc test");
  const auto missing = Call(Request("/nowhere"));
  ASSERT_TRUE(missing.ok()) << missing.status();
  EXPECT_EQ(missing->code, 404);
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportTest, StreamsAsItComes) {
  std::shared_ptr<ServerStream> server_stream;
  Latch opened;
  StartServer([&](std::shared_ptr<ServerStream> stream) {
    stream->Open();
    stream->Send("one");
    server_stream = stream;
    opened.Set();
  });
  StartTransport();
  Watch watch = Open(Request("/watch"));
  opened.Wait();
  EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "one"; }));
  EXPECT_EQ(watch.sink->code(), 200);
  server_stream->Send("two");
  EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "onetwo"; }));
  EXPECT_FALSE(watch.sink->closed().has_value());
  server_stream->End();
  EXPECT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  EXPECT_TRUE(watch.sink->closed()->ok());
  Close(watch);
  EXPECT_EQ(watch.sink->closed_count(), 1);
}

}  // namespace
}  // namespace mandate
