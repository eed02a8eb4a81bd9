#include "manager/cache/demand_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};
constexpr KindInfo kSecret = {.group = "", .version = "v1", .kind = "Secret", .plural = "secrets"};

const DemandSpec kPodsOfFoo = {kPod, "foo", ""};
const DemandSpec kPodsOfBar = {kPod, "bar", ""};
const DemandSpec kOneSecret = {kSecret, "foo", "one"};
const DemandSpec kPods = {kPod, "", ""};

DemandOwner Owner(const std::string& name, const std::string& uid = "1") {
  return {{"foo", name}, uid};
}

LabelSelector Selector(std::string_view text) { return *LabelSelector::Parse(text); }

class DemandTableTest : public testing::Test {
 protected:
  std::set<std::string> OwnersOf(const DemandSpec& stream, const DemandTable::Labels& labels) {
    std::set<std::string> owners;
    table_.ForEachOwner(stream, labels, [&](const ObjectKey& key) { owners.insert(key.name); });
    return owners;
  }
  std::set<std::string> OwnersOf(const DemandSpec& stream) {
    std::set<std::string> owners;
    table_.ForEachOwner(stream, [&](const ObjectKey& key) { owners.insert(key.name); });
    return owners;
  }

  DemandTable table_;
};

TEST_F(DemandTableTest, TheNumberOfOwnersIsKnownWithoutThem) {
  EXPECT_EQ(table_.MostOwners(kPodsOfFoo), 0u);
  table_.Replace(Owner("all"), {{kPodsOfFoo}});
  table_.Replace(Owner("a"), {{kPodsOfFoo, Selector("app=a")}});
  table_.Replace(Owner("b"), {{kPodsOfFoo, Selector("app=b")}, {kPodsOfFoo, Selector("x!=y")}});
  EXPECT_EQ(table_.MostOwners(kPodsOfFoo), 4u) << "b counts for each selector";
  EXPECT_EQ(table_.MostOwners(kPodsOfFoo, {{"app", "a"}}), 3u);
  EXPECT_EQ(table_.MostOwners(kPodsOfFoo, {}), 2u);
  EXPECT_EQ(table_.MostOwners(kPods, {{"app", "a"}}), 0u);
  table_.Release(Owner("b").key);
  EXPECT_EQ(table_.MostOwners(kPodsOfFoo), 2u);
}

TEST_F(DemandTableTest, AStreamHasTheNamespacesOfItsOwners) {
  const DemandOwner in_bar = {{"bar", "b"}, "1"};
  EXPECT_THAT(table_.NamespacesOfOwners(kPodsOfFoo), IsEmpty());
  EXPECT_THAT(table_.Replace(in_bar, {{kPodsOfFoo, Selector("app=b")}, {kPods}}).joined, IsEmpty())
      << "a stream that opens has its first namespace anyway";
  EXPECT_THAT(table_.NamespacesOfOwners(kPodsOfFoo), ElementsAre("bar"));
  EXPECT_THAT(table_.Replace(Owner("a"), {{kPodsOfFoo}}).joined, ElementsAre(kPodsOfFoo));
  EXPECT_THAT(table_.Add(Owner("c"), {kPodsOfFoo}).joined, IsEmpty()) << "the same namespace";
  EXPECT_THAT(table_.NamespacesOfOwners(kPodsOfFoo), ElementsAre("bar", "foo"));
  EXPECT_THAT(table_.NamespacesOfOwners(kPods), ElementsAre("bar"));
  // Another selector, the same namespace.
  EXPECT_THAT(table_.Replace(in_bar, {{kPodsOfFoo}}).joined, IsEmpty());
  EXPECT_THAT(table_.NamespacesOfOwners(kPodsOfFoo), ElementsAre("bar", "foo"));
  table_.Release(Owner("a").key);
  EXPECT_THAT(table_.NamespacesOfOwners(kPodsOfFoo), ElementsAre("bar", "foo"));
  table_.Release(Owner("c").key);
  EXPECT_THAT(table_.NamespacesOfOwners(kPodsOfFoo), ElementsAre("bar"));
  EXPECT_THAT(table_.Replace(Owner("a"), {{kPodsOfFoo}}).joined, ElementsAre(kPodsOfFoo))
      << "it comes back";
}

