// The encodings that a reflector requests and accepts: protobuf for built-in kinds, else JSON.
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

  static HttpResponse Protobuf(std::string list) {
    HttpResponse response = FakeRestClient::Json(200, std::move(list));
    response.content_type = "application/vnd.kubernetes.protobuf";
    return response;
  }
};

// A list of a/x at version 10.
std::string List() {
  std::string metadata;
  AppendWireBytes(2, "10", metadata);
  std::string list;
  AppendWireBytes(1, metadata, list);
  AppendWireBytes(2, Message("a", "x", "5"), list);
  return WriteEnvelope({.api_version = "example.com/v1", .kind = "WidgetList", .raw = list});
}

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
  Send(Frame("ADDED", Message("a", "x", "5")) + Frame("BOOKMARK", bookmark) +
       Frame("MODIFIED", Message("a", "x", "8")));
  EXPECT_EQ(TakeEvents(), "+a/x@5 ~a/x@8");
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(store_.Get("a", "x")->encoding(), Encoding::kProtobuf);
}

TEST_F(ReflectorEncodingTest, ListsOfBuiltInsAreProtobuf) {
  options_.watch_list = false;
  client_.Handle([](const RestRequest& request) {
    EXPECT_EQ(request.accept, kProtobufList);
    return Protobuf(List());
  });
  Start();
  EXPECT_EQ(TakeEvents(), "+a/x@5");
  EXPECT_EQ(LastQuery("resourceVersion"), "10");
}

TEST_F(ReflectorEncodingTest, AcceptsAnAnswerInJson) {
  StartAndOpen();
  Send(EventJson("ADDED", WidgetJson("a/x", 5)) + BookmarkJson("6", true));
  EXPECT_EQ(TakeEvents(), "+a/x@5");
}

TEST_F(ReflectorEncodingTest, RequestsJsonWhenProtobufIsOff) {
  options_.protobuf = false;
  Start();
  EXPECT_EQ(LastWatch().request().accept, "application/json");
}

TEST_F(ReflectorEncodingTest, RepeatsARequestInJsonAfter406) {
  options_.watch_list = false;
  int refused = 0;
  client_.Handle([&](const RestRequest& request) {
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

TEST_F(ReflectorEncodingTest, WaitsAfter406InJsonToo) {
  options_.watch_list = false;
  client_.Handle([](const RestRequest&) {
    return FakeRestClient::Json(406, StatusJson(406, "NotAcceptable"));
  });
  Start();
  EXPECT_EQ(client_.requests().size(), 2u);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
}

// The objects that a truncated list lacks would count as deleted.
TEST_F(ReflectorEncodingTest, ATruncatedListIsAnError) {
  options_.watch_list = false;
  const std::string protobuf = List();
  const std::string json = ListJson("10", {WidgetJson("a/x", 5)});
  const struct {
    const char* content_type;
    std::string_view body;
    size_t whole;  // the envelope ends with four bytes that say nothing
  } kCases[] = {{"application/json", json, json.size()},
                {"application/vnd.kubernetes.protobuf", protobuf, protobuf.size() - 4}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.content_type);
    const auto answer = [&](size_t size) {
      lists_.push_back(FakeRestClient::Json(200, std::string(c.body.substr(0, size))));
      lists_.back().content_type = c.content_type;
    };
    answer(c.whole);
    Start();
    EXPECT_EQ(TakeEvents(), "+a/x@5");
    LastWatch().Open();
    LastWatch().Send(ErrorJson(410, "Expired"));
    for (size_t size = 0; size < c.whole; ++size) answer(size);
    ASSERT_TRUE(loop_.RunUntil([&] { return lists_.empty(); }, absl::Hours(9)));
    loop_.RunReady();
    EXPECT_EQ(TakeEvents(), "");
    EXPECT_EQ(state(), DemandState::kStale);
    EXPECT_EQ(Text(store_.List()), "a/x@5");
    Reset();
  }
}

TEST_F(ReflectorEncodingTest, AListBeyondABoundWaits) {
  options_.watch_list = false;
  const auto overflows = [&] { return WatchMetrics(metrics_, spec_, "reader").overflows.Value(); };
  const std::string first = ListJson("10", {WidgetJson("a/x", 5)}, "next");
  const std::string second = ListJson("10", {WidgetJson("a/y", 6)});
  const size_t both = WidgetJson("a/x", 5).size() + second.size();  // what is kept, what arrives
  const struct {
    size_t max_item;
    size_t max_list;
    size_t requests;
    DemandState state;
  } kCases[] = {
      {1000, both, 3, DemandState::kPending},          // and the watch
      {1000, first.size(), 2, DemandState::kPending},  // the first page fits
      {1000, first.size() / 3, 1, DemandState::kPending},
      {20, 100'000, 1, DemandState::kPending},
  };
  double met = 0;
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.max_item + c.max_list);
    options_.max_item_bytes = c.max_item;
    options_.max_bytes = c.max_list;
    AddList(200, first);
    AddList(200, second);
    Start();
    EXPECT_EQ(client_.requests().size(), c.requests);
    if (c.requests < 3) {
      EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_EQ(overflows(), ++met);
      EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
    }
    Reset();
    loop_.RunReady();
  }
}

// Each turn of the loop brings more bytes than the minimum that a turn reads.
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
