#include "manager/debug_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr KindInfo kWidgets = {.group = "example.com",
                               .version = "v1",
                               .kind = "Widget",
                               .plural = "widgets",
                               .scope = Scope::kNamespaced};
const absl::Time kNow = absl::FromUnixSeconds(1'000'000'000);  // 2001-09-09T01:46:40Z

std::vector<ControllerQueue> Queues() {
  using State = QueuedRequest::State;
  ControllerQueue busy{.component = "scope-instance", .controller = "scopeinstance", .workers = 2};
  busy.queue = {.in_progress = 1,
                .ready = 3,
                .delayed = 1,
                .failing = 1,
                .oldest_ready = kNow - absl::Milliseconds(1250),
                .requests = {{.request = {{"shop", "a"}},
                              .state = State::kInProgress,
                              .time = kNow - absl::Seconds(61),
                              .again = true},
                             {.request = {{"", "b"}},
                              .state = State::kReady,
                              .time = kNow - absl::Milliseconds(250),
                              .priority = -100},
                             {.request = {{"shop", "c"}},
                              .state = State::kDelayed,
                              .time = kNow + absl::Seconds(5),
                              .failures = 4}},
                .omitted = true};
  return {busy, {.component = "x", .controller = "idle", .workers = 1, .queue = {}}};
}

TEST(DebugPagesTest, QueuesAreATable) {
  EXPECT_EQ(
      QueuesAsTable(Queues(), kNow),
      R"(COMPONENT       CONTROLLER     WORKERS  IN PROGRESS  READY  DELAYED  FAILING  OLDEST READY
scope-instance  scopeinstance  2        1            3      1        1        1s
x               idle           1        0            0      0        0        -

COMPONENT       CONTROLLER     REQUEST  STATE                     TIME   PRIORITY  FAILURES
scope-instance  scopeinstance  shop/a   in progress, added again  1m1s   0         0
scope-instance  scopeinstance  b        ready                     250ms  -100      0
scope-instance  scopeinstance  shop/c   delayed                   in 5s  0         4
more requests of scopeinstance are not shown; raise ?limit=
)");
}

TEST(DebugPagesTest, QueuesAreJson) {
  EXPECT_EQ(ParseJson(QueuesAsJson(Queues())).value(), ParseJson(
                                                           R"({"queues":[
{"component":"scope-instance","controller":"scopeinstance","workers":2,"inProgress":1,"ready":3,
 "delayed":1,"failing":1,"oldestReady":"2001-09-09T01:46:38.75+00:00","omitted":true,"requests":[
  {"namespace":"shop","name":"a","state":"in progress","since":"2001-09-09T01:45:39+00:00",
   "priority":0,"failures":0,"again":true},
  {"name":"b","state":"ready","since":"2001-09-09T01:46:39.75+00:00","priority":-100,"failures":0},
  {"namespace":"shop","name":"c","state":"delayed","due":"2001-09-09T01:46:45+00:00","priority":0,
   "failures":4}]},
{"component":"x","controller":"idle","workers":1,"inProgress":0,"ready":0,"delayed":0,"failing":0,
 "requests":[]}]})")
                                                           .value());
}

Cache::Watches Watches() {
  Cache::Watches watches{.entries = {}, .scopes = 4, .complete = false};
  watches.entries.push_back({.component = "scope-instance",
                             .spec = {kWidgets, "", ""},
                             .is_sponsor = true,
                             .state = DemandState::kSynced,
                             .since = kNow - absl::Minutes(2),
                             .version = "101",
                             .objects = 7,
                             .bytes = 900});
  watches.entries.push_back({.component = "helm",
                             .spec = {kWidgets, "shop", "", "app=web"},
                             .covered_by = DemandSpec{kWidgets, "", ""},
                             .state = DemandState::kSynced,
                             .since = kNow,
                             .version = "101",
                             .objects = 1,
                             .bytes = 90});
  watches.entries.push_back({.component = "helm",
                             .spec = {kWidgets, "shop", "settings"},
                             .state = DemandState::kForbidden,
                             .since = kNow - absl::Milliseconds(3),
                             .reason = absl::StatusCode::kPermissionDenied,
                             .failed = true});
  watches.entries.back().spec.kind.metadata_only = true;
  return watches;
}

TEST(DebugPagesTest, WatchesAreATable) {
  const std::string table = WatchesAsTable(Watches(), kNow);
  EXPECT_EQ(
      table.substr(0, table.find('\n')),
      "COMPONENT       KIND                            SCOPE                   STATE          "
      "                       SINCE  SERVED BY                  VERSION  OBJECTS  BYTES");
  // One space where the columns are padded.
  std::string squeezed;
  for (const char c : table.substr(table.find('\n') + 1)) {
    if (c != ' ' || !squeezed.ends_with(' ')) squeezed += c;
  }
  EXPECT_EQ(squeezed,
            R"(scope-instance widgets.example.com everywhere Synced 2m its own watch 101 7 900
helm widgets.example.com namespace shop app=web Synced 0 the watch of everywhere 101 1 90
helm widgets.example.com (metadata) shop/settings Forbidden (PERMISSION_DENIED, waits) 3ms another component's watch - 0 0
more of the 4 scopes are not shown; raise ?limit=
)");
}

TEST(DebugPagesTest, WatchesAreJson) {
  EXPECT_EQ(ParseJson(WatchesAsJson(Watches())).value(),
            ParseJson(
                R"({"scopes":4,"omitted":true,"watches":[
{"component":"scope-instance","resource":"widgets.example.com","state":"Synced","sponsor":true,
 "since":"2001-09-09T01:44:40+00:00","version":"101","objects":7,"bytes":900},
{"component":"helm","resource":"widgets.example.com","namespace":"shop","labels":"app=web",
 "state":"Synced","sponsor":false,"coveredBy":{"resource":"widgets.example.com"},
 "since":"2001-09-09T01:46:40+00:00","version":"101","objects":1,"bytes":90},
{"component":"helm","resource":"widgets.example.com","metadataOnly":true,"namespace":"shop",
 "name":"settings","state":"Forbidden","reason":"PERMISSION_DENIED","waits":true,"sponsor":false,
 "since":"2001-09-09T01:46:39.997+00:00","version":"","objects":0,"bytes":0}]})")
                .value());
}

}  // namespace
}  // namespace mandate
