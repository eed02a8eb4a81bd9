#include "manager/cache/selected_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

class SelectedStoresTest : public testing::Test {
 protected:
  KnownStore& Add(const std::string& ns, const std::string& labels) {
    KnownStore& known =
        all_.emplace_back(DemandSpec{kWidget, ns, "", labels}, std::make_shared<ObjectStore>(),
                          nullptr, 1, ClosedScopes(9));
    stores_.Add(known);
    return known;
  }
  void Put(KnownStore& known, const ObjectPtr& object) {
    stores_.Note(known, known.store->Put(object));
  }
  void Remove(KnownStore& known, const ObjectPtr& object) {
    stores_.Note(known, known.store->Remove(object));
  }
  // "a:app=web" for a store whose scope has the object, "(a:app=web)" for one that only holds it.
  std::string Concerned(const ObjectPtr& object) const {
    std::vector<std::string> found;
    stores_.ForEach(*object, [&](const KnownStore& known, bool matches) {
      const std::string name = known.scope.ns + ":" + known.scope.labels;
      found.push_back(matches ? name : "(" + name + ")");
    });
    std::sort(found.begin(), found.end());
    std::string text;
    for (const std::string& name : found) text += (text.empty() ? "" : " ") + name;
    return text;
  }

  std::deque<KnownStore> all_;
  SelectedStores stores_;
};

TEST_F(SelectedStoresTest, FindsStoresByLabelsAndByWhatTheyHold) {
  KnownStore& web = Add("a", "app=web");
  Add("b", "app=web");
  Add("", "app=db");
  Add("a", "app");
  EXPECT_EQ(Concerned(Widget("a/x", 1, "", "app=web")), "a:app a:app=web");
  EXPECT_EQ(Concerned(Widget("a/x", 1, "", "app=db")), ":app=db a:app");
  EXPECT_EQ(Concerned(Widget("a/x", 1)), "");

  Put(web, Widget("a/x", 1, "", "app=web"));
  EXPECT_EQ(Concerned(Widget("a/x", 2, "", "app=web")), "a:app a:app=web") << "each once";
  EXPECT_EQ(Concerned(Widget("a/x", 2)), "(a:app=web)");
  EXPECT_EQ(Concerned(Widget("a/y", 2)), "");
  std::vector<KnownStore*> holders;
  const auto note = [&](KnownStore& known) { holders.push_back(&known); };
  stores_.ForEachHolder({"a", "x"}, note);
  stores_.ForEachHolder({"a", "y"}, note);
  EXPECT_EQ(holders, std::vector<KnownStore*>{&web});
  Remove(web, Widget("a/x", 3));
  EXPECT_EQ(Concerned(Widget("a/x", 4)), "");
}

TEST_F(SelectedStoresTest, AReplacedStoreHoldsItsNewContent) {
  KnownStore& web = Add("a", "app=web");
  Put(web, Widget("a/x", 1, "", "app=web"));
  Put(web, Widget("a/y", 1, "", "app=web"));
  const auto before = web.store->Snapshot();
  web.store->Replace(ContentOf({Widget("a/y", 2, "", "app=web"), Widget("a/z", 2, "", "app=web")}),
                     "2");
  stores_.NoteReplaced(web, *before);
  EXPECT_EQ(Concerned(Widget("a/x", 3)) + Concerned(Widget("a/y", 3)), "(a:app=web)");
  EXPECT_EQ(Concerned(Widget("a/z", 3)), "(a:app=web)");
}

TEST_F(SelectedStoresTest, ARemovedStoreIsNotFound) {
  KnownStore& web = Add("a", "app=web");
  Add("", "app=web");
  Put(web, Widget("a/x", 1, "", "app=web"));
  stores_.Remove(web);
  EXPECT_EQ(Concerned(Widget("a/x", 2, "", "app=web")), ":app=web");
  EXPECT_EQ(Concerned(Widget("a/x", 2)), "");
  stores_.Remove(all_.back());
  EXPECT_TRUE(stores_.empty());
}

TEST_F(SelectedStoresTest, AScopeOverlapsItsNamespaceAndTheClusters) {
  Add("a", "app=web");
  Add("b", "app");
  Add("", "app=db");
  const auto count = [&](const std::string& ns) {
    int found = 0;
    stores_.ForEachIn(ns, [&](const KnownStore&) { ++found; });
    return found;
  };
  EXPECT_EQ(count(""), 3);
  EXPECT_EQ(count("a"), 2);
  EXPECT_EQ(count("c"), 1);
}

}  // namespace
}  // namespace mandate
