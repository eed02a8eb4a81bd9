// Random faults: what a client reads is in the store.
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "manager/object/list_codec.h"
#include "manager/object/watch_frame.h"
#include "testing/apiserver/admin_request.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/sim_server.h"

namespace mandate::apiserver {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

// A client as simple as can be: lists, watches from there, and begins again when anything is wrong.
// Single-threaded.
class Follower {
 public:
  Follower(SimulatedLoop& loop, SimServer& server, std::function<HttpRequest(std::string)> get)
      : loop_(loop), server_(server), get_(std::move(get)) {}

  void List() {
    stream_.reset();
    ++lists_;
    server_.transport().Call({.deadline = loop_.clock().TimeNow() + absl::Seconds(10), .stop = {}},
                             get_(kMaps), [this](absl::StatusOr<HttpResponse> response) {
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

// For each seed, the events that a client gets through faults equal the store's log.
TEST(SimServerSeedsTest, NothingIsLostOrDoubled) {
  int events = 0;
  int lists = 0;
  const int64_t ran = RunSeeds(200, [&](uint64_t seed) {
    SimulatedLoop loop;
    SimOptions options;
    options.core.seed = seed;
    SimServer server(loop, options);
    Follower follower(loop, server,
                      [](std::string target) { return AdminRequest("GET", std::move(target)); });
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
