#include "testing/apiserver/sim_server.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "manager/object/list_codec.h"
#include "manager/object/watch_frame.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

SimOptions WithSeed(uint64_t seed) {
  SimOptions options;
  options.core.seed = seed;
  return options;
}

CallContext Until(absl::Time deadline) {
  CallContext context;
  context.deadline = deadline;
  return context;
}

class SimServerTest : public ::testing::Test {
 protected:
  explicit SimServerTest(uint64_t seed = 1) : server_(loop_, WithSeed(seed)) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://double";
    endpoint->ca_pem = "none";
    endpoint_ = std::move(endpoint);
  }

  HttpRequest Request(std::string method, std::string target, std::string body = "") const {
    HttpRequest request(endpoint_, mandate::BearerToken{std::make_shared<Secret>(kAdminToken)},
                        std::move(method), std::move(target));
    request.body = std::move(body);
    if (!request.body.empty()) request.content_type = "application/json";
    return request;
  }

  absl::StatusOr<HttpResponse> Call(HttpRequest request,
                                    absl::Duration within = absl::Seconds(30)) {
    std::optional<absl::StatusOr<HttpResponse>> result;
    server_.transport().Call(Until(loop_.clock().TimeNow() + within), std::move(request),
                             [&](absl::StatusOr<HttpResponse> got) { result = std::move(got); });
    loop_.RunUntil([&] { return result.has_value(); });
    return *result;
  }

  int Create(const std::string& name) {
    const auto response = Call(
        Request("POST", kMaps,
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})"));
    return response.ok() ? response->code : 0;
  }

  SimulatedLoop loop_;
  SimServer server_;
  std::shared_ptr<const Endpoint> endpoint_;
};

// What a stream brought, cut into frames.
class Frames : public StreamSink {
 public:
  Flow OnOpen(const HttpResponse& head) override {
    code = head.code;
    return Flow::kContinue;
  }
  Flow OnData(std::string_view bytes) override {
    text += bytes;
    splitter_.Feed(bytes);
    for (;;) {
      const auto frame = splitter_.Next();
      if (!frame.ok() || !frame->has_value()) return Flow::kContinue;
      if (auto event = ParseWatchEvent(**frame, Encoding::kJson); event.ok()) {
        events.push_back(*std::move(event));
      } else {
        ++garbage;
      }
    }
  }
  void OnClosed(absl::Status status) override { closed = std::move(status); }

  int code = 0;
  std::string text;
  std::vector<WatchEvent> events;
  size_t garbage = 0;  // frames that are no event
  std::optional<absl::Status> closed;

 private:
  FrameSplitter splitter_{Encoding::kJson};
};

TEST_F(SimServerTest, AFaultSparesTheTokenThatItExcepts) {
  server_.core().faults().Add({.except_bearer = kAdminToken, .fault = {.drop = true}});
  EXPECT_EQ(Create("a"), 201);
  HttpRequest other(endpoint_, mandate::BearerToken{std::make_shared<Secret>("another")}, "GET",
                    kMaps);
  EXPECT_FALSE(Call(std::move(other)).ok());
}

TEST_F(SimServerTest, ServesAndCounts) {
  EXPECT_EQ(Create("a"), 201);
  EXPECT_EQ(Create("a"), 409);
  const auto got = Call(Request("GET", std::string(kMaps) + "/a"));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->body, HasSubstr(R"("name":"a")"));
  EXPECT_EQ(server_.core().stats().by_verb["create"], 2u);
  EXPECT_EQ(server_.core().stats().requests, 3u);
  EXPECT_EQ(server_.core().stats().open, 0u);
}

TEST_F(SimServerTest, StreamsUntilTheClientLeaves) {
  auto sink = std::make_shared<Frames>();
  auto stream = server_.transport().Open(Request("GET", std::string(kMaps) + "?watch=1"), sink);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(server_.core().stats().watches, 1u);
  Create("a");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(sink->events.size(), 1u);
  EXPECT_EQ(sink->events[0].type, WatchEventType::kAdded);
  stream.reset();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(server_.core().stats().watches, 0u);
}