TEST_F(DemandTableTest, TheFirstDemandOpensAStreamAndTheLastOneClosesIt) {
  EXPECT_THAT(table_.Replace(Owner("a"), {{kPodsOfFoo}, {kOneSecret}}).opened,
              UnorderedElementsAre(kPodsOfFoo, kOneSecret));
  EXPECT_THAT(table_.Replace(Owner("b"), {{kPodsOfFoo}}).opened, IsEmpty());
  EXPECT_EQ(table_.owners(), 2);
  EXPECT_EQ(table_.streams(), 2);
  EXPECT_EQ(table_.demands(), 3);

  EXPECT_THAT(table_.Release(Owner("a").key).closed, ElementsAre(kOneSecret));
  EXPECT_THAT(OwnersOf(kPodsOfFoo), ElementsAre("b"));
  EXPECT_THAT(table_.Release(Owner("b").key).closed, ElementsAre(kPodsOfFoo));
  EXPECT_EQ(table_.owners() + table_.streams() + table_.demands(), 0);
  EXPECT_THAT(table_.Release(Owner("b").key).closed, IsEmpty());
}

TEST_F(DemandTableTest, ReplaceKeepsTheStreamsOfDemandsThatStay) {
  table_.Replace(Owner("a"), {{kPodsOfFoo}, {kOneSecret}});
  const DemandTable::Change change = table_.Replace(Owner("a"), {{kOneSecret}, {kPodsOfBar}});
  EXPECT_THAT(change.opened, ElementsAre(kPodsOfBar));
  EXPECT_THAT(change.closed, ElementsAre(kPodsOfFoo));
  EXPECT_THAT(table_.StreamsOf(Owner("a").key), UnorderedElementsAre(kOneSecret, kPodsOfBar));
}

TEST_F(DemandTableTest, AnotherSelectorOfTheSameScopeKeepsTheStream) {
  table_.Replace(Owner("a"), {{kPodsOfFoo, Selector("app=a")}});
  const DemandTable::Change change = table_.Replace(Owner("a"), {{kPodsOfFoo, Selector("app=b")}});
  EXPECT_THAT(change.opened, IsEmpty());
  EXPECT_THAT(change.closed, IsEmpty());
  EXPECT_THAT(OwnersOf(kPodsOfFoo, {{"app", "a"}}), IsEmpty());
  EXPECT_THAT(OwnersOf(kPodsOfFoo, {{"app", "b"}}), ElementsAre("a"));
}

TEST_F(DemandTableTest, TheSameDemandTwiceCountsOnce) {
  table_.Replace(Owner("a"), {{kPodsOfFoo}, {kPodsOfFoo}});
  EXPECT_EQ(table_.demands(), 1);
  EXPECT_THAT(table_.Add(Owner("a"), {kPodsOfFoo}).opened, IsEmpty());
  EXPECT_EQ(table_.demands(), 1);
  EXPECT_THAT(table_.Replace(Owner("a"), {}).closed, ElementsAre(kPodsOfFoo));
  EXPECT_EQ(table_.owners(), 0) << "an owner without demands is not kept";
}

// Each owner may have a selector of its own.
TEST_F(DemandTableTest, ASelectorIsForgottenWithItsLastDemand) {
  for (int i = 0; i < 3; ++i) {
    table_.Replace(Owner("a"), {{kPodsOfFoo, Selector("app=a")}, {kPodsOfBar, Selector("app=a")}});
    table_.Replace(Owner("b"), {{kPodsOfFoo, Selector("app=a")}});
    table_.Add(Owner("b"), {kPodsOfFoo, Selector("app=a")});
  }
  EXPECT_EQ(table_.selectors(), 1);
  table_.Release(Owner("a").key);
  EXPECT_EQ(table_.selectors(), 1);
  table_.Replace(Owner("b"), {{kPodsOfFoo, Selector("app=b")}});
  EXPECT_EQ(table_.selectors(), 1);
  table_.Release(Owner("b").key);
  EXPECT_EQ(table_.selectors(), 0);
}

TEST_F(DemandTableTest, AddKeepsTheOtherDemands) {
  table_.Replace(Owner("a"), {{kPodsOfFoo}});
  EXPECT_THAT(table_.Add(Owner("a"), {kOneSecret}).opened, ElementsAre(kOneSecret));
  EXPECT_THAT(table_.StreamsOf(Owner("a").key), UnorderedElementsAre(kPodsOfFoo, kOneSecret));
  EXPECT_THAT(table_.Add(Owner("b"), {kOneSecret}).opened, IsEmpty());
}

TEST_F(DemandTableTest, AnOwnerThatWasCreatedAgainIsAnotherOwner) {
  table_.Replace(Owner("a", "1"), {{kPodsOfFoo}, {kOneSecret}});
  EXPECT_THAT(table_.Add(Owner("a", "2"), {kOneSecret}).closed, ElementsAre(kPodsOfFoo));
  EXPECT_THAT(table_.Release(Owner("a").key, "1").closed, IsEmpty())
      << "the late end of the earlier owner";
  EXPECT_THAT(OwnersOf(kOneSecret), ElementsAre("a"));
  EXPECT_THAT(table_.Release(Owner("a").key, "2").closed, ElementsAre(kOneSecret));
}

