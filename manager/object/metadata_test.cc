#include "manager/object/metadata.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "manager/object/kinds/core_v1.h"
#include "manager/object/object_codec.h"
#include "manager/object/raw_object.h"

namespace mandate {
namespace {

using corev1::Secret;

// There is no Secret in it.
template <class T>
concept HasData = requires(T t) {
  t.data();
};
static_assert(HasData<Secret> && !HasData<Metadata<Secret>>);
static_assert(!Object<Metadata<Secret>> && Readable<Metadata<Secret>> && Readable<Secret>);
static_assert(!std::is_convertible_v<Metadata<Secret>, Secret>);
static_assert(!std::is_convertible_v<Secret, Metadata<Secret>>);
// And none of any of its parts.
template <class T>
concept HasMetadataOfItself = requires {
  typename Metadata<Metadata<T>>;
};
static_assert(!HasMetadataOfItself<Secret>);
static_assert(KindOf<Metadata<Secret>>::value != KindOf<Secret>::value);
static_assert(SameResource(KindOf<Metadata<Secret>>::value, KindOf<Secret>::value));

Secret MakeSecret() {
  Secret secret;
  secret.mutable_metadata()->set_name("x");
  secret.mutable_metadata()->set_namespace_("a");
  (*secret.mutable_metadata()->mutable_labels())["app"] = "web";
  (*secret.mutable_data())["password"] = "plaintext";
  return secret;
}

TEST(Metadata, IsReadFromAPartialAndFromAWholeObject) {
  Metadata<Secret> partial;
  *partial.mutable_metadata() = MakeSecret().metadata();
  for (const Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    for (const auto& bytes :
         {EncodeObject(MakeSecret(), encoding), EncodeObject(partial.message(),
                                                             {.group = "meta.k8s.io",
                                                             .version = "v1",
                                                             .kind = "PartialObjectMetadata",
                                                             .plural = ""},
                                                             encoding)}) {
      ASSERT_TRUE(bytes.ok());
      const auto raw = ParseRawObject(*bytes, encoding);
      ASSERT_TRUE(raw.ok()) << raw.status();
      const auto metadata = (*raw)->Decode<Metadata<Secret>>();
      ASSERT_TRUE(metadata.ok()) << metadata.status();
      EXPECT_EQ(KeyOf(*metadata).ToString(), "a/x");
      EXPECT_EQ(metadata->metadata().labels().at("app"), "web");
      // What the type does not have is not kept, either.
      EXPECT_EQ(metadata->message().SerializeAsString().find("plaintext"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace mandate
