#include "manager/object/object_packer.h"

#include <string>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using ObjectPtr = std::shared_ptr<const RawObject>;

ObjectPtr Make(int i, size_t lines = 40) {
  std::string annotations;
  for (size_t line = 0; line < lines; ++line) {
    annotations += StrCat(line == 0 ? "" : ",", R"("example.com/annotation-)", line, R"(":"value )",
                          (static_cast<size_t>(i) * 7919 + line) % 1000, "\"");
  }
  return *ParseRawObject(
      StrCat(R"({"metadata":{"name":"n)", i, R"(","namespace":"é\u003c","uid":"u)", i,
             R"(","resourceVersion":")", i, R"(","annotations":{)", annotations, "}}}"),
      Encoding::kJson);
}

// `unusual`: a field of the metadata follows managedFields.
ObjectPtr MakeRole(int i, bool unusual) {
  rbacv1::Role role;
  auto& metadata = *role.mutable_metadata();
  metadata.set_name(StrCat("role-", i));
  metadata.set_namespace_("web");
  metadata.set_uid(StrCat("uid-", i));
  metadata.set_resourceversion(StrCat(i));
  for (int label = 0; label < 20; ++label) {
    (*metadata.mutable_labels())[StrCat("example.com/label-", label)] = StrCat(i * 7919 + label);
  }
  if (!unusual) metadata.add_finalizers("example.com/f");
  metadata.add_managedfields()->mutable_fieldsv1()->set_raw(std::string(1000, 'm'));
  for (int rule = 0; rule < 10; ++rule) role.add_rules()->add_verbs(StrCat("verb-", rule));
  std::string bytes = role.SerializeAsString();
  if (unusual) {
    rbacv1::Role more;
    more.mutable_metadata()->add_finalizers("example.com/f");
    bytes += more.SerializeAsString();
  }
  return *ParseRawObject(bytes, Encoding::kProtobuf);
}

// Objects until one is compressed; 0: none is.
int FirstCompressed(ObjectPacker& packer, int most) {
  for (int i = 1; i <= most; ++i) {
    if (packer.Pack(Make(i))->stored_size() < Make(i)->stored_size()) return i;
  }
  return 0;
}

TEST(ObjectPackerTest, CompressesOnceItHasSeenEnough) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 100'000});
  const int first = FirstCompressed(packer, 1000);
  EXPECT_EQ(first, static_cast<int>(100'000 / Make(1)->size()) + 2);
}

TEST(ObjectPackerTest, CompressesLargeObjects) {
  ObjectPacker packer({});
  size_t compressed = 0;
  for (int i = 0; i < 40; ++i) {
    const ObjectPtr object = Make(i, 8000);
    ASSERT_GT(object->size(), 256u << 10);
    compressed += packer.Pack(object)->stored_size() < object->size();
  }
  EXPECT_GT(compressed, 0u);
}

TEST(ObjectPackerTest, APackedObjectReadsAsBefore) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  ASSERT_GT(FirstCompressed(packer, 1000), 0);
  const ObjectPtr plain = Make(123456);
  const ObjectPtr packed = packer.Pack(plain);
  EXPECT_LT(packed->stored_size(), plain->size() / 3);
  EXPECT_EQ(packed->size(), plain->size());
  EXPECT_EQ(plain->stored_size(), plain->size());
  EXPECT_EQ(packed->bytes(), plain->bytes());
  EXPECT_EQ(packed->encoding(), plain->encoding());
  EXPECT_EQ(packed->Key(), plain->Key());
  EXPECT_EQ(packed->uid(), plain->uid());
  EXPECT_EQ(packed->resource_version(), plain->resource_version());
  EXPECT_EQ(packed->Header(), plain->Header());
  EXPECT_EQ(packer.Pack(packed), packed) << "it is packed already";
}

// Its header is read without the rest.
TEST(ObjectPackerTest, APackedObjectInProtobufReadsAsBefore) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  for (const bool unusual : {false, true}) {
    ObjectPtr packed, plain;
    for (int i = 0; packed == plain; ++i) {
      ASSERT_LT(i, 1000);
      plain = MakeRole(i, unusual);
      packed = packer.Pack(plain);
    }
    EXPECT_LT(packed->stored_size(), plain->size() / 2);
    EXPECT_EQ(packed->Header(), plain->Header());
    EXPECT_EQ(packed->Header().labels.size(), 20u);
    EXPECT_EQ(packed->Header().finalizers.size(), 1u);
    EXPECT_EQ(packed->bytes(), plain->bytes());
    EXPECT_EQ(packed->Key(), plain->Key());
    EXPECT_EQ(packed->uid(), plain->uid());
    EXPECT_EQ(packed->resource_version(), plain->resource_version());
  }
}

// The place of the metadata in the bytes is the same for both dictionaries.
TEST(ObjectPackerTest, ARepackedObjectInProtobufReadsAsBefore) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  const auto compressed = [&] {
    for (int i = 0; i < 1000; ++i) {
      const ObjectPtr plain = MakeRole(i, false);
      if (ObjectPtr packed = packer.Pack(plain); packed != plain) return packed;
    }
    return ObjectPtr();
  };
  const ObjectPtr first = compressed();
  ASSERT_NE(first, nullptr);
  packer.Forget([](const ObjectKey&) { return true; });
  ASSERT_NE(compressed(), nullptr);
  const ObjectPtr again = packer.Repack(first);
  EXPECT_FALSE(packer.IsStale(*again));
  EXPECT_LT(again->stored_size(), again->size() / 2);
  EXPECT_EQ(again->bytes(), first->bytes());
  EXPECT_EQ(again->Header(), first->Header());
  EXPECT_EQ(again->Header().labels.size(), 20u);
  EXPECT_EQ(packer.Repack(again)->bytes(), first->bytes()) << "also of one that is not stale";
}