TEST_F(SimServerTest, SendsBookmarksInVirtualTime) {
  auto sink = std::make_shared<Frames>();
  const auto stream = server_.transport().Open(
      Request("GET", std::string(kMaps) + "?watch=1&allowWatchBookmarks=1&timeoutSeconds=200"),
      sink);
  loop_.RunFor(absl::Minutes(4));
  // Where the state ends, each minute, and two seconds before the end.
  EXPECT_EQ(sink->events.size(), 5u);
  EXPECT_TRUE(sink->closed.has_value() && sink->closed->ok());
}

TEST_F(SimServerTest, RefusesByScript) {
  server_.core().faults().Add(
      {.verb = "create", .skip = 1, .times = 1, .fault = {.refuse = TooManyRequests("later", 7)}});
  EXPECT_EQ(Create("a"), 201);
  const auto refused = Call(Request("POST", kMaps, R"({"metadata":{"name":"b"}})"));
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->code, 429);
  EXPECT_EQ(refused->retry_after, absl::Seconds(7));
  EXPECT_EQ(Create("b"), 201);
  EXPECT_EQ(server_.core().faults().struck(), 1u);
}

TEST_F(SimServerTest, StrikesByAParameterOfTheQuery) {
  server_.core().faults().Add(
      {.verb = "list", .parameter = "continue", .fault = {.refuse = ExpiredError("too old")}});
  for (const auto& [query, code] :
       {std::pair("", 200), {"?limit=5", 200}, {"?limit=5&continue=x", 410}, {"?continue", 410}}) {
    const auto answer = Call(Request("GET", StrCat(kMaps, query)));
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->code, code) << query;
  }
}

TEST_F(SimServerTest, LosesAnswersAndConnections) {
  server_.core().faults().Add({.verb = "create", .times = 1, .fault = {.lose_answer = true}});
  EXPECT_EQ(Create("a"), 0);
  EXPECT_EQ(Create("a"), 409);  // it was done all the same
  server_.core().faults().Add({.verb = "create", .times = 1, .fault = {.drop = true}});
  EXPECT_EQ(Create("b"), 0);
  EXPECT_EQ(Create("b"), 201);
  server_.core().faults().Add({.verb = "get", .times = 1, .fault = {.ignore = true}});
  const auto none = Call(Request("GET", std::string(kMaps) + "/a"));
  EXPECT_TRUE(absl::IsDeadlineExceeded(none.status()));
}

TEST_F(SimServerTest, HarmsStreams) {
  const struct {
    Fault fault;
    size_t events;
    std::optional<absl::StatusCode> closed;
  } kCases[] = {
      {{.end_after = 2}, 2, absl::StatusCode::kOk},
      {{.end_after = 2, .error_event = ExpiredError("too old")}, 3, absl::StatusCode::kOk},
      {{.end_after = 2, .cut = true}, 2, absl::StatusCode::kUnavailable},
      {{.stall_after = 1}, 1, std::nullopt},
      {{.frame_delay = absl::Seconds(10)}, 3, std::nullopt},
  };
  for (int i = 0; i < 4; ++i) Create(StrCat("m", i));
  for (const auto& c : kCases) {
    server_.core().faults().Add({.verb = "watch", .times = 1, .fault = c.fault});
    auto sink = std::make_shared<Frames>();
    const auto stream =
        server_.transport().Open(Request("GET", std::string(kMaps) + "?watch=1"), sink);
    loop_.RunFor(absl::Seconds(25));
    EXPECT_EQ(sink->events.size(), c.events);
    EXPECT_EQ(sink->closed.has_value(), c.closed.has_value());
    if (c.closed && sink->closed) {
      EXPECT_EQ(sink->closed->code(), *c.closed);
    }
  }
}

TEST_F(SimServerTest, SendsFramesThatAreNone) {
  for (int i = 0; i < 4; ++i) Create(StrCat("m", i));
  server_.core().faults().Add({.verb = "watch", .fault = {.garbage = 1}});
  auto sink = std::make_shared<Frames>();
  const auto stream =
      server_.transport().Open(Request("GET", std::string(kMaps) + "?watch=1"), sink);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(sink->events.size(), 4u);
  EXPECT_EQ(sink->garbage, 4u);
}

