// On the double, whose answers are rows of testing/conformance (crud.yaml, patch.yaml, apply.yaml,
// delete.yaml).
#include "manager/client/write_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/testing/double_fixture.h"
#include "manager/core/testing/must.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kScope = {.component = "scope", .rules = kRules};

const ObjectKey kKey = {"default", "a"};

ConfigMap Map(std::string value) {
  ConfigMap map;
  map.mutable_metadata()->set_namespace_("default");
  map.mutable_metadata()->set_name("a");
  (*map.mutable_data())["k"] = std::move(value);
  return map;
}

class WriteOptionsTest : public DoubleFixture {
 protected:
  WriteOptionsTest() { Connect(rest_); }

  ConfigMap Stored() { return Must(client_.Get<ConfigMap>(context_, kKey)); }
  std::vector<OwnWrite> Noted() {
    return rest_.own_writes().Pending(KindOf<ConfigMap>::value, "", "");
  }

  FakeRestClient rest_{loop_, "scope"};
  Client<kScope> client_ = *Client<kScope>::Create(rest_);
};

TEST_F(WriteOptionsTest, ADryRunOfACreationStoresNothing) {
  const ConfigMap made = Must(client_.Create(context_, Map("v"), {.dry_run = true}));
  EXPECT_THAT(made.data(), ElementsAre(Pair("k", "v")));
  EXPECT_NE(made.metadata().uid(), "");
  EXPECT_TRUE(IsNotFound(client_.Get<ConfigMap>(context_, kKey).status()));
  const ConfigMap applied = Must(client_.Apply(context_, Map("v"), {.dry_run = true}));
  EXPECT_THAT(applied.data(), ElementsAre(Pair("k", "v")));
  EXPECT_TRUE(IsNotFound(client_.Get<ConfigMap>(context_, kKey).status()));
  EXPECT_TRUE(Noted().empty());
  ASSERT_TRUE(client_.Create(context_, Map("v")).ok());
  EXPECT_EQ(Noted().size(), 1u) << "a real one is noted";
}

TEST_F(WriteOptionsTest, ADryRunOfAChangeStoresNothingAndMayBeRepeated) {
  ASSERT_TRUE(client_.Create(context_, Map("v")).ok());
  rest_.own_writes().Forget(KindOf<ConfigMap>::value, Noted());
  const ConfigMap before = Stored();
  const auto patch = MergePatch::Unconditional(R"({"data":{"k":"w"}})");
  ConfigMap changed = before;
  (*changed.mutable_data())["k"] = "w";
  int writes = 0;
  before_ = [&](const RestRequest& request) {
    if (request.method == "GET") return;
    ++writes;
    EXPECT_TRUE(request.idempotent) << request.method;
  };
  const std::function<absl::StatusOr<ConfigMap>()> kCalls[] = {
      [&] { return client_.Update(context_, changed, {.dry_run = true}); },
      [&] { return client_.Patch<ConfigMap>(context_, kKey, patch, {.dry_run = true}); },
      [&] { return client_.Apply(context_, Map("w"), {.dry_run = true}); },
  };
  for (const auto& call : kCalls) {
    EXPECT_THAT(Must(call()).data(), ElementsAre(Pair("k", "w")));
    EXPECT_EQ(Stored().SerializeAsString(), before.SerializeAsString());
  }
  EXPECT_EQ(Must(client_.Delete<ConfigMap>(context_, kKey, {.dry_run = true})),
            DeleteResult::kGone);
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default", .dry_run = true})), 1u);
  EXPECT_EQ(Stored().SerializeAsString(), before.SerializeAsString());
  EXPECT_EQ(writes, 5);
  EXPECT_TRUE(Noted().empty()) << "a cached read would wait for a version that never comes";
}

TEST_F(WriteOptionsTest, UnknownFieldsAreValidated) {
  ASSERT_TRUE(client_.Create(context_, Map("v")).ok());
  const auto patch = MergePatch::Unconditional(R"({"data":{"k":"w"},"unknown":1})");
  const auto rejected = client_.Patch<ConfigMap>(context_, kKey, patch,
                                                 {.field_validation = FieldValidation::kStrict});
  EXPECT_EQ(rejected.status().code(), absl::StatusCode::kInvalidArgument) << rejected.status();
  EXPECT_THAT(std::string(rejected.status().message()), HasSubstr("unknown field \"unknown\""));
  EXPECT_THAT(Stored().data(), ElementsAre(Pair("k", "v")));
  const auto dropped = client_.Patch<ConfigMap>(context_, kKey, patch,
                                                {.field_validation = FieldValidation::kIgnore});
  EXPECT_THAT(Must(dropped).data(), ElementsAre(Pair("k", "w")));
}

TEST_F(WriteOptionsTest, EachValueIsAParameter) {
  const struct {
    FieldValidation value;
    const char* parameter;
  } kRows[] = {
      {FieldValidation::kServerDefault, ""},
      {FieldValidation::kStrict, "Strict"},
      {FieldValidation::kWarn, "Warn"},
      {FieldValidation::kIgnore, "Ignore"},
  };
  std::string target;
  before_ = [&](const RestRequest& request) { target = request.target; };
  for (const auto& row : kRows) {
    ASSERT_TRUE(client_.Apply(context_, Map("v"), {.field_validation = row.value}).ok());
    EXPECT_EQ(QueryOf(target, "fieldValidation"), row.parameter);
    EXPECT_EQ(QueryOf(target, "dryRun"), "");
  }
  ASSERT_TRUE(client_
                  .Create(context_, Map("v"),
                          {.dry_run = true, .field_validation = FieldValidation::kStrict})
                  .status()
                  .code() == absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(target, HasSubstr("?fieldManager=scope&dryRun=All&fieldValidation=Strict"));
}

}  // namespace
}  // namespace mandate