TEST_F(DemandTableTest, FindsOwnersBySelector) {
  struct Row {
    const char* selector;
    DemandTable::Labels labels;
    bool found;
  };
  const Row rows[] = {
      {"", {}, true},
      {"", {{"app", "a"}}, true},
      {"app=a", {{"app", "a"}}, true},
      {"app=a", {{"app", "b"}}, false},
      {"app=a", {{"b", "a"}}, false},
      {"app=a", {}, false},
      {"app=a,tier=x", {{"app", "a"}, {"tier", "x"}}, true},
      {"app=a,tier=x", {{"app", "a"}}, false},
      {"app in (a)", {{"app", "a"}}, true},
      {"app in (a,b)", {{"app", "b"}}, true},
      {"app in (a,b)", {{"app", "c"}}, false},
      {"app", {{"app", ""}}, true},
      {"!app", {}, true},
      {"!app", {{"app", "a"}}, false},
      {"app!=a", {}, true},
      {"app!=a,tier=x", {{"tier", "x"}}, true},
      {"app!=a,tier=x", {{"tier", "x"}, {"app", "a"}}, false},
  };
  for (const Row& row : rows) {
    table_.Replace(Owner("a"), {{kPodsOfFoo, Selector(row.selector)}});
    EXPECT_EQ(OwnersOf(kPodsOfFoo, row.labels).contains("a"), row.found)
        << row.selector << " and " << testing::PrintToString(row.labels);
    EXPECT_THAT(OwnersOf(kPodsOfFoo), ElementsAre("a")) << row.selector;
    EXPECT_EQ(table_.HasSelectors(kPodsOfFoo), *row.selector != '\0') << row.selector;
    table_.ReleaseAll();
  }
}

TEST_F(DemandTableTest, OneOwnerMayHaveSeveralSelectorsOfOneScope) {
  table_.Replace(Owner("a"), {{kPodsOfFoo, Selector("x=1")}, {kPodsOfFoo, Selector("y=1")}});
  EXPECT_THAT(OwnersOf(kPodsOfFoo, {{"x", "1"}}), ElementsAre("a"));
  EXPECT_THAT(OwnersOf(kPodsOfFoo, {{"y", "1"}}), ElementsAre("a"));
  EXPECT_THAT(table_.StreamsOf(Owner("a").key), ElementsAre(kPodsOfFoo));
  table_.Replace(Owner("a"), {{kPodsOfFoo, Selector("y=1")}});
  EXPECT_THAT(OwnersOf(kPodsOfFoo, {{"x", "1"}}), IsEmpty());
}

