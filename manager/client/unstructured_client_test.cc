// On the double, whose answers are rows of testing/conformance (crud.yaml, patch.yaml, apply.yaml,
// delete.yaml).
#include "manager/client/unstructured_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/client/testing/client_fixture.h"
#include "manager/client/testing/double_fixture.h"
#include "manager/core/testing/must.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const ObjectKey kKey = {"default", "a"};
const DynamicKind kMaps = {"", "v1", "ConfigMap", "configmaps"};

Json::Value Map(const std::string& value, const std::string& more = "") {
  return *ParseJson(R"({"metadata":{"namespace":"default","name":"a")" + more +
                    R"(},"data":{"k":")" + value + "\"}}");
}

class UnstructuredClientTest : public DoubleFixture {
 protected:
  UnstructuredClientTest() { Connect(rest_); }

  std::vector<OwnWrite> Noted() { return rest_.own_writes().Pending(kMaps.info(), "", ""); }
  std::string Version(const Json::Value& object) {
    return object["metadata"]["resourceVersion"].asString();
  }

  FakeRestClient rest_{loop_, "scope"};
  UnstructuredClient client_{rest_};
};

TEST_F(UnstructuredClientTest, CreatesReadsUpdatesAndDeletes) {
  const Json::Value made = Must(client_.Create(context_, kMaps.info(), Map("v")));
  EXPECT_EQ(made["kind"], "ConfigMap");
  EXPECT_EQ(made["apiVersion"], "v1");
  Json::Value read = Must(client_.Get(context_, kMaps.info(), kKey));
  EXPECT_EQ(read, made);
  read["data"]["k"] = "w";
  const Json::Value updated = Must(client_.Update(context_, kMaps.info(), read));
  EXPECT_EQ(updated["data"]["k"], "w");
  ASSERT_EQ(Noted().size(), 1u);
  EXPECT_EQ(Noted()[0].key, kKey);
  EXPECT_EQ(Noted()[0].resource_version, Version(updated));
  EXPECT_TRUE(IsConflict(client_.Update(context_, kMaps.info(), made).status())) << "it is older";
  EXPECT_EQ(Must(client_.Delete(context_, kMaps.info(), kKey)), DeleteResult::kGone);
  EXPECT_TRUE(IsNotFound(client_.Get(context_, kMaps.info(), kKey).status()));
}

TEST_F(UnstructuredClientTest, PatchesAndApplies) {
  const Json::Value applied = Must(client_.Apply(context_, kMaps.info(), Map("v")));
  EXPECT_EQ(applied["metadata"]["managedFields"][0]["manager"], "scope");
  EXPECT_EQ(applied["metadata"]["managedFields"][0]["operation"], "Apply");
  const Json::Value patched = Must(client_.Patch(
      context_, kMaps.info(), kKey, MergePatch::Unconditional(R"({"data":{"l":"m"}})")));
  EXPECT_EQ(patched["data"]["k"], "v");
  EXPECT_EQ(patched["data"]["l"], "m");
  EXPECT_TRUE(IsConflict(
      client_.Apply(context_, kMaps.info(), Map("w"), {.field_manager = "other", .force = false})
          .status()));
}

TEST_F(UnstructuredClientTest, ListsItemsThatNameTheirKind) {
  for (const char* name : {"b", "c"}) {
    Json::Value map = Map("v", R"(,"labels":{"app":"x"})");
    map["metadata"]["name"] = name;
    ASSERT_TRUE(client_.Create(context_, kMaps.info(), map).ok());
  }
  const auto list =
      client_.List(context_, kMaps.info(), {.ns = "default", .label_selector = "app=x"});
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[0]["metadata"]["name"], "b");
  EXPECT_EQ(list->items[1]["kind"], "ConfigMap");
  EXPECT_NE(list->resource_version, "");
}

TEST_F(UnstructuredClientTest, ADryRunStoresAndNotesNothing) {
  EXPECT_TRUE(client_.Create(context_, kMaps.info(), Map("v"), {.dry_run = true}).ok());
  EXPECT_TRUE(client_.Apply(context_, kMaps.info(), Map("v"), {.dry_run = true}).ok());
  EXPECT_TRUE(IsNotFound(client_.Get(context_, kMaps.info(), kKey).status()));
  EXPECT_TRUE(Noted().empty());
}

// Nothing is sent.
TEST_F(UnstructuredClientTest, RejectsWhatIsNoObject) {
  before_ = [](const RestRequest& request) { ADD_FAILURE() << request.target; };
  const struct {
    Json::Value object;
    const char* message;
  } kCases[] = {
      {Json::Value(Json::arrayValue), "the ConfigMap to write is not a JSON object"},
      {*ParseJson(R"({"metadata":{"name":"a"}})"), "has no namespace"},
      {*ParseJson(R"({"metadata":{"namespace":"default"}})"), "the name of the ConfigMap is empty"},
      {*ParseJson(R"({"metadata":7})"), "the name of the ConfigMap is empty"},
      {Map("v"), "has no resourceVersion"},
  };
  for (const auto& c : kCases) {
    const absl::Status updated = client_.Update(context_, kMaps.info(), c.object).status();
    EXPECT_EQ(updated.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(updated.message(), HasSubstr(c.message));
  }
}

struct GuardedUnstructuredClientTest : ClientFixture {};

TEST_F(GuardedUnstructuredClientTest, ACallWithoutAMarkerIsNotSent) {
  options.mandate = &kNothing;
  options.guard = GuardMode::kEnforce;
  UnstructuredClient objects(client());
  const DynamicKind widgets = {"example.com", "v1", "Widget", "widgets"};
  const absl::Status read = objects.Get(In(absl::Minutes(1)), widgets.info(), kKey).status();
  EXPECT_EQ(read.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(read.message(),
              HasSubstr("// +kubebuilder:rbac:groups=example.com,resources=widgets"));
  for (const RecordedRequest& request : fake.requests()) {
    EXPECT_THAT(request.target, Not(HasSubstr("widgets")));
  }
}

}  // namespace
}  // namespace mandate
