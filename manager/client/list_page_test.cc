// On the double, whose answers are rows of testing/conformance (list.yaml).
#include "manager/client/list_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/testing/double_fixture.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kScope = {.component = "scope", .rules = kRules};

class ForEachTest : public DoubleFixture {
 protected:
  ForEachTest() {
    Connect(rest_);
    for (const char* name : {"a", "b", "c", "d", "e"}) Store(name);
    before_ = [this](const RestRequest& request) {
      if (request.target.find("continue=") == std::string::npos) return;
      if (expiries_-- > 0) server_.core().store().Compact(server_.core().store().revision());
    };
  }

  void Store(std::string_view name) {
    const absl::Status stored = server_.core().Load(StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")", name,
        R"(","labels":{"is":")", name, "\"}}}"));
    ASSERT_TRUE(stored.ok()) << stored;
  }
  absl::StatusOr<std::string> ForEach(ForEachOptions options) {
    options.ns = "default";
    return client_.ForEach<ConfigMap>(context_, options, [this](ConfigMap map) {
      names_.push_back(map.metadata().name());
      return on_object_ ? on_object_() : absl::OkStatus();
    });
  }

  FakeRestClient rest_{loop_, "scope"};
  Client<kScope> client_ = *Client<kScope>::Create(rest_);
  // How many of the next pages find that their state was dropped.
  int expiries_ = 0;
  std::vector<std::string> names_;
  std::function<absl::Status()> on_object_;
};

TEST_F(ForEachTest, GetsOneObjectAfterTheOther) {
  const std::string version = Must(ForEach({.page_size = 2}));
  EXPECT_THAT(names_, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(rest_.requests().size(), 3u);
  EXPECT_EQ(version, Must(client_.List<ConfigMap>(context_, {.ns = "default"})).resource_version);
}

TEST_F(ForEachTest, PagesShowTheStateAtTheFirstOne) {
  on_object_ = [this] {
    if (names_.size() == 1) {
      Store("cc");
      EXPECT_TRUE(client_.Delete<ConfigMap>(context_, {"default", "d"}).ok());
    }
    return absl::OkStatus();
  };
  ASSERT_TRUE(ForEach({.page_size = 2}).ok());
  EXPECT_THAT(names_, ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(ForEachTest, Selects) {
  ASSERT_TRUE(ForEach({.label_selector = "is in (b,d)", .page_size = 1}).ok());
  EXPECT_THAT(names_, ElementsAre("b", "d"));
  names_.clear();
  ASSERT_TRUE(ForEach({.field_selector = "metadata.name=c"}).ok());
  EXPECT_THAT(names_, ElementsAre("c"));
}

TEST_F(ForEachTest, AnErrorOfTheFunctionEndsIt) {
  on_object_ = [this] {
    return names_.size() == 3 ? absl::AbortedError("enough") : absl::OkStatus();
  };
  EXPECT_EQ(ForEach({.page_size = 2}).status(), absl::AbortedError("enough"));
  EXPECT_THAT(names_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(rest_.requests().size(), 2u);
}

TEST_F(ForEachTest, ExpiredPagesAreAnError) {
  expiries_ = 1;
  Store("f");
  on_object_ = [this] {
    if (names_.size() == 1) Store("g");  // a new revision
    return absl::OkStatus();
  };
  const auto done = ForEach({.page_size = 2});
  EXPECT_TRUE(IsGone(done.status())) << done.status();
  EXPECT_THAT(names_, ElementsAre("a", "b"));
}

TEST_F(ForEachTest, BeginsAgainIfThatIsAskedFor) {
  expiries_ = 1;
  int restarts = 0;
  on_object_ = [this] {
    if (names_.size() == 1) Store("bb");
    return absl::OkStatus();
  };
  ASSERT_TRUE(ForEach({.page_size = 2,
                       .on_restart =
                           [&] {
                             ++restarts;
                             EXPECT_THAT(names_, ElementsAre("a", "b"));
                             names_ = {"again"};
                           }})
                  .ok());
  EXPECT_EQ(restarts, 1);
  EXPECT_THAT(names_, ElementsAre("again", "a", "b", "bb", "c", "d", "e"))
      << "the objects as they are now";
}

TEST_F(ForEachTest, RestartsAreBounded) {
  expiries_ = 100;
  int restarts = 0;
  on_object_ = [this] {
    Store(StrCat("z", names_.size()));
    return absl::OkStatus();
  };
  const auto done = ForEach({.page_size = 2, .on_restart = [&] { ++restarts; }, .max_restarts = 2});
  EXPECT_TRUE(IsGone(done.status())) << done.status();
  EXPECT_EQ(restarts, 2);
  EXPECT_EQ(names_.size(), 6u);
}

TEST_F(ForEachTest, APageHasASize) {
  const auto done = ForEach({.page_size = 0});
  EXPECT_EQ(done.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(done.status().message()), HasSubstr("configmaps has a page_size of 0"));
  EXPECT_TRUE(rest_.requests().empty());
}

}  // namespace
}  // namespace mandate
