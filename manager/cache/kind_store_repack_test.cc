// The dictionary of a kind has no parts of objects whose scope was lost or closed.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/kind_store.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class CountsEvents : public KindStore::Listener {
 public:
  void OnObjects(const std::vector<ObjectEvent>& events) override { seen += events.size(); }
  void OnReplaced(const std::shared_ptr<const ObjectSet>&) override { ++seen; }

  size_t seen = 0;
};

// 3,000 bytes and more, with the label "of=" and the namespace.
ObjectPtr Large(const std::string& key, int version = 1) {
  const std::string ns = key.substr(0, key.find('/'));
  std::string json = WidgetJson(key, version, "", StrCat("of=", ns));
  std::string data;
  for (int i = 0; data.size() < 3000; ++i) data += StrCat("line ", i, " of ", version, "; ");
  json.insert(json.size() - 1, StrCat(R"(,"data":")", data, "\""));
  return *ParseRawObject(json, Encoding::kJson);
}

class KindStoreRepackTest : public ::testing::Test {
 protected:
  using Stream = std::unique_ptr<KindStore::Stream>;

  Stream Open(std::string ns, std::string name = "", std::string labels = "") {
    return kind_.Open({kWidget, std::move(ns), std::move(name), std::move(labels)}, listener_,
                      1000);
  }
  // As a list brings them, at version 100.
  KindStore::Stream::Content Listed(KindStore::Stream& stream, const std::string& ns,
                                    int count = kMany) {
    KindStore::Stream::Content content;
    for (int i = 0; i < count; ++i) content.Put(stream.Pack(Large(StrCat(ns, "/", i))));
    return content;
  }
  void Fill(KindStore::Stream& stream, const std::string& ns, int count = kMany) {
    stream.Replace(Listed(stream, ns, count), "100", 1000);
  }

  using Dictionaries = std::set<const ByteDictionary*>;
  static Dictionaries Of(const std::vector<ObjectPtr>& objects) {
    Dictionaries all;
    for (const ObjectPtr& object : objects) all.insert(object->dictionary());
    all.erase(nullptr);
    return all;
  }
  static Dictionaries Of(const Stream& stream) { return Of(stream->store()->List()); }

  // Returns how many calls it took.
  int RepackAll(size_t most = 7) {
    int calls = 1;
    while (kind_.Repack(most)) ++calls;
    return calls;
  }
  static void ReadsAsBefore(const Stream& stream, const std::string& ns) {
    ObjectBytes bytes;
    for (int i = 0; i < kMany; ++i) {
      const ObjectPtr held = stream->store()->Get(ns, StrCat(i));
      ASSERT_NE(held, nullptr) << i;
      EXPECT_EQ(held->bytes(), Large(StrCat(ns, "/", i))->bytes());
      bytes.Add(*held);
    }
    EXPECT_EQ(stream->bytes().stored, bytes.stored);
    EXPECT_EQ(stream->bytes().encoded, bytes.encoded);
  }

  // b's objects, which had been compressed with a's.
  void RepackB(const Stream& b, const Dictionaries& former) {
    RepackAll();
    EXPECT_NE(Of(b), former);
    ReadsAsBefore(b, "b");
  }

  // More than a dictionary is made of.
  static constexpr int kMany = 40;

