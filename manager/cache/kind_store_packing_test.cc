// What a KindStore holds of large objects.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "manager/cache/kind_store.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class Unheard : public KindStore::Listener {
 public:
  void OnObjects(const std::vector<ObjectEvent>&) override {}
  void OnReplaced(const std::shared_ptr<const ObjectSet>&) override {}
};

// An object of `bytes` and more.
ObjectPtr Large(std::string_view key, int version, size_t bytes = 3000) {
  std::string json = WidgetJson(key, version);
  std::string data;
  for (int i = 0; data.size() < bytes; ++i) data += StrCat("line ", i, " of ", version, "; ");
  json.insert(json.size() - 1, StrCat(R"(,"data":")", data, "\""));
  return *ParseRawObject(json, Encoding::kJson);
}

TEST(KindStorePacking, HoldsLargeObjectsCompressed) {
  KindStore kind(kWidget, {.packing = {.sample_bytes = 50'000}});
  Unheard unheard;
  const auto stream = kind.Open({kWidget, "", ""}, unheard, 3);
  ReflectorTarget::Content content;
  for (int i = 1; i <= 100; ++i) content.Put(stream->Pack(Large(StrCat("a/", i), i)));
  const ObjectBytes bytes = content.bytes;
  EXPECT_GT(bytes.encoded, 300'000u);
  EXPECT_LT(bytes.stored, 150'000u);
  stream->Replace(std::move(content), "100", 1000);
  EXPECT_EQ(stream->bytes().stored, bytes.stored);
  EXPECT_EQ(stream->bytes().encoded, bytes.encoded);
  const ObjectPtr held = stream->store()->Get("a", "99");
  EXPECT_EQ(held->bytes(), Large("a/99", 99)->bytes());
  EXPECT_EQ(stream->Pack(Large("a/99", 99)), held) << "a list brings what is here already";
  EXPECT_NE(stream->Pack(Large("a/99", 101)), held);
  EXPECT_EQ(Text(stream->Put(stream->Pack(Large("a/99", 101)))), "~a/99@101");
  stream->Remove(Large("a/99", 102));
  for (const ObjectPtr& object : stream->store()->List()) stream->Remove(object);
  EXPECT_EQ(stream->bytes().stored, 0u);
  EXPECT_EQ(stream->bytes().encoded, 0u);
}

TEST(KindStorePacking, TransformsObjectsBeforeTheyAreStored) {
  int calls = 0;
  KindStore kind(kWidget, {.packing = {.sample_bytes = 50'000},
                           .transform = [&](const KindInfo& of, ObjectPtr object) {
                             EXPECT_EQ(of, kWidget);
                             ++calls;
                             if (object->name() == "null") return ObjectPtr();
                             if (object->name() == "other") return Widget("a/another", 1);
                             if (object->name() == "renamed") {
                               return Widget("a/new-name", 1, object->uid());
                             }
                             return Widget(StrCat(object->ns(), "/", object->name()),
                                           *ParseResourceVersion(object->resource_version()));
                           }});
  Unheard unheard;
  const auto stream = kind.Open({kWidget, "", ""}, unheard, 3);
  const ObjectPtr packed = stream->Pack(Large("a/x", 1));
  EXPECT_EQ(packed->bytes(), Widget("a/x", 1)->bytes());
  stream->Put(packed);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(stream->Pack(Large("a/x", 1)), packed) << "it is here already";
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(stream->Pack(Large("a/x", 2))->bytes(), Widget("a/x", 2)->bytes());
  for (const char* key : {"a/null", "a/other", "a/renamed"}) {
    EXPECT_EQ(stream->Pack(Large(key, 1))->bytes(), Large(key, 1)->bytes())
        << "the identity must stay";
  }
}

// Only the key and the version; of "other" another UID, of "moved" another namespace, of "older"
// another version.
ObjectPtr Small(ObjectPtr object) {
  const std::string_view name = object->name();
  const auto version = static_cast<int>(*ParseResourceVersion(object->resource_version()));
  return Widget(StrCat(name == "moved" ? "b" : object->ns(), "/", name),
                name == "older" ? version - 1 : version,
                name == "other" ? "another-uid" : object->uid());
}

TEST(KindStorePacking, HoldsTheTrimmedObjectsOfAKind) {
  KindInfo trimmed = kWidget;
  trimmed.trim = Small;
  KindStore kind(trimmed);
  Unheard unheard;
  const auto stream = kind.Open({trimmed, "", ""}, unheard, 3);
  EXPECT_EQ(Text(stream->Put(stream->Pack(Large("a/x", 1)))), "+a/x@1");
  EXPECT_EQ(stream->store()->Get("a", "x")->bytes(), Widget("a/x", 1)->bytes());
  EXPECT_LT(stream->bytes().encoded, 300u);
  EXPECT_EQ(Text(stream->Put(stream->Pack(Large("a/x", 2)))), "~a/x@2")
      << "a change of what is not held is an event, too";
  for (const char* key : {"a/other", "a/moved", "a/older"}) {
    EXPECT_EQ(stream->Pack(Large(key, 1))->bytes(), Large(key, 1)->bytes()) << key;
  }
}

TEST(KindStorePacking, LeavesSecretsAndSmallObjectsAsTheyAre) {
  constexpr KindInfo kSecret = {
      .group = "", .version = "v1", .kind = "Secret", .plural = "secrets"};
  for (const auto& [info, size] : {std::pair(kSecret, 3000), std::pair(kWidget, 1000)}) {
    KindStore kind(info, {.packing = {.sample_bytes = 10'000}});
    Unheard unheard;
    const auto stream = kind.Open({info, "", ""}, unheard, 3);
    for (int i = 1; i <= 100; ++i) {
      const ObjectPtr object = Large(StrCat("a/", i), i, size);
      EXPECT_EQ(stream->Pack(object), object);
    }
  }
}

TEST(KindStorePacking, ATrimmedObjectIsTransformedUnderItsHeldName) {
  KindInfo trimmed = kWidget;
  trimmed.trim = [](ObjectPtr object) {
    return Widget(StrCat(object->ns(), "/", object->name().substr(0, 3)),
                  *ParseResourceVersion(object->resource_version()), object->uid(), "trimmed=yes");
  };
  int calls = 0;
  KindStore kind(trimmed, {.transform = [&](const KindInfo&, ObjectPtr object) {
                   ++calls;
                   EXPECT_EQ(object->name(), "lon");
                   return Widget(StrCat(object->ns(), "/", object->name()),
                                 *ParseResourceVersion(object->resource_version()), object->uid());
                 }});
  Unheard unheard;
  const auto stream = kind.Open({trimmed, "", ""}, unheard, 3);
  const ObjectPtr packed = stream->Pack(Large("a/long", 1));
  EXPECT_EQ(packed->bytes(), Widget("a/lon", 1, "uid-long")->bytes());
  stream->Put(packed);
  EXPECT_EQ(stream->Pack(Large("a/long", 1)), packed) << "it is here already";
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace mandate
