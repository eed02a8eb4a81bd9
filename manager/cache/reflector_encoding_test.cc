// In what a reflector asks, and what it takes: protobuf of built-in kinds, JSON of the others.
#include <gtest/gtest.h>

#include "manager/cache/testing/reflector_fixture.h"
#include "manager/object/envelope.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

constexpr char kProtobufList[] = "application/vnd.kubernetes.protobuf,application/json";
constexpr char kProtobufWatch[] =
    "application/vnd.kubernetes.protobuf;stream=watch,application/json";

// A message with the metadata that every object has.
std::string Message(std::string_view ns, std::string_view name, std::string_view version) {
  std::string metadata;
  AppendWireBytes(1, name, metadata);
  AppendWireBytes(3, ns, metadata);
  AppendWireBytes(6, version, metadata);
  std::string message;
  AppendWireBytes(1, metadata, message);
  return message;
}

std::string Frame(std::string_view type, std::string_view message) {
  std::string object;
  AppendWireBytes(
      1, WriteEnvelope({.api_version = "example.com/v1", .kind = "Widget", .raw = message}),
      object);
  std::string event;
  AppendWireBytes(1, type, event);
  AppendWireBytes(2, object, event);
  std::string frame(4, '\0');
  for (int i = 0; i < 4; ++i) {
    frame[static_cast<size_t>(i)] = static_cast<char>(event.size() >> (24 - 8 * i));
  }
  return frame + event;
}

class ReflectorEncodingTest : public ReflectorFixture {
 protected:
  ReflectorEncodingTest() { spec_.kind.encoding = Encoding::kProtobuf; }

  // Answers the next list with this, and notes what it accepts.
  void ServeLists(std::function<HttpResponse(const RestRequest&)> serve) {
    client_.Handle([serve](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      return serve(request);
    });
  }
};

TEST_F(ReflectorEncodingTest, BuiltInsAreProtobuf) {
  Start();
  EXPECT_EQ(LastWatch().request().accept, kProtobufWatch);
  LastWatch().Open("application/vnd.kubernetes.protobuf;stream=watch");
  std::string bookmark_metadata;
  AppendWireBytes(6, "7", bookmark_metadata);
  std::string end;
  AppendWireBytes(1, "k8s.io/initial-events-end", end);
  AppendWireBytes(2, "true", end);
  AppendWireBytes(12, end, bookmark_metadata);
  std::string bookmark;
  AppendWireBytes(1, bookmark_metadata, bookmark);
  LastWatch().Send(Frame("ADDED", Message("a", "x", "5")) + Frame("BOOKMARK", bookmark) +
                   Frame("MODIFIED", Message("a", "x", "8")));
  loop_.RunReady();
  EXPECT_EQ(TakeEvents(), "+a/x@5 ~a/x@8");
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(store_.Get("a", "x")->encoding(), Encoding::kProtobuf);
}

TEST_F(ReflectorEncodingTest, ListsOfBuiltInsAreProtobuf) {
  options_.watch_list = false;
  ServeLists([](const RestRequest& request) {
    EXPECT_EQ(request.accept, kProtobufList);
    std::string metadata;
    AppendWireBytes(2, "10", metadata);
    std::string list;
    AppendWireBytes(1, metadata, list);
    AppendWireBytes(2, Message("a", "x", "5"), list);
    HttpResponse response = FakeRestClient::Json(
        200, WriteEnvelope({.api_version = "example.com/v1", .kind = "WidgetList", .raw = list}));
    response.content_type = "application/vnd.kubernetes.protobuf";
    return response;
  });
  Start();
  EXPECT_EQ(TakeEvents(), "+a/x@5");
  EXPECT_EQ(LastQuery("resourceVersion"), "10");
}

TEST_F(ReflectorEncodingTest, TheServerMayAnswerInJson) {
  Start();
  LastWatch().Open();
  LastWatch().Send(EventJson("ADDED", WidgetJson("a/x", 5)) + BookmarkJson("6", true));
  loop_.RunReady();
  EXPECT_EQ(TakeEvents(), "+a/x@5");
}

TEST_F(ReflectorEncodingTest, OrBeAskedInJsonAlone) {
  options_.protobuf = false;
  Start();
  EXPECT_EQ(LastWatch().request().accept, "application/json");
}

TEST_F(ReflectorEncodingTest, NotAcceptableIsAskedAgainInJsonAtOnce) {
  options_.watch_list = false;
  int refused = 0;
  ServeLists([&](const RestRequest& request) {
    if (request.accept != "application/json") {
      ++refused;
      return FakeRestClient::Json(406, StatusJson(406, "NotAcceptable"));
    }
    return FakeRestClient::Json(200, ListJson("10", {WidgetJson("a/x", 5)}));
  });
  const absl::Time start = loop_.clock().TimeNow();
  Start();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(loop_.clock().TimeNow(), start);
  EXPECT_EQ(TakeEvents(), "+a/x@5");
  EXPECT_EQ(LastWatch().request().accept, "application/json");
}

TEST_F(ReflectorEncodingTest, NotAcceptableInJsonToo) {
  options_.watch_list = false;
  ServeLists([](const RestRequest&) {
    return FakeRestClient::Json(406, StatusJson(406, "NotAcceptable"));
  });
  Start();
  EXPECT_EQ(client_.requests().size(), 2u);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
}

TEST_F(ReflectorEncodingTest, AListTooLargeForOneResponseComesInPages) {
  options_.watch_list = false;
  std::vector<std::string> asked;
  client_.Handle([&](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
    asked.push_back(request.target.substr(request.target.find('?') + 1));
    if (QueryOf(request.target, "resourceVersion") == "0") {
      return absl::ResourceExhaustedError("more than is taken");
    }
    if (QueryOf(request.target, "continue").empty()) {
      return FakeRestClient::Json(200, ListJson("10", {WidgetJson("a/x", 5)}, "next"));
    }
    return FakeRestClient::Json(200, ListJson("10", {WidgetJson("a/y", 6)}));
  });
  Start();
  EXPECT_EQ(TakeEvents(), "+a/x@5 +a/y@6");
  EXPECT_EQ(asked, (std::vector<std::string>{"limit=500&resourceVersion=0", "limit=500",
                                             "limit=500&continue=next"}));
}

TEST_F(ReflectorEncodingTest, APageTooLargeWaits) {
  options_.watch_list = false;
  client_.Handle([](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    return absl::ResourceExhaustedError("more than is taken");
  });
  Start();
  EXPECT_EQ(client_.requests().size(), 2u);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
}

// In each turn of the loop comes more than some frames.
TEST_F(ReflectorEncodingTest, AStormStaysWithinItsQueue) {
  options_.max_frame_bytes = 1000;
  options_.max_queue_bytes = size_t{512} << 10;
  FakeWatch& watch = StartSynced(10);
  std::string chunk;
  for (int i = 0; i < 1000; ++i) chunk += EventJson("MODIFIED", WidgetJson("a/x", 11 + i));
  ASSERT_GT(chunk.size(), size_t{64} << 10);
  ASSERT_LT(chunk.size(), size_t{256} << 10);
  int left = 50;
  std::function<void()> send = [&] {
    watch.Send(chunk);
    if (--left > 0) loop_.Post([&] { send(); });
  };
  send();
  loop_.RunReady();
  EXPECT_EQ(left, 0);
  EXPECT_TRUE(watch.live());
  EXPECT_EQ(store_.resource_version(), "1010");
}

}  // namespace
}  // namespace mandate
