#include "manager/client/live_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using ::testing::ElementsAre;

constexpr std::string_view kWatch[] = {"watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kMaps[] = {"configmaps"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kWatch, .api_groups = kCore, .resources = kMaps}}};
constexpr rbac::Mandate kScope = {.component = "scope", .rules = kRules};

std::string Event(std::string_view type, std::string_view name, int version) {
  return StrCat(R"({"type":")", type,
                R"(","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{)",
                name.empty() ? "" : StrCat(R"("namespace":"shop","name":")", name, R"(",)"),
                R"("resourceVersion":")", version, "\"}}}\n");
}

class LiveWatchTest : public testing::Test {
 protected:
  LiveWatchTest() {
    rest_.OnWatch([this](const std::shared_ptr<FakeWatch>& watch) { serve_(*watch); });
  }
  absl::Status Watch(const LiveWatchOptions& options = {}, const CallContext& context = {}) {
    return client_.Watch<ConfigMap>(context, options, [this](const LiveEvent<ConfigMap>& event) {
      constexpr const char* kTypes[] = {"added", "modified", "deleted", "bookmark"};
      seen_.push_back(StrCat(kTypes[static_cast<int>(event.type)], " ",
                             event.object.metadata().name(), "@", event.resource_version));
      return on_event_ ? on_event_() : absl::OkStatus();
    });
  }

  SimulatedLoop loop_;
  FakeRestClient rest_{loop_, "scope"};
  Client<kScope> client_ = *Client<kScope>::Create(rest_);
  std::function<void(FakeWatch&)> serve_;
  std::vector<std::string> seen_;
  std::function<absl::Status()> on_event_;
};

TEST_F(LiveWatchTest, ReadsEventsUntilTheServerEndsIt) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    const std::string events =
        StrCat(Event("ADDED", "a", 8), Event("MODIFIED", "a", 9), Event("FUTURE", "a", 9),
               Event("DELETED", "a", 10), Event("BOOKMARK", "", 12));
    for (size_t i = 0; i < events.size(); i += 50) watch.Send(events.substr(i, 50));
    watch.Close();
  };
  EXPECT_EQ(Watch({.ns = "shop", .label_selector = "a=b", .resource_version = "7"}),
            absl::OkStatus());
  EXPECT_THAT(seen_, ElementsAre("added a@8", "modified a@9", "deleted a@10", "bookmark @12"));
  EXPECT_EQ(
      rest_.watches()[0]->request().target,
      "/api/v1/namespaces/shop/configmaps?watch=true&allowWatchBookmarks=true&timeoutSeconds=540"
      "&labelSelector=a%3Db&resourceVersion=7");
}

TEST_F(LiveWatchTest, AnErrorEventIsTheResult) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send(Event("ADDED", "a", 8));
    watch.Send(
        R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}})"
        "\n");
  };
  const absl::Status ended = Watch();
  EXPECT_TRUE(IsGone(ended)) << ended;
  EXPECT_THAT(seen_, ElementsAre("added a@8"));
  loop_.RunReady();
  EXPECT_TRUE(rest_.watches()[0]->cancelled());
}

TEST_F(LiveWatchTest, OtherEndsAreErrorsToo) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Close(absl::UnavailableError("reset"));
  };
  EXPECT_EQ(Watch().code(), absl::StatusCode::kUnavailable);
  serve_ = [](FakeWatch& watch) {
    watch.Refuse(403, R"({"kind":"Status","reason":"Forbidden","code":403})");
  };
  EXPECT_TRUE(IsForbidden(Watch()));
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send("{}\n");
  };
  EXPECT_EQ(Watch().code(), absl::StatusCode::kInvalidArgument);
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send(Event("ADDED", "a", 8));
  };
  EXPECT_EQ(Watch({}, {.deadline = loop_.clock().TimeNow() + absl::Minutes(1)}).code(),
            absl::StatusCode::kDeadlineExceeded);
  on_event_ = [] { return absl::AbortedError("enough"); };
  EXPECT_EQ(Watch(), absl::AbortedError("enough"));
}

}  // namespace
}  // namespace mandate
