#include "manager/cache/field_index.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using Values = std::vector<std::string>;

// An index and the content of its store.
class FieldIndexTest : public testing::Test {
 protected:
  void Put(const ObjectPtr& object) {
    Remove(object->Key());
    all_.insert(object);
    index_.Put(object);
  }
  void Remove(const ObjectKey& key) {
    const auto it = all_.find(ObjectLess::Key(key.ns, key.name));
    if (it == all_.end()) return;
    const ObjectPtr object = it->object;
    all_.erase(it);
    index_.Remove(object);
  }
  std::string Take(size_t most = 100) {
    taken_ = index_.TakeUnread(all_, most);
    return Text(taken_);
  }
  // Extracts the same values from every object.
  void LearnAll(const Values& values) {
    while (!Take().empty()) {
      for (const ObjectPtr& object : taken_) index_.Learn(object, values);
    }
  }
  std::string Find(std::string_view value, std::string_view ns = "") {
    return Text(index_.Find(value, ns));
  }

  ObjectPtr Held(std::string_view name) const {
    return all_.find(ObjectLess::Key("a", name))->object;
  }

  FieldIndex index_;
  ObjectSet all_;
  std::vector<ObjectPtr> taken_;  // by the last Take()
};

// They are held as digests: a tenant's long names must not take the memory of others.
TEST_F(FieldIndexTest, LongValuesAreFoundAndDiffer) {
  const std::string value(450'000, 'x');
  Put(Widget("a/1", 1));
  Put(Widget("a/2", 1));
  ASSERT_EQ(Take(1), "a/1@1");
  index_.Learn(taken_[0], Values{value});
  ASSERT_EQ(Take(1), "a/2@1");
  index_.Learn(taken_[0], Values{value + "y", value + "z"});
  EXPECT_EQ(Find(value), "a/1@1");
  EXPECT_EQ(Find(value + "y"), "a/2@1");
  EXPECT_EQ(Find(value + "z"), "a/2@1");
  EXPECT_EQ(Find(value + "w"), "");
  EXPECT_EQ(Find(value.substr(0, 64)), "");
  EXPECT_LE(FieldIndex::HeldValue(value).size(), 96u);
  Remove({"a", "2"});
  EXPECT_EQ(Find(value + "y"), "");
  EXPECT_EQ(Find(value), "a/1@1");
}

// The longest short value, and one that is not.
TEST_F(FieldIndexTest, ValuesOfAllLengthsAreFound) {
  Put(Widget("a/1", 1));
  Values values;
  for (size_t size = 0; size <= 200; ++size) values.push_back(std::string(size, 'x'));
  LearnAll(values);
  for (const std::string& value : values) EXPECT_EQ(Find(value), "a/1@1") << value.size();
}

TEST_F(FieldIndexTest, TakesTheStoreInSlices) {
  for (const char* key : {"a/1", "a/2", "a/3", "b/1", "b/2"}) Put(Widget(key, 1));
  EXPECT_EQ(Take(2), "a/1@1 a/2@1");
  EXPECT_EQ(Take(2), "a/3@1 b/1@1");
  EXPECT_EQ(Take(2), "b/2@1");
}

TEST_F(FieldIndexTest, OnlyChangesOfExtractedObjectsAreNoted) {
  for (const char* key : {"a/1", "a/2", "a/3", "a/4"}) Put(Widget(key, 1));
  EXPECT_EQ(Take(2), "a/1@1 a/2@1");
  Put(Widget("a/2", 2));
  Put(Widget("a/3", 2));
  Put(Widget("a/0", 2));
  Remove({"a", "4"});
  EXPECT_EQ(Take(1), "a/0@2") << "what is noted comes first";
  EXPECT_EQ(Take(2), "a/2@2 a/3@2");
}

TEST_F(FieldIndexTest, ARemovedObjectIsNotTaken) {
  for (const char* key : {"a/1", "a/2"}) Put(Widget(key, 1));
  LearnAll({"red"});
  Put(Widget("a/1", 2));
  Put(Widget("a/2", 2));
  Remove({"a", "1"});
  EXPECT_EQ(Take(), "a/2@2");
}

TEST_F(FieldIndexTest, ObjectsOfAnotherReaderAreExtractedLast) {
  for (const char* key : {"a/1", "a/2", "a/3"}) Put(Widget(key, 1));
  EXPECT_EQ(Take(2), "a/1@1 a/2@1");
  const std::vector<ObjectPtr> slow = taken_;
  EXPECT_EQ(Take(), "a/3@1");
  index_.Learn(taken_[0], Values{"red"});
  EXPECT_EQ(Take(1), "a/1@1");
  EXPECT_EQ(Take(), "a/1@1 a/2@1");
  for (const ObjectPtr& object : taken_) index_.Learn(object, Values{"red"});
  EXPECT_EQ(Take(), "");
  for (const ObjectPtr& object : slow) index_.Learn(object, Values{"blue"});
  EXPECT_EQ(Find("red"), "a/1@1 a/2@1 a/3@1");
  EXPECT_EQ(Find("blue"), "") << "each is learnt once";
}

TEST_F(FieldIndexTest, ValuesOfAnObjectThatHasChangedAreNotLearnt) {
  Put(Widget("a/1", 1));
  Put(Widget("a/2", 1));
  Take();
  const std::vector<ObjectPtr> old = taken_;
  Put(Widget("a/1", 2));
  Remove({"a", "2"});
  EXPECT_EQ(Take(), "a/1@2");
  for (const ObjectPtr& object : old) index_.Learn(object, Values{"red"});
  EXPECT_EQ(Find("red"), "");
  EXPECT_EQ(Take(), "a/1@2") << "its reader has yet to bring its values";
  index_.Learn(taken_[0], Values{"blue"});
  EXPECT_EQ(Find("blue"), "a/1@2");
}

TEST_F(FieldIndexTest, FindsByEachValueOnceAndByNamespace) {
  for (const char* key : {"a/1", "b/1", "c/1"}) Put(Widget(key, 1));
  Take();
  index_.Learn(taken_[0], Values{"red", "blue", "red"});
  index_.Learn(taken_[1], Values{"blue", "red"});
  index_.Learn(taken_[2], Values{});
  EXPECT_EQ(Find("red"), "a/1@1 b/1@1");
  EXPECT_EQ(Find("blue"), "a/1@1 b/1@1");
  EXPECT_EQ(Find("red", "a"), "a/1@1");
  EXPECT_EQ(Find("red", "b"), "b/1@1");
  EXPECT_EQ(Find("red", "c"), "");
  EXPECT_EQ(Find("green"), "");
}

TEST_F(FieldIndexTest, FindsObjectsWithoutValuesByEachValue) {
  for (const char* key : {"a/1", "a/2", "b/3"}) Put(Widget(key, 1));
  Take();
  index_.Learn(taken_[0], absl::InvalidArgumentError("scripted"));
  index_.Learn(taken_[1], Values{"red"});
  index_.Learn(taken_[2], absl::InvalidArgumentError("scripted"));
  EXPECT_EQ(Find("red"), "a/1@1 a/2@1 b/3@1") << "sorted";
  EXPECT_EQ(Find("blue", "a"), "a/1@1");
  Remove({"b", "3"});
  EXPECT_EQ(Find("blue"), "a/1@1");
}

TEST_F(FieldIndexTest, DoesNotFindARemovedObject) {
  for (const char* key : {"a/1", "a/2"}) Put(Widget(key, 1));
  LearnAll({"red", "blue"});
  Remove({"a", "1"});
  EXPECT_EQ(Find("red"), "a/2@1");
  EXPECT_EQ(Find("blue"), "a/2@1");
  Remove({"a", "2"});
  EXPECT_EQ(Find("red"), "");
  Put(Widget("a/2", 2));
  EXPECT_EQ(Find("red"), "");
  LearnAll({"red"});
  EXPECT_EQ(Find("red"), "a/2@2");
  EXPECT_EQ(Find("blue"), "");
}

TEST_F(FieldIndexTest, AnotherCopyTakesTheObjectsPlace) {
  for (const char* key : {"a/1", "a/2", "a/3", "a/4"}) Put(Widget(key, 1));
  EXPECT_EQ(Take(2), "a/1@1 a/2@1");
  index_.Learn(taken_[0], Values{"red", "round"});
  index_.Learn(taken_[1], absl::InternalError("unreadable"));
  EXPECT_EQ(Take(1), "a/3@1");
  const std::vector<ObjectPtr> slow = taken_;
  const auto swap_all = [&] {
    for (const ObjectSlot& slot : all_) {
      const ObjectPtr copy = Widget(StrCat("a/", slot.object->name()), 1);
      index_.Swap(slot.object, copy);
      slot.object = copy;
    }
  };
  swap_all();
  index_.Learn(slow[0], Values{"red"});
  EXPECT_EQ(Take(), "a/4@1");
  swap_all();
  EXPECT_EQ(Take(), "a/3@1 a/4@1") << "what was learned of the former copies is not stored";
  for (const ObjectPtr& object : taken_) index_.Learn(object, Values{"blue"});
  EXPECT_EQ(Take(), "");
  EXPECT_EQ(index_.Find("red", "").at(0), Held("1"));
  EXPECT_EQ(Find("red"), "a/1@1 a/2@1");
  EXPECT_EQ(Find("round"), "a/1@1 a/2@1");
  EXPECT_EQ(Find("blue"), "a/2@1 a/3@1 a/4@1");
  for (const ObjectPtr& object : index_.Find("blue", "")) {
    EXPECT_EQ(object, Held(object->name()));
  }
  Remove({"a", "1"});
  Remove({"a", "2"});
  EXPECT_EQ(Find("red"), "");
}

}  // namespace
}  // namespace mandate
