#include "rbacgen/emit/crd/unmarked_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

TEST(IsOptionalUnmarked, KnowsTheUnmarkedOptionalFields) {
  const struct {
    std::string package, message, field;
    bool want;
  } kCases[] = {
      {"k8s.io.api.core.v1", "ServiceSpec", "ports", true},
      {"k8s.io.api.core.v9beta1", "ServiceSpec", "ports", true},
      {"k8s.io.api.core.v1", "ServiceSpec", "type", false},
      {"k8s.io.api.core.v1", "PodSpec", "ports", false},
      {"k8s.io.api.events.v1", "ServiceSpec", "ports", false},
      {"k8s.io.api.events.v1", "Event", "action", true},
      {"k8s.io.apimachinery.pkg.apis.meta.v1", "ListMeta", "continue", true},
      {"example.core.v1", "ServiceSpec", "ports", false},
      {"core", "ServiceSpec", "ports", false},
      {"", "ServiceSpec", "ports", false},
  };
  for (const auto& c : kCases) {
    google::protobuf::FileDescriptorProto file;
    file.set_name("x.proto");
    file.set_package(c.package);
    auto& message = *file.add_message_type();
    message.set_name(c.message);
    auto& field = *message.add_field();
    field.set_name(c.field);
    field.set_number(1);
    field.set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
    field.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    google::protobuf::DescriptorPool pool;
    const auto* built = pool.BuildFile(file);
    ASSERT_NE(built, nullptr);
    EXPECT_EQ(IsOptionalUnmarked(*built->message_type(0)->field(0)), c.want)
        << c.package << " " << c.message << "." << c.field;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
