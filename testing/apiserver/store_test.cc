#include "testing/apiserver/store.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;

const GroupResource kThings{"", "things"};

Json::Value Thing(const std::string& ns, const std::string& name, const std::string& value = "") {
  Json::Value object(Json::objectValue);
  object["apiVersion"] = "v1";
  object["kind"] = "Thing";
  object["metadata"]["namespace"] = ns;
  object["metadata"]["name"] = name;
  object["value"] = value;
  return object;
}

std::vector<std::string> Names(const Store::Objects& objects) {
  std::vector<std::string> names;
  for (const auto& object : objects) {
    names.push_back(object->ns + "/" + object->name + "=" + object->Parse()["value"].asString());
  }
  return names;
}

TEST(StoreTest, AllResourcesShareTheRevision) {
  Store store({.first_revision = 10});
  EXPECT_EQ(store.Put(kThings, Thing("a", "x"))->revision, 11);
  EXPECT_EQ(store.Put({"g", "others"}, Thing("a", "x"))->revision, 12);
  const auto last = store.Delete(kThings, "a", "x");
  EXPECT_EQ(last->revision, 13);
  EXPECT_EQ(last->Parse()["metadata"]["resourceVersion"], Json::Value("13"));
  EXPECT_EQ(store.Delete(kThings, "a", "x"), nullptr);
  EXPECT_EQ(store.revision(), 13);
  EXPECT_EQ(store.LastChange(kThings), 13);
  EXPECT_EQ(store.LastChange({"g", "others"}), 12);
  EXPECT_EQ(store.LastChange({"g", "nothing"}), 0);
}

TEST(StoreTest, ListsInTheOrderOfEtcdsKeys) {
  Store store({});
  for (const char* ns : {"b", "a-b", "a"}) store.Put(kThings, Thing(ns, "x"));
  EXPECT_THAT(Names(store.List(kThings)), ElementsAre("a-b/x=", "a/x=", "b/x="));
  EXPECT_THAT(Names(store.List(kThings, "a")), ElementsAre("a/x="));
}

TEST(StoreTest, ListsPastRevisions) {
  Store store({});
  store.Put(kThings, Thing("a", "x", "1"));
  const int64_t then = store.Put(kThings, Thing("a", "y", "1"))->revision;
  store.Put(kThings, Thing("a", "x", "2"));
  store.Delete(kThings, "a", "y");
  store.Put(kThings, Thing("a", "z", "1"));
  EXPECT_THAT(Names(*store.ListAt(kThings, "", then)), ElementsAre("a/x=1", "a/y=1"));
  EXPECT_THAT(Names(store.List(kThings)), ElementsAre("a/x=2", "a/z=1"));
  std::vector<Change::Type> types;
  for (const Change* change : store.ChangesSince(kThings, then)) types.push_back(change->type);
  EXPECT_THAT(types,
              ElementsAre(Change::Type::kModified, Change::Type::kDeleted, Change::Type::kAdded));
  store.Compact(then + 1);
  EXPECT_EQ(store.ListAt(kThings, "", then), nullptr);
  EXPECT_NE(store.ListAt(kThings, "", then + 1), nullptr);
  EXPECT_EQ(store.ChangesSince(kThings, 0).size(), 2u);
}

TEST(StoreTest, DropsChangesBeyondItsLimit) {
  Store store({.first_revision = 1, .max_changes = 3});
  for (int i = 0; i < 5; ++i) store.Put(kThings, Thing("a", "x", std::to_string(i)));
  EXPECT_EQ(store.changes().size(), 3u);
  EXPECT_EQ(store.compacted(), 3);
}

TEST(StoreTest, CallsListenersUntilTheyUnsubscribe) {
  Store store({});
  std::vector<int64_t> seen;
  uint64_t id = 0;
  id = store.Subscribe(kThings, [&](const Change& change) {
    seen.push_back(change.revision);
    if (seen.size() == 2) store.Unsubscribe(id);
  });
  store.Put({"", "others"}, Thing("a", "x"));
  for (int i = 0; i < 3; ++i) store.Put(kThings, Thing("a", "x"));
  EXPECT_THAT(seen, ElementsAre(3, 4));
}

TEST(StoreTest, CallsReconnectListenersUntilTheyUnsubscribe) {
  Store store({});
  std::string told;
  uint64_t second = 0;
  store.OnReconnect([&] {
    told += "a";
    store.Unsubscribe(second);
  });
  second = store.OnReconnect([&] { told += "b"; });
  const uint64_t third = store.OnReconnect([&] { told += "c"; });
  store.Reconnect();
  EXPECT_EQ(told, "ac");
  store.Unsubscribe(third);
  store.Reconnect();
  EXPECT_EQ(told, "aca");
}

TEST(StoreTest, WritesApiVersionAndKindFirst) {
  const auto stored = MakeStored(Thing("a", "x"), 7);
  EXPECT_EQ(stored->json.substr(0, stored->type_meta), R"({"apiVersion":"v1","kind":"Thing",)");
  EXPECT_EQ(stored->Parse()["metadata"]["name"], Json::Value("x"));
  EXPECT_FALSE(MakeStored(Thing("a", "x"), 0)->Parse()["metadata"].isMember("resourceVersion"));
}

}  // namespace
}  // namespace mandate::apiserver