  int stale_ = 0;
  prometheus::Counter repacked_;
  CountsEvents listener_;
  KindStore kind_{kWidget,
                  {.packing = {.sample_bytes = 50'000},
                   .on_stale = [this] { ++stale_; },
                   .repacked = &repacked_}};
};

TEST_F(KindStoreRepackTest, APurgedScopesObjectsAreInNoDictionary) {
  const Stream a = Open("a");
  const Stream b = Open("b");
  Fill(*a, "a");
  Fill(*b, "b");
  const Dictionaries of_a = Of(a);
  ASSERT_EQ(of_a.size(), 1u);
  ASSERT_EQ(Of(b), of_a) << "the test needs objects of both that share a dictionary";
  const size_t stored = b->bytes().stored;
  const ObjectPtr read = b->store()->Get("b", "39");
  const size_t seen = listener_.seen;

  a->Purge();
  EXPECT_EQ(stale_, 1);
  EXPECT_GT(RepackAll(), kMany / 7) << "in slices";
  EXPECT_EQ(Of(b).size(), 1u) << "they have another one";
  EXPECT_NE(Of(b), of_a);
  ReadsAsBefore(b, "b");
  EXPECT_LT(b->bytes().stored, b->bytes().encoded);
  EXPECT_GT(b->bytes().stored, stored) << "the first ones are the new samples";
  EXPECT_EQ(repacked_.Value(), kMany);
  EXPECT_EQ(listener_.seen, seen) << "nothing has changed";
  EXPECT_EQ(read->bytes(), Large("b/39")->bytes()) << "a reader keeps what it has";
  EXPECT_EQ(stale_, 1);
}

TEST_F(KindStoreRepackTest, AClosedScopesObjectsAreInNoDictionary) {
  Stream a = Open("a");
  const Stream b = Open("b");
  Fill(*a, "a");
  Fill(*b, "b");
  const Dictionaries of_a = Of(a);
  a = nullptr;
  EXPECT_EQ(stale_, 1);
  RepackB(b, of_a);
}

TEST_F(KindStoreRepackTest, AScopeWithoutSamplesTakesNoDictionaryWithIt) {
  const Stream a = Open("a");
  const Stream b = Open("b");
  Fill(*a, "a");
  Fill(*b, "b");
  b->Purge();
  EXPECT_EQ(stale_, 0);
}

TEST_F(KindStoreRepackTest, NorDoesOneWhoseObjectsAnotherWatchHas) {
  for (const char* labels : {"", "of=a", "of"}) {
    SCOPED_TRACE(labels);
    RepackAll();
    stale_ = 0;
    const Stream all = Open("", "", labels);
    const Stream a = Open("a");
    Fill(*a, "a");
    Fill(*all, "a");
    ASSERT_EQ(Of(a).size(), 1u);
    a->Purge();
    EXPECT_EQ(stale_, 0);
  }
}

// The samples are of one object.
TEST_F(KindStoreRepackTest, OfASingleObjectToo) {
  const Stream one = Open("a", "x");
  const Stream other = Open("a", "y");
  for (int version = 1; version <= kMany; ++version) {
    KindStore::Stream::Content content;
    content.Put(one->Pack(Large("a/x", version)));
    one->Replace(std::move(content), StrCat(version), 1000);
  }
  KindStore::Stream::Content content;
  content.Put(other->Pack(Large("a/y")));
  other->Replace(std::move(content), "100", 1000);
  ASSERT_EQ(Of(other), Of(one));
  ASSERT_EQ(Of(other).size(), 1u);
  one->Purge();
  EXPECT_EQ(stale_, 1);
  RepackAll();
  EXPECT_EQ(Of(other).size(), 0u) << "too little for a dictionary";
  EXPECT_EQ(other->store()->Get("a", "y")->bytes(), Large("a/y")->bytes());
}

TEST_F(KindStoreRepackTest, AnObjectStaysOneCopyInAllStores) {
  const Stream a = Open("a");
  const Stream wide = Open("");
  const Stream b = Open("b");
  const Stream b39 = Open("b", "39");
  const Stream labelled = Open("", "", "of=b");
  Fill(*a, "a");
  for (const Stream* stream : {&b, &labelled}) Fill(**stream, "b");
  KindStore::Stream::Content content;
  content.Put(b39->Pack(Large("b/39")));
  b39->Replace(std::move(content), "100", 1000);
  const Dictionaries before = Of(b);
  a->Purge();
  RepackAll(1);
  const ObjectPtr copy = b->store()->Get("b", "39");
  EXPECT_EQ(b39->store()->Get("b", "39"), copy);
  EXPECT_EQ(labelled->store()->Get("b", "39"), copy);
  EXPECT_NE(Of(b), before);
  ReadsAsBefore(b, "b");
  ReadsAsBefore(labelled, "b");
}

// Its objects were packed with the dictionary that is dropped meanwhile.
TEST_F(KindStoreRepackTest, AListThatWasOnItsWay) {
  const Stream a = Open("a");
  const Stream b = Open("b");
  Fill(*a, "a");
  KindStore::Stream::Content listed = Listed(*b, "b");
  const Dictionaries of_a = Of(a);
  a->Purge();
  RepackAll();
  b->Replace(std::move(listed), "100", 1000);
  ASSERT_EQ(Of(b), of_a);
  EXPECT_EQ(stale_, 2);
  RepackB(b, of_a);
  b->Replace(Listed(*b, "b"), "101", 1000);
  EXPECT_EQ(stale_, 2) << "nothing is left";
}

TEST_F(KindStoreRepackTest, AListThatWasNotCompleted) {
  const Stream a = Open("a");
  const Stream b = Open("b");
  Listed(*a, "a");
  Fill(*b, "b");
  const Dictionaries of_a = Of(b);
  ASSERT_EQ(of_a.size(), 1u);
  a->ForgetListed();
  EXPECT_EQ(stale_, 1);
  RepackB(b, of_a);
}

TEST_F(KindStoreRepackTest, StartsOverWhenAnotherScopeIsPurgedMeanwhile) {
  const Stream a = Open("a");
  const Stream b = Open("b");
  const Stream c = Open("c");
  Fill(*a, "a");
  Fill(*b, "b");
  Fill(*c, "c");
  const Dictionaries first = Of(c);
  a->Purge();
  // Until b's or c's objects make another dictionary.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(kind_.Repack(10));
  (Of(b).empty() ? c : b)->Purge();
  EXPECT_EQ(stale_, 1) << "it is at work";
  RepackAll();
  const Stream& left = b->size() > 0 ? b : c;
  EXPECT_EQ(Of(left).count(*first.begin()), 0u);
  ReadsAsBefore(left, b->size() > 0 ? "b" : "c");
}

TEST_F(KindStoreRepackTest, IndexesStayComplete) {
  const auto by_name = std::make_shared<const IndexDefinition>(
      IndexDefinition{kWidget, "name", [](const RawObject& object) {
                        return std::vector<std::string>{std::string(object.name())};
                      }});
  const Stream a = Open("a");
  const Stream b = Open("b");
  b->store()->AddIndex(by_name);
  Fill(*a, "a");
  Fill(*b, "b");
  ASSERT_EQ(b->store()->ListByIndex(*by_name, "39", "").size(), 1u);
  a->Purge();
  RepackAll();
  const ObjectPtr copy = b->store()->Get("b", "39");
  EXPECT_EQ(b->store()->ListByIndex(*by_name, "39", ""), std::vector<ObjectPtr>{copy});
  b->Remove(Large("b/39", 200));
  EXPECT_TRUE(b->store()->ListByIndex(*by_name, "39", "").empty());
}

}  // namespace
}  // namespace mandate