TEST_F(SimServerTest, DropsAndDelaysBookmarks) {
  const auto watch = [&](Fault fault) {
    server_.core().faults().Add({.verb = "watch", .times = 1, .fault = fault});
    auto sink = std::make_shared<Frames>();
    const auto stream = server_.transport().Open(
        Request("GET", StrCat(kMaps, "?watch=1&allowWatchBookmarks=1&timeoutSeconds=150",
                              "&resourceVersion=", server_.core().store().revision())),
        sink);
    loop_.RunFor(absl::Seconds(70));
    Create(StrCat("x", server_.core().store().revision()));
    loop_.RunFor(absl::Seconds(10));
    return sink;
  };
  EXPECT_EQ(watch({.drop_bookmarks = 1})->events.back().type, WatchEventType::kAdded);
  const auto late = watch({.late_bookmarks = true});
  // Behind what follows it, and so from before it.
  ASSERT_GE(late->events.size(), 2u);
  EXPECT_EQ(late->events.back().type, WatchEventType::kBookmark);
  EXPECT_LT(std::stoll(late->events.back().resource_version),
            std::stoll(late->events[late->events.size() - 2].resource_version));
}

// A client as simple as can be: lists, watches from there, and begins again when anything is amiss.
class Follower {
 public:
  Follower(SimulatedLoop& loop, SimServer& server, std::function<HttpRequest(std::string)> get)
      : loop_(loop), server_(server), get_(std::move(get)) {}

  void List() {
    stream_.reset();
    ++lists_;
    server_.transport().Call(Until(loop_.clock().TimeNow() + absl::Seconds(10)), get_(kMaps),
                             [this](absl::StatusOr<HttpResponse> response) {
                               auto list = response.ok() && response->code == 200
                                               ? ParseList(response->body, Encoding::kJson)
                                               : absl::UnavailableError("no list");
                               if (!list.ok()) return Again();
                               known_.clear();
                               for (const auto& item : list->items) {
                                 known_[std::string(item->name())] =
                                     std::string(item->resource_version());
                               }
                               revision_ = list->resource_version;
                               Watch();
                             });
  }

  const std::map<std::string, std::string>& known() const { return known_; }
  int events() const { return events_; }
  int lists() const { return lists_; }
  std::string complaint() const { return complaint_; }

 private:
  class Sink : public StreamSink {
   public:
    explicit Sink(Follower& owner) : owner_(owner) {}
    Flow OnOpen(const HttpResponse& head) override {
      ok_ = head.code == 200;
      return Flow::kContinue;
    }
    Flow OnData(std::string_view bytes) override {
      if (!ok_) return Flow::kContinue;
      splitter_.Feed(bytes);
      for (;;) {
        const auto frame = splitter_.Next();
        if (!frame.ok() || !frame->has_value()) return Flow::kContinue;
        const auto event = ParseWatchEvent(**frame, Encoding::kJson);
        if (!event.ok() || event->type == WatchEventType::kError) {
          ok_ = false;
          return Flow::kContinue;
        }
        owner_.OnEvent(*event);
      }
    }
    void OnClosed(absl::Status status) override {
      if (status.ok() && ok_) {
        owner_.WatchLater();
      } else if (!absl::IsCancelled(status)) {
        owner_.Again();
      }
    }

   private:
    Follower& owner_;
    FrameSplitter splitter_{Encoding::kJson};
    bool ok_ = false;
  };

