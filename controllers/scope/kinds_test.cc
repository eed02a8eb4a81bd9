#include "controllers/scope/kinds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/mandate/options.pb.h"
#include "google/protobuf/descriptor.h"

namespace mandate {
namespace {

// The CRD is generated from the .proto file, but requests use KindOf, so both must agree.
template <Object T>
void ExpectOptionsAgree() {
  constexpr KindInfo kind = KindOf<T>::value;
  const google::protobuf::Descriptor& message = *T::descriptor();
  SCOPED_TRACE(message.full_name());
  ASSERT_TRUE(message.options().HasExtension(api::resource));
  const api::Resource& resource = message.options().GetExtension(api::resource);
  EXPECT_EQ(resource.group(), kind.group);
  EXPECT_EQ(resource.version(), kind.version);
  EXPECT_EQ(resource.plural(), kind.plural);
  EXPECT_EQ(resource.scope(), kind.scope == Scope::kCluster ? "Cluster" : "Namespaced");
  EXPECT_EQ(message.name(), kind.kind);
  EXPECT_TRUE(resource.served());
  EXPECT_TRUE(resource.statussubresource()) << "the reconcilers patch it";
  EXPECT_EQ(kind.encoding, Encoding::kJson) << "an API server serves custom resources as JSON only";
}

TEST(KindsTest, OptionsAndConstantsAgree) {
  ExpectOptionsAgree<operatorsv1alpha1::ScopeTemplate>();
  ExpectOptionsAgree<operatorsv1alpha1::ScopeInstance>();
}

TEST(KindsTest, EveryResourceOfTheFileIsAKind) {
  const google::protobuf::FileDescriptor& file =
      *operatorsv1alpha1::ScopeTemplate::descriptor()->file();
  std::set<std::string> resources;
  for (int i = 0; i < file.message_type_count(); ++i) {
    const google::protobuf::Descriptor& message = *file.message_type(i);
    if (message.options().HasExtension(api::resource)) resources.insert(message.name());
  }
  EXPECT_EQ(resources, (std::set<std::string>{"ScopeInstance", "ScopeTemplate"}));
}

}  // namespace
}  // namespace mandate