bool All(const ObjectKey&) { return true; }
bool None(const ObjectKey&) { return false; }
// Of Make().
auto Is(int i) {
  return [i](const ObjectKey& place) { return place == ObjectKey{"é<", StrCat("n", i)}; };
}

TEST(ObjectPackerTest, DropsItsDictionaryWithAnObjectThatIsInIt) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  const int first = FirstCompressed(packer, 1000);
  ASSERT_GT(first, 1);
  ObjectPtr packed = packer.Pack(Make(first + 1));
  packer.Forget(None);
  packer.Forget(Is(first));
  EXPECT_FALSE(packer.HasStale()) << "it was the first one that was not a sample";
  EXPECT_FALSE(packer.IsStale(*packed));
  packer.Forget(Is(first - 1));
  EXPECT_TRUE(packer.HasStale());
  EXPECT_TRUE(packer.IsStale(*packed));
  EXPECT_FALSE(packer.IsStale(*Make(1))) << "it is not compressed";
  EXPECT_EQ(FirstCompressed(packer, 1000), first) << "another dictionary, of as many samples";
  EXPECT_TRUE(packer.IsStale(*packed));
  const ObjectPtr again = packer.Repack(packed);
  EXPECT_FALSE(packer.IsStale(*again));
  EXPECT_EQ(again->Key(), packed->Key());
  EXPECT_EQ(again->uid(), packed->uid());
  EXPECT_EQ(again->resource_version(), packed->resource_version());
  EXPECT_EQ(again->Header(), packed->Header());
  EXPECT_LT(again->stored_size(), again->size() / 3);
  EXPECT_EQ(again->bytes(), packed->bytes());
  EXPECT_TRUE(packer.HasStale()) << "the former object exists";
  packed = nullptr;
  EXPECT_FALSE(packer.HasStale());
}

TEST(ObjectPackerTest, RepacksWithoutADictionaryUntilThereIsOne) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  ASSERT_GT(FirstCompressed(packer, 1000), 1);
  const ObjectPtr packed = packer.Pack(Make(7));
  packer.Forget(All);
  const ObjectPtr again = packer.Repack(packed);
  EXPECT_EQ(again->dictionary(), nullptr);
  EXPECT_EQ(again->stored_size(), again->size());
  EXPECT_EQ(again->bytes(), packed->bytes());
}

TEST(ObjectPackerTest, ForgetsItsSamples) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  ObjectPacker fresh({.min_object_bytes = 100, .sample_bytes = 50'000});
  const int first = FirstCompressed(fresh, 1000);
  ASSERT_EQ(FirstCompressed(packer, first - 2), 0) << "it has almost all samples";
  packer.Forget(All);
  EXPECT_EQ(FirstCompressed(packer, 1000), first);
}

TEST(ObjectPackerTest, ForgetsTheSamplesOfItsNextDictionaryToo) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  const int first = FirstCompressed(packer, 1000);
  packer.Forget(All);
  (void)packer.Pack(Make(1));
  packer.Forget(All);
  EXPECT_EQ(FirstCompressed(packer, 1000), first);
}

TEST(ObjectPackerTest, KeepsTheSamplesOfOthers) {
  ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
  ObjectPacker fresh({.min_object_bytes = 100, .sample_bytes = 50'000});
  const int first = FirstCompressed(fresh, 1000);
  ASSERT_EQ(FirstCompressed(packer, first - 2), 0) << "it has almost all samples";
  packer.Forget([](const ObjectKey& place) { return Is(1)(place) || Is(3)(place); });
  EXPECT_EQ(FirstCompressed(packer, 1000), 4) << "two and the last one were missing";
  EXPECT_FALSE(packer.HasStale());
  const ObjectPtr packed = packer.Pack(Make(first + 1));
  packer.Forget(Is(4));
  EXPECT_TRUE(packer.HasStale()) << "its samples are known";
}

// They hold the dictionary.
TEST(ObjectPackerTest, ObjectsOutliveThePacker) {
  ObjectPtr packed;
  {
    ObjectPacker packer({.min_object_bytes = 100, .sample_bytes = 50'000});
    ASSERT_GT(FirstCompressed(packer, 1000), 0);
    packed = packer.Pack(Make(7));
  }
  EXPECT_EQ(packed->bytes(), Make(7)->bytes());
}

TEST(ObjectPackerTest, LeavesObjectsThatWouldNotGetSmaller) {
  ObjectPacker packer({.min_object_bytes = 1000, .sample_bytes = 100'000});
  ASSERT_GT(FirstCompressed(packer, 1000), 0);
  const ObjectPtr small = Make(1, 10);
  ASSERT_LT(small->size(), 1000u);
  EXPECT_EQ(packer.Pack(small), small);
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    state = state * 1664525 + 1013904223;
    noise += static_cast<char>('!' + state % 91);
  }
  std::erase_if(noise, [](char c) { return c == '"' || c == '\\'; });
  const ObjectPtr random = *ParseRawObject(
      StrCat(R"({"metadata":{"name":"n"},"data":")", noise, "\"}"), Encoding::kJson);
  EXPECT_EQ(packer.Pack(random), random);
}

TEST(ObjectPackerTest, CanBeSwitchedOff) {
  ObjectPacker packer({.min_object_bytes = SIZE_MAX, .sample_bytes = 1});
  EXPECT_EQ(FirstCompressed(packer, 500), 0);
}

}  // namespace
}  // namespace mandate
