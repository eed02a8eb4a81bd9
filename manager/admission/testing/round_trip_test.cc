#include "manager/admission/testing/round_trip.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "k8s.io/api/core/v1/generated.pb.h"

namespace mandate {

using Hub = ::k8s::io::api::core::v1::ConfigMap;
using Spoke = ::k8s::io::api::core::v1::Secret;
template <>
struct KindOf<Hub> {
  static constexpr KindInfo value{"example.com", "v1", "Box", "boxes"};
};
template <>
struct KindOf<Spoke> {
  static constexpr KindInfo value{"example.com", "v1beta1", "Box", "boxes"};
};

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kType[] = "example.com/type";

// Keeps the spoke's type, which the hub does not have, in an annotation.
class BoxConverter : public Converter<Hub, Spoke> {
 public:
  absl::Status ToHub(const Spoke& from, Hub& to) override {
    if (fails) return absl::InvalidArgumentError("no hub");
    *to.mutable_data() = from.stringdata();
    if (keeps_data) *to.mutable_binarydata() = from.data();
    to.set_immutable(from.immutable());
    if (keeps_type && from.has_type()) {
      (*to.mutable_metadata()->mutable_annotations())[kType] = from.type();
    }
    return absl::OkStatus();
  }
  absl::Status FromHub(const Hub& from, Spoke& to) override {
    *to.mutable_stringdata() = from.data();
    *to.mutable_data() = from.binarydata();
    to.set_immutable(from.immutable());
    auto& annotations = *to.mutable_metadata()->mutable_annotations();
    const auto type = annotations.find(kType);
    if (type == annotations.end()) return absl::OkStatus();
    to.set_type(type->second);
    if (removes_annotation) annotations.erase(type);
    return absl::OkStatus();
  }

  bool keeps_data = true, keeps_type = true, removes_annotation = true, fails = false;
};

TEST(RoundTripTest, FillsEveryField) {
  google::protobuf::DescriptorProto message;
  FillFields(message);
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  EXPECT_EQ(static_cast<int>(fields.size()), message.GetDescriptor()->field_count());
  EXPECT_EQ(message.field_size(), 2);
  EXPECT_NE(message.field(0).name(), message.field(1).name());
  EXPECT_TRUE(message.field(1).options().deprecated());
  ASSERT_EQ(message.nested_type_size(), 2);
  EXPECT_EQ(message.nested_type(0).ByteSizeLong(), 0u) << "of its own type";
  const auto spoke = Filled<Spoke>();
  EXPECT_EQ(spoke.data().size(), 2u);
  EXPECT_EQ(spoke.metadata().name(), "filled");
  EXPECT_FALSE(spoke.metadata().has_uid());
}

TEST(RoundTripTest, NothingIsLost) {
  BoxConverter converter;
  EXPECT_EQ(LostByHub(converter, Filled<Hub>()), "");
  EXPECT_EQ(LostBySpoke(converter, Filled<Spoke>()), "");
  Hub hub;
  hub.set_immutable(true);
  EXPECT_EQ(LostByHub(converter, hub), "") << "it has no metadata";
}

TEST(RoundTripTest, NamesWhatIsLost) {
  BoxConverter converter;
  converter.keeps_type = false;
  EXPECT_EQ(LostByHub(converter, Filled<Hub>()), "") << "the hub has no type";
  EXPECT_THAT(LostBySpoke(converter, Filled<Spoke>()),
              AllOf(HasSubstr("deleted: type"), Not(HasSubstr("data"))));
  converter.keeps_data = false;
  EXPECT_THAT(LostByHub(converter, Filled<Hub>()), HasSubstr("deleted: binaryData"));
}

TEST(RoundTripTest, AnAnnotationThatStaysIsADifference) {
  BoxConverter converter;
  converter.removes_annotation = false;
  EXPECT_THAT(LostBySpoke(converter, Filled<Spoke>()), HasSubstr("added: metadata.annotations"));
}

TEST(RoundTripTest, AnErrorIsReturned) {
  BoxConverter converter;
  converter.fails = true;
  EXPECT_THAT(LostByHub(converter, Hub()), HasSubstr("ToHub: INVALID_ARGUMENT: no hub"));
  EXPECT_THAT(LostBySpoke(converter, Spoke()), HasSubstr("ToHub: INVALID_ARGUMENT: no hub"));
}

}  // namespace
}  // namespace mandate
