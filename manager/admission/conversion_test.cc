#include "manager/admission/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/admission/testing_widgets.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The hub's text is target.name, and the spoke's is conditions[0].message.
class WidgetConverter : public Converter<HubWidget, SpokeWidget> {
 public:
  absl::Status ToHub(const SpokeWidget& from, HubWidget& to) override {
    const std::string& text = from.conditions(0).message();
    if (text == "fail") return absl::InvalidArgumentError("no such text");
    to.mutable_target()->set_name(text);
    (*to.mutable_metadata()->mutable_annotations())["converted"] = "yes";
    if (text == "bare") to.mutable_metadata()->clear_labels();
    to.mutable_metadata()->set_name("changed");
    return absl::OkStatus();
  }
  absl::Status FromHub(const HubWidget& from, SpokeWidget& to) override {
    to.add_conditions()->set_message(from.target().name());
    return absl::OkStatus();
  }
};

std::string Spoke(std::string_view text) {
  return StrCat(
      R"({"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a",)",
      R"("namespace":"ns","labels":{"l":"1"},"managedFields":[{"odd":[1]}],"newer":{"x":2}},)",
      R"("conditions":[{"message":")", text, R"("}]})");
}

class ConversionTest : public testing::Test {
 protected:
  ConversionTest() { conversions_.Add(std::make_shared<WidgetConverter>()); }

  absl::StatusOr<std::vector<std::string>> Convert(const std::string& version,
                                                   std::vector<std::string> objects) {
    return conversions_.Convert({"u", version, std::move(objects)});
  }

  Conversions conversions_;
};

TEST_F(ConversionTest, ConvertsToTheHubAndBack) {
  const auto hub = Convert("example.com/v1", {Spoke("hello"), Spoke("again")});
  ASSERT_TRUE(hub.ok()) << hub.status();
  ASSERT_EQ(hub->size(), 2);
  const Json::Value first = *ParseJson((*hub)[0]);
  EXPECT_EQ(first["apiVersion"], "example.com/v1");
  EXPECT_EQ(first["kind"], "Widget");
  EXPECT_EQ(first["target"]["name"], "hello");
  EXPECT_FALSE(first.isMember("conditions"));
  EXPECT_EQ((*ParseJson((*hub)[1]))["target"]["name"], "again");

  const auto spoke = Convert("example.com/v1alpha1", *hub);
  ASSERT_TRUE(spoke.ok()) << spoke.status();
  EXPECT_EQ((*ParseJson((*spoke)[0]))["conditions"][0]["message"], "hello");
}

TEST_F(ConversionTest, OfMetadataOnlyLabelsAndAnnotationsChange) {
  const Json::Value metadata =
      (*ParseJson((*Convert("example.com/v1", {Spoke("x")}))[0]))["metadata"];
  EXPECT_EQ(metadata["name"], "a");
  EXPECT_EQ(metadata["labels"]["l"], "1");
  EXPECT_EQ(metadata["annotations"]["converted"], "yes");
  EXPECT_EQ(metadata["managedFields"][0]["odd"][0], 1);
  EXPECT_EQ(metadata["newer"]["x"], 2) << "a member that our types do not know";
}

TEST_F(ConversionTest, MayRemoveLabels) {
  const auto hub = Convert("example.com/v1", {Spoke("bare")});
  ASSERT_TRUE(hub.ok()) << hub.status();
  EXPECT_FALSE((*ParseJson((*hub)[0]))["metadata"].isMember("labels"));
}

TEST_F(ConversionTest, TheSameVersionIsReturnedAsItIs) {
  EXPECT_THAT(*Convert("example.com/v1alpha1", {Spoke("x")}), ElementsAre(Spoke("x")));
}

TEST_F(ConversionTest, ErrorsNameTheObject) {
  const struct {
    std::string version;
    std::string object;
    std::string says;
  } rows[] = {
      {"example.com/v2", Spoke("x"),
       "Widget ns/a: there is no conversion of Widget of example.com/v2"},
      {"example.com/v1", Spoke("fail"), "Widget ns/a: no such text"},
      {"example.com/v1",
       R"({"apiVersion":"example.com/v9","kind":"Widget","metadata":{"name":"b"}})",
       "Widget b: there is no conversion of Widget of example.com/v9"},
      {"example.com/v1", R"({"kind":"Widget"})",
       "an object must have apiVersion, kind and metadata"},
      {"example.com/v1", R"({"apiVersion":1,"kind":{},"metadata":[]})",
       "an object must have apiVersion"},
      {"example.com/v1", "[]", "an object must have apiVersion"},
      {"example.com/v1",
       R"({"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":{}},"conditions":{}})",
       "Widget : "},
  };
  for (const auto& row : rows) {
    const absl::Status status = Convert(row.version, {Spoke("good"), row.object}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.object;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.says));
  }
}

TEST_F(ConversionTest, BoundsTheObjectsAndArraysOfAnObject) {
  std::string many = "[";
  for (int i = 0; i < 400'000; ++i) many += "{},[],";
  const auto converted =
      Convert("example.com/v1", {StrCat(R"({"apiVersion":"example.com/v1alpha1","kind":"Widget",)",
                                        R"("metadata":{"name":"a"},"text":)", many, "1]}")});
  EXPECT_THAT(std::string(converted.status().message()), HasSubstr("too many objects and arrays"));
}

TEST(ConversionReview, IsReadAndWritten) {
  const auto request = ParseConversionReview(
      R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u",
          "desiredAPIVersion":"example.com/v1","objects":[{"a":1},{"b":[2]}],"later":true}})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->uid, "u");
  EXPECT_EQ(request->desired_api_version, "example.com/v1");
  EXPECT_THAT(request->objects, ElementsAre(R"({"a":1})", R"({"b":[2]})"));
  EXPECT_EQ(WriteConversionReview("u", request->objects),
            R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{)"
            R"("uid":"u","convertedObjects":[{"a":1},{"b":[2]}],"result":{"status":"Success"}}})");
  EXPECT_EQ(
      WriteConversionReview("u", absl::InternalError("a \"b\"")),
      R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{)"
      R"("uid":"u","convertedObjects":[],"result":{"status":"Failure","message":"a \"b\""}}})");
}

TEST(ConversionReview, MistakesNameTheMember) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"{}", "it must be a ConversionReview of apiextensions.k8s.io/v1"},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","request":{}})",
       "it must be a ConversionReview of apiextensions.k8s.io/v1"},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"})", "has no request"},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{}})",
       "request.uid"},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u"}})",
       "request.desiredAPIVersion"},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":1}})",
       "request: "},
      {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"objects":1}})",
       "request: "},
  };
  for (const auto& [body, says] : rows) {
    const absl::Status status = ParseConversionReview(body).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr(says)) << body;
  }
}

}  // namespace
}  // namespace mandate
