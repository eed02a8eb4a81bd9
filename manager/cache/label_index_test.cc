#include "manager/cache/label_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace mandate {
namespace {

LabelSelector Selector(std::string_view text) { return *LabelSelector::Parse(text); }

std::vector<std::string> Candidates(const LabelIndex<std::string>& index,
                                    const LabelIndex<std::string>::Labels& labels) {
  std::vector<std::string> found;
  index.ForEachCandidate(labels, [&](const std::string& value) { found.push_back(value); });
  std::sort(found.begin(), found.end());
  return found;
}

TEST(LabelIndex, FindsSelectorsByOneLabelThatTheyRequire) {
  LabelIndex<std::string> index;
  index.Insert(Selector("app=web"), "web");
  index.Insert(Selector("app in (db),tier=back"), "db");
  index.Insert(Selector("app in (db,web)"), "either");
  index.Insert(Selector("!app"), "none");
  const struct {
    LabelIndex<std::string>::Labels labels;
    std::vector<std::string> found;
  } cases[] = {
      {{{"app", "web"}}, {"either", "none", "web"}},
      {{{"app", "db"}, {"tier", "front"}}, {"db", "either", "none"}},
      {{{"app", "other"}}, {"either", "none"}},
      {{{"web", "app"}}, {"either", "none"}},
      {{}, {"either", "none"}},
  };
  for (const auto& c : cases) EXPECT_EQ(Candidates(index, c.labels), c.found);
}

TEST(LabelIndex, IsEmptyWhenAllIsErased) {
  LabelIndex<std::string> index;
  EXPECT_TRUE(index.empty());
  for (const char* text : {"app=web", "app", "app=web,tier=x"}) {
    index.Insert(Selector(text), text);
    index.Insert(Selector(text), text);
  }
  std::vector<std::string> all;
  index.ForEach([&](const std::string& value) { all.push_back(value); });
  EXPECT_EQ(all.size(), 3u);
  index.Erase(Selector("app=other"), "app=web");
  EXPECT_EQ(Candidates(index, {{"app", "web"}}).size(), 3u);
  EXPECT_TRUE(index.Contains(Selector("app"), "app"));
  EXPECT_TRUE(index.Contains(Selector("app=web"), "app=web"));
  EXPECT_FALSE(index.Contains(Selector("app=web"), "app"));
  EXPECT_FALSE(index.Contains(Selector("app=db"), "app=web"));
  for (const char* text : {"app=web", "app", "app=web,tier=x"}) index.Erase(Selector(text), text);
  EXPECT_TRUE(index.empty());
}

}  // namespace
}  // namespace mandate
