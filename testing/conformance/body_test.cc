#include "testing/conformance/body.h"

#include <gtest/gtest.h>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

constexpr char kConfigMap[] =
    R"({"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"a"}})";

TEST(BodyTest, GoesThroughBothEncodings) {
  for (const char* type : {"application/json", "application/vnd.kubernetes.protobuf"}) {
    const auto bytes = EncodeBody(*ParseJson(kConfigMap), type);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ(bytes->starts_with("{"), std::string(type) == "application/json");
    const auto back = DecodeBody(*bytes, type);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(WriteJson(*back), kConfigMap);
  }
}

TEST(BodyTest, SendsTextsAsTheyAre) {
  EXPECT_EQ(*EncodeBody("{broken", "application/json"), "{broken");
}

TEST(BodyTest, RefusesKindsAndMembersThatAreNone) {
  for (const char* json : {R"({"apiVersion":"v1","kind":"Nothing"})", R"({"kind":"ConfigMap"})",
                           R"({"apiVersion":"v1","kind":"ConfigMap","x":1})"}) {
    EXPECT_FALSE(EncodeBody(*ParseJson(json), kProtobufType).ok()) << json;
  }
  EXPECT_FALSE(DecodeBody("Not Found", "text/plain").ok());
}

TEST(BodyTest, TakesWholeEventsOnly) {
  const std::string line = R"({"object":{"a":1},"type":"ADDED"})";
  std::string json = line + "\n{\"type\"";
  EXPECT_EQ(WriteJson(**TakeEvent(json, "application/json")), line);
  EXPECT_FALSE(TakeEvent(json, "application/json")->has_value());

  k8s::io::apimachinery::pkg::apis::meta::v1::WatchEvent event;
  event.set_type("ADDED");
  event.mutable_object()->set_raw(*EncodeBody(*ParseJson(kConfigMap), kProtobufType));
  const std::string bytes = event.SerializeAsString();
  std::string frames = {0, 0, 0, static_cast<char>(bytes.size())};
  frames += bytes.substr(0, 9);
  EXPECT_FALSE(TakeEvent(frames, kProtobufType)->has_value());
  frames += bytes.substr(9) + '\0';
  const auto taken = TakeEvent(frames, kProtobufType);
  ASSERT_TRUE(taken.ok() && taken->has_value());
  EXPECT_EQ((**taken)["type"], "ADDED");
  EXPECT_EQ(WriteJson((**taken)["object"]), kConfigMap);
  EXPECT_EQ(frames.size(), 1u);
}

}  // namespace
}  // namespace mandate::conformance
