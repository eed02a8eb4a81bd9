#include "controllers/memcached/bar/kind.h"

#include <gtest/gtest.h>

#include "api/mandate/options.pb.h"
#include "google/protobuf/descriptor.h"

namespace mandate::bar {
namespace {

// The CRD is made from the .proto file, requests from KindOf.
TEST(KindTest, OptionsAndConstantsAgree) {
  constexpr KindInfo kind = KindOf<v1::Bar>::value;
  const google::protobuf::Descriptor& message = *v1::Bar::descriptor();
  ASSERT_TRUE(message.options().HasExtension(api::resource));
  const api::Resource& resource = message.options().GetExtension(api::resource);
  EXPECT_EQ(resource.group(), kind.group);
  EXPECT_EQ(resource.version(), kind.version);
  EXPECT_EQ(resource.plural(), kind.plural);
  EXPECT_EQ(resource.scope(), kind.scope == Scope::kCluster ? "Cluster" : "Namespaced");
  EXPECT_EQ(message.name(), kind.kind);
  EXPECT_TRUE(resource.served());
  EXPECT_TRUE(resource.statussubresource()) << "the reconciler patches it";
}

}  // namespace
}  // namespace mandate::bar
