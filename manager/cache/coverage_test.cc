#include "manager/cache/coverage.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace mandate {
namespace {

constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};

std::string Text(const std::vector<DemandSpec>& scopes) {
  std::string text;
  for (const DemandSpec& scope : scopes) text += (text.empty() ? "" : "; ") + scope.ToString();
  return text;
}

TEST(WiderScopes, AreThoseThatContainTheScope) {
  const struct {
    DemandSpec scope;
    const char* wider;
  } cases[] = {
      {{kPod, "", ""}, ""},
      {{kPod, "a", ""}, "pods"},
      {{kPod, "a", "x"}, "pods; pods in namespace a"},
      {{kPod, "", "x"}, "pods"},  // of a kind without namespaces
      {{kPod, "", "", "app=web"}, "pods"},
      {{kPod, "a", "", "app=web"}, "pods; pods with labels app=web; pods in namespace a"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Text(WiderScopes(c.scope)), c.wider) << c.scope.ToString();
  }
}

class CoverageTest : public testing::Test {
 protected:
  using Components = std::vector<const void*>;

  // The planned scope, or "" for its own watch.
  std::string Plan(const DemandSpec& narrow, const Components& demanding,
                   const std::optional<DemandSpec>& keeper = std::nullopt) {
    const auto planned = PlanCoverage(narrow, demanding, keeper,
                                      [&](const DemandSpec& spec) -> std::optional<CoverageState> {
                                        const auto found = watches_.find(spec.ToString());
                                        if (found == watches_.end()) return std::nullopt;
                                        return found->second;
                                      });
    return planned ? planned->ToString() : "";
  }
  void Watch(const DemandSpec& spec, const Components& ready, const Components& keeping) {
    watches_[spec.ToString()] = {.demanding = keeping, .ready = ready, .keeping = keeping};
  }
  void Watch(const DemandSpec& spec, const Components& ready) { Watch(spec, ready, ready); }

  const DemandSpec all_ = {kPod, "", ""};
  const DemandSpec in_a_ = {kPod, "a", ""};
  const DemandSpec one_ = {kPod, "a", "x"};
  const int first_ = 0, second_ = 0;
  const void* const x_ = &first_;
  const void* const y_ = &second_;
  std::map<std::string, CoverageState> watches_;
};

TEST_F(CoverageTest, AScopeAloneHasItsOwnWatch) {
  EXPECT_EQ(Plan(all_, {x_}), "");
  EXPECT_EQ(Plan(in_a_, {x_}), "");
}

TEST_F(CoverageTest, TheWidestWatchIsChosen) {
  Watch(in_a_, {x_});
  EXPECT_EQ(Plan(one_, {x_}), "pods in namespace a");
  Watch(all_, {x_});
  EXPECT_EQ(Plan(one_, {x_}), "pods");
  EXPECT_EQ(Plan(in_a_, {x_}), "pods");
  EXPECT_EQ(Plan(all_, {x_}), "") << "nothing is wider";
}

TEST_F(CoverageTest, EveryComponentMustHaveTheWiderAccess) {
  Watch(all_, {x_});
  EXPECT_EQ(Plan(in_a_, {x_, y_}), "");
  Watch(in_a_, {x_, y_});
  EXPECT_EQ(Plan(one_, {x_, y_}), "pods in namespace a") << "the narrower of the two serves both";
  Watch(all_, {x_, y_});
  EXPECT_EQ(Plan(one_, {x_, y_}), "pods");
}

TEST_F(CoverageTest, AWatchThatIsDownKeepsWhatItHas) {
  Watch(all_, {}, {x_});
  EXPECT_EQ(Plan(in_a_, {x_}, all_), "pods");
  EXPECT_EQ(Plan(in_a_, {x_}), "") << "but it begins with nothing";
  Watch(all_, {}, {});
  EXPECT_EQ(Plan(in_a_, {x_}, all_), "") << "denied";
  watches_.clear();
  EXPECT_EQ(Plan(in_a_, {x_}, all_), "") << "closed";
}

TEST_F(CoverageTest, AnotherWatchTakesOver) {
  Watch(all_, {}, {});
  Watch(in_a_, {x_});
  EXPECT_EQ(Plan(one_, {x_}, all_), "pods in namespace a");
}

TEST_F(CoverageTest, WithoutAComponentNothingIsServed) {
  Watch(all_, {x_});
  EXPECT_EQ(Plan(in_a_, {}), "");
  EXPECT_EQ(Plan(in_a_, {}, all_), "");
}

}  // namespace
}  // namespace mandate