  void OnEvent(const WatchEvent& event) {
    // Late bookmarks go back; nothing else may.
    if (event.type != WatchEventType::kBookmark) {
      if (std::stoll(event.resource_version) <= std::stoll(last_)) {
        complaint_ = StrCat("doubled or out of order: ", event.resource_version, " after ", last_);
      }
      last_ = event.resource_version;
      revision_ = last_;
      ++events_;
      const std::string name(event.object->name());
      if (event.type == WatchEventType::kDeleted) {
        if (known_.erase(name) == 0) complaint_ = "deleted what was not there: " + name;
      } else if ((event.type == WatchEventType::kAdded) == known_.contains(name)) {
        complaint_ = "added twice, or modified before: " + name;
      } else {
        known_[name] = event.resource_version;
      }
    }
  }
  void Watch() {
    last_ = revision_;
    stream_ = server_.transport().Open(
        get_(StrCat(
            kMaps, "?watch=1&allowWatchBookmarks=1&timeoutSeconds=40&resourceVersion=", revision_)),
        std::make_shared<Sink>(*this));
  }
  void WatchLater() {
    timer_ = loop_.RunAt(loop_.clock().TimeNow() + absl::Milliseconds(10), [this] { Watch(); });
  }
  void Again() {
    timer_ = loop_.RunAt(loop_.clock().TimeNow() + absl::Milliseconds(500), [this] { List(); });
  }

  SimulatedLoop& loop_;
  SimServer& server_;
  const std::function<HttpRequest(std::string)> get_;
  std::map<std::string, std::string> known_;
  std::string revision_;
  std::string last_ = "0";
  std::string complaint_;
  int events_ = 0;
  int lists_ = 0;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Loop::Timer> timer_;
};

// What a client sees through faults is what the store's own log says, whatever the seed.
TEST(SimServerSeedsTest, NothingIsLostOrDoubled) {
  int events = 0;
  int lists = 0;
  const int64_t ran = RunSeeds(200, [&](uint64_t seed) {
    SimulatedLoop loop;
    SimServer server(loop, WithSeed(seed));
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://double";
    endpoint->ca_pem = "none";
    Follower follower(loop, server, [&](std::string target) {
      return HttpRequest(endpoint, mandate::BearerToken{std::make_shared<Secret>(kAdminToken)},
                         "GET", std::move(target));
    });
    std::mt19937_64 random(seed);
    Faults& faults = server.core().faults();
    faults.Add(
        {.probability = 0.1, .fault = {.refuse = ApiErrorOf(503, "ServiceUnavailable", "")}});
    faults.Add({.verb = "list", .probability = 0.1, .fault = {.lose_answer = true}});
    faults.Add({.verb = "watch", .probability = 0.2, .fault = {.end_after = random() % 5}});
    faults.Add(
        {.verb = "watch", .probability = 0.2, .fault = {.end_after = random() % 5, .cut = true}});
    faults.Add({.verb = "watch",
                .probability = 0.1,
                .fault = {.end_after = 1, .error_event = ExpiredError("too old")}});
    faults.Add({.verb = "watch",
                .probability = 0.2,
                .fault = {.frame_delay = absl::Seconds(1), .late_bookmarks = true}});
    follower.List();
    const GroupResource maps{"", "configmaps"};
    for (int step = 0; step < 60; ++step) {
      const std::string name = StrCat("m", random() % 8);
      if (random() % 3 == 0) {
        server.core().store().Delete(maps, "default", name);
      } else {
        Json::Value object(Json::objectValue);
        object["apiVersion"] = "v1";
        object["kind"] = "ConfigMap";
        object["metadata"]["namespace"] = "default";
        object["metadata"]["name"] = name;
        server.core().store().Put(maps, std::move(object));
      }
      if (random() % 20 == 0) server.core().store().Compact(server.core().store().revision());
      loop.RunFor(absl::Milliseconds(random() % 2000));
    }
    faults.Clear();
    loop.RunFor(absl::Minutes(5));
    std::map<std::string, std::string> expected;
    for (const auto& object : server.core().store().List(maps)) {
      expected[object->name] = std::to_string(object->revision);
    }
    ASSERT_EQ(follower.known(), expected);
    ASSERT_EQ(follower.complaint(), "");
    events += follower.events();
    lists += follower.lists();
  });
  // The runs did something: events came, and faults made the client begin again.
  EXPECT_GT(events, ran);
  if (ran >= 100) {
    EXPECT_GT(events, ran * 10);
    EXPECT_GT(lists, ran * 2);
  }
}

}  // namespace
}  // namespace mandate::apiserver