// Compares the table with a list of all demands.
TEST_F(DemandTableTest, AgreesWithAList) {
  const std::vector<DemandSpec> specs = {kPodsOfFoo, kPodsOfBar, kOneSecret, kPods};
  const std::vector<std::string> selectors = {"", "app=a", "app=b", "app in (a,b)", "tier"};
  const std::vector<DemandTable::Labels> labels = {
      {}, {{"app", "a"}}, {{"app", "b"}, {"tier", "x"}}, {{"tier", ""}}};
  for (int seed = 0; seed < 50; ++seed) {
    std::mt19937 dice(seed);
    const auto pick = [&](size_t n) {
      return std::uniform_int_distribution<size_t>(0, n - 1)(dice);
    };
    // owner → (spec, selector).
    std::map<std::string, std::set<std::pair<size_t, std::string>>> list;
    std::map<std::string, std::string> uids;
    std::set<size_t> open;
    table_.ReleaseAll();
    for (int step = 0; step < 200; ++step) {
      const std::string name = StrCat("o", pick(6));
      DemandTable::Change change;
      const std::string uid = StrCat(pick(2));
      const size_t action = pick(5);
      if (action == 0) {
        change = table_.Release(Owner(name).key, uid);
        if (uids[name] == uid) list.erase(name);
      } else {
        std::vector<SelectedDemand> demands;
        std::set<std::pair<size_t, std::string>> now;
        for (size_t i = action == 1 ? 1 : pick(4); i > 0; --i) {
          const size_t spec = pick(specs.size());
          const std::string& selector = selectors[pick(selectors.size())];
          demands.push_back({specs[spec], Selector(selector)});
          now.emplace(spec, selector);
        }
        if (action == 1) {
          change = table_.Add(Owner(name, uid), demands[0]);
          if (uids[name] == uid) now.insert(list[name].begin(), list[name].end());
        } else {
          change = table_.Replace(Owner(name, uid), demands);
        }
        uids[name] = uid;
        list[name] = now;
        if (now.empty()) list.erase(name);
      }
      for (const DemandSpec& spec : change.opened) {
        ASSERT_TRUE(
            open.insert(std::find(specs.begin(), specs.end(), spec) - specs.begin()).second);
      }
      for (const DemandSpec& spec : change.closed) {
        ASSERT_EQ(open.erase(std::find(specs.begin(), specs.end(), spec) - specs.begin()), 1);
      }
      size_t demands = 0;
      std::set<size_t> demanded;
      for (const auto& [owner, entries] : list) {
        demands += entries.size();
        for (const auto& [spec, selector] : entries) demanded.insert(spec);
      }
      ASSERT_EQ(open, demanded) << "seed " << seed << " step " << step;
      ASSERT_EQ(table_.demands(), demands);
      ASSERT_EQ(table_.owners(), list.size());
      for (const auto& [owner, entries] : list) {
        std::vector<DemandSpec> streams;
        size_t before = specs.size();
        for (const auto& [spec, selector] : entries) {
          if (std::exchange(before, spec) != spec) streams.push_back(specs[spec]);
        }
        ASSERT_THAT(table_.StreamsOf(Owner(owner).key), UnorderedElementsAreArray(streams))
            << "seed " << seed << " step " << step;
      }
      for (size_t spec = 0; spec < specs.size(); ++spec) {
        for (const DemandTable::Labels& of : labels) {
          std::set<std::string> expected;
          for (const auto& [owner, entries] : list) {
            for (const auto& [at, selector] : entries) {
              if (at == spec && Selector(selector).Matches(of)) expected.insert(owner);
            }
          }
          ASSERT_EQ(OwnersOf(specs[spec], of), expected) << "seed " << seed << " step " << step;
        }
      }
    }
  }
}

TEST(SelectedDemand, TheServerAppliesSelectorsOfSecretsAndConfigMaps) {
  const KindInfo secrets = BuiltIn("", "Secret", "secrets");
  const KindInfo config_maps = BuiltIn("", "ConfigMap", "configmaps");
  const KindInfo pods = BuiltIn("", "Pod", "pods");
  const KindInfo others = BuiltIn("example.com", "Secret", "secrets");
  const LabelSelector web = *LabelSelector::Parse("app=web");
  const struct {
    SelectedDemand demand;
    const char* labels;
  } cases[] = {
      {{{secrets, "a", ""}, web}, "app=web"},
      {{{config_maps, "", ""}, web}, "app=web"},
      {{{pods, "a", ""}, web}, ""},
      {{{others, "a", ""}, web}, ""},
      {{{secrets, "a", ""}, {}}, ""},
      {{{secrets, "a", "x"}, web}, ""},
      {{{secrets, "a", ""}, web, SelectorMode::kRoute}, ""},
      {{{pods, "a", ""}, web, SelectorMode::kServer}, "app=web"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.demand.Stream().labels, c.labels) << c.demand.spec.ToString();
  }
}

TEST(SelectedDemand, EachSelectorOfTheServerIsAStream) {
  const KindInfo secrets = BuiltIn("", "Secret", "secrets");
  const DemandOwner a = {{"n", "a"}, "1"}, b = {{"n", "b"}, "2"}, c = {{"n", "c"}, "3"};
  const SelectedDemand web = {{secrets, "n", ""}, *LabelSelector::Parse("app=web")};
  const SelectedDemand db = {{secrets, "n", ""}, *LabelSelector::Parse("app=db")};
  DemandTable table;
  EXPECT_EQ(table.Replace(a, {web}).opened, std::vector<DemandSpec>{web.Stream()});
  EXPECT_TRUE(table.Replace(b, {web}).opened.empty());
  EXPECT_EQ(table.Replace(c, {db, {{secrets, "n", ""}, {}}}).opened.size(), 2u);
  EXPECT_FALSE(table.HasSelectors(web.Stream())) << "each of its objects matches";
  std::vector<ObjectKey> owners;
  table.ForEachOwner(web.Stream(), [&](const ObjectKey& key) { owners.push_back(key); });
  std::sort(owners.begin(), owners.end());
  EXPECT_EQ(owners, (std::vector<ObjectKey>{a.key, b.key}));
  EXPECT_TRUE(table.Release(a.key).closed.empty());
  EXPECT_EQ(table.Release(b.key).closed, std::vector<DemandSpec>{web.Stream()});
}

}  // namespace
}  // namespace mandate
