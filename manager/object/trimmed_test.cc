#include "manager/object/trimmed.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "manager/object/kinds/core_v1.h"
#include "manager/object/metadata.h"

namespace mandate {
namespace {

using ObjectPtr = std::shared_ptr<const RawObject>;

ObjectPtr Same(ObjectPtr object) { return object; }
ObjectPtr Nothing(ObjectPtr) { return nullptr; }

TEST(TrimmedTest, IsAKindOfItsOwnForEachFunction) {
  constexpr KindInfo kPod = KindOf<corev1::Pod>::value;
  constexpr KindInfo kSame = KindOf<Trimmed<corev1::Pod, Same>>::value;
  constexpr KindInfo kNothing = KindOf<Trimmed<corev1::Pod, Nothing>>::value;
  EXPECT_EQ(kSame.trim, &Same);
  EXPECT_TRUE(SameResource(kSame, kPod));
  EXPECT_FALSE(kSame == kPod);
  EXPECT_FALSE(kSame == kNothing);
  EXPECT_FALSE(kSame.metadata_only);
  EXPECT_TRUE((KindOf<Trimmed<Metadata<corev1::Pod>, Same>>::value.metadata_only));
}

// It can be watched, but a T that lacks fields must not be taken for the whole object.
TEST(TrimmedTest, IsNotReadByItsType) {
  static_assert(Watchable<Trimmed<corev1::Pod, Same>>);
  static_assert(!Readable<Trimmed<corev1::Pod, Same>>);
}

}  // namespace
}  // namespace mandate
