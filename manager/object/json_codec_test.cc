#include "manager/object/json_codec.h"

#include <string>

#include "api/operators/v1alpha1/scope.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "gtest/gtest.h"
#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "k8s.io/api/coordination/v1/generated.pb.h"
#include "k8s.io/api/networking/v1/generated.pb.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;
namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;
namespace rbac = k8s::io::api::rbac::v1;
namespace coordination = k8s::io::api::coordination::v1;
namespace authentication = k8s::io::api::authentication::v1;
namespace networking = k8s::io::api::networking::v1;

constexpr KindInfo kClusterRole = {.group = "rbac.authorization.k8s.io",
                                   .version = "v1",
                                   .kind = "ClusterRole",
                                   .plural = "clusterroles",
                                   .scope = Scope::kCluster,
                                   .encoding = Encoding::kProtobuf};

// The JSON of the message that was read from `json`, or the error.
template <class T>
std::string Through(std::string_view json, const FromJsonOptions& options = {}) {
  T message;
  const absl::Status status = FromJson(json, message, options);
  if (!status.ok()) return "! " + std::string(status.message());
  const auto text = ToJson(message);
  return text.ok() ? *text : "! " + std::string(text.status().message());
}

TEST(ToJsonTest, EmitsWhatIsPresentAndTheKind) {
  rbac::ClusterRole role;
  EXPECT_EQ(*ToJson(role), "{}");
  role.mutable_metadata()->set_name("r");
  role.mutable_metadata()->set_namespace_("");
  (*role.mutable_metadata()->mutable_labels())["z"] = "1";
  (*role.mutable_metadata()->mutable_labels())["a"] = "\"2\"";
  role.mutable_metadata()->set_generation(int64_t{1} << 60);
  role.mutable_metadata()->mutable_creationtimestamp();  // empty: the zero time
  role.add_rules()->add_verbs("get");
  EXPECT_EQ(*ToJson(role, &kClusterRole),
            R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
            R"("metadata":{"name":"r","namespace":"","generation":1152921504606846976,)"
            R"("labels":{"a":"\"2\"","z":"1"}},"rules":[{"verbs":["get"]}]})");
}

TEST(JsonCodecTest, RoundTripsTheTrickyTypes) {
  EXPECT_EQ(Through<meta::ObjectMeta>(R"({"creationTimestamp":"2006-01-02T17:04:05.9+02:00"})"),
            R"({"creationTimestamp":"2006-01-02T15:04:05Z"})");
  EXPECT_EQ(Through<meta::ObjectMeta>(R"({"creationTimestamp":"1970-01-01T00:00:00Z"})"),
            R"({"creationTimestamp":"1970-01-01T00:00:00Z"})");
  EXPECT_EQ(Through<meta::ObjectMeta>(R"({"creationTimestamp":null,"labels":null,"name":null})"),
            "{}");
  EXPECT_EQ(Through<coordination::LeaseSpec>(R"({"renewTime":"2006-01-02T15:04:05.000000Z"})"),
            R"({"renewTime":"2006-01-02T15:04:05.000000Z"})");
  EXPECT_EQ(Through<meta::ManagedFieldsEntry>(R"({"fieldsV1":{ "f:spec": {"." : {} } }})"),
            R"({"fieldsV1":{"f:spec":{".":{}}}})");
  EXPECT_EQ(Through<meta::WatchEvent>(R"({"type":"ADDED","object":{"n":1.50}})"),
            R"({"type":"ADDED","object":{"n":1.50}})");
  EXPECT_EQ(Through<authentication::BoundObjectReference>(R"({"uid":"u"})"), R"({"uid":"u"})");
  EXPECT_EQ(Through<authentication::UserInfo>(R"({"extra":{"b":["x","y"],"a":[]}})"),
            R"({"extra":{"a":[],"b":["x","y"]}})");
  EXPECT_EQ(Through<networking::IngressRule>(R"({"host":"h","http":{"paths":[{"path":"/"}]}})"),
            R"({"host":"h","http":{"paths":[{"path":"/"}]}})");
  EXPECT_EQ(Through<networking::NetworkPolicyPort>(R"({"port":"web"})"), R"({"port":"web"})");
  EXPECT_EQ(Through<networking::NetworkPolicyPort>(R"({"port":-8})"), R"({"port":-8})");
}

// The project's own CRDs have explicit presence and use the same walker.
TEST(JsonCodecTest, CustomResources) {
  const char* const json =
      R"({"metadata":{"name":"i"},"spec":{"scopeTemplateName":"","namespaces":["a","b"],)"
      R"("namespaceSelector":{"matchLabels":{"x":"y"}}},)"
      R"("status":{"conditions":[{"type":"Scoped","status":"True","observedGeneration":3,)"
      R"("lastTransitionTime":"2006-01-02T15:04:05Z","reason":"R","message":""}]}})";
  EXPECT_EQ(Through<operators::v1alpha1::ScopeInstance>(json, {.strict = true}), json);
  EXPECT_EQ(Through<operators::v1alpha1::ScopeInstance>(
                R"({"spec":{"namespaceSelector": { "fooKey" : "barValue" }}})", {.strict = true}),
            R"({"spec":{"namespaceSelector":{"fooKey":"barValue"}}})");
  EXPECT_EQ(Through<operators::v1alpha1::ScopeInstance>(R"({"spec":{"namespaces":"a"}})"),
            "! spec.namespaces: expected an array, got a string");
}

TEST(FromJsonTest, AcceptsWholeNumbersHoweverWritten) {
  EXPECT_EQ(Through<meta::ObjectMeta>(R"({"generation":3.0})"), R"({"generation":3})");
  EXPECT_EQ(Through<meta::ObjectMeta>(R"({"generation":-2e3})"), R"({"generation":-2000})");
  EXPECT_EQ(Through<meta::ObjectMeta>(R"({"generation":-9223372036854775808})"),
            R"({"generation":-9223372036854775808})");
  for (const char* number : {"2147483647", "-2147483647"}) {
    const std::string written = StrCat(R"({"leaseDurationSeconds":)", number);
    EXPECT_EQ(Through<coordination::LeaseSpec>(written + ".0}"), written + "}");
  }
}

TEST(FromJsonTest, ErrorsNameThePath) {
  const struct {
    const char* json;
    const char* error;
  } kCases[] = {
      {R"([])", "! expected an object, got an array"},
      {R"({"rules":{}})", "! rules: expected an array, got an object"},
      {R"({"rules":[{"verbs":[]},{"verbs":"get"}]})",
       "! rules[1].verbs: expected an array, got a string"},
      {R"({"rules":[{"verbs":["get",1]}]})",
       "! rules[0].verbs[1]: expected a string, got a number"},
      {R"({"metadata":{"labels":{"a/b":true}}})",
       "! metadata.labels[a/b]: expected a string, got a boolean"},
      {R"({"metadata":{"generation":1.5}})",
       "! metadata.generation: expected an integer of 64 bits, got 1.5"},
      {R"({"metadata":{"generation":9223372036854775808}})",
       "! metadata.generation: expected an integer of 64 bits, got 9223372036854775808"},
      {R"({"metadata":{"generation":1e300}})",
       "! metadata.generation: expected an integer of 64 bits, got 1e300"},
      {R"({"metadata":{"creationTimestamp":"now"}})",
       "! metadata.creationTimestamp: \"now\" is not a valid RFC 3339 time, such as "
       "2006-01-02T15:04:05Z"},
      {R"({"metadata":{"creationTimestamp":3}})",
       "! metadata.creationTimestamp: expected a string, got a number"},
      {R"({"metadata":{"ownerReferences":[{"controller":"yes"}]}})",
       "! metadata.ownerReferences[0].controller: expected a boolean, got a string"},
      {R"({"rules":[{]})",
       "! invalid JSON at line 1, column 12: expected a member's name in quotes, found ']'"},
      {"{} {}", "! invalid JSON at line 1, column 4: expected nothing after the value, found '{'"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Through<rbac::ClusterRole>(c.json), c.error) << c.json;
  }
  EXPECT_EQ(Through<coordination::LeaseSpec>(R"({"leaseDurationSeconds":2147483648})"),
            "! leaseDurationSeconds: expected an integer of 32 bits, got 2147483648");
  EXPECT_THAT(Through<coordination::LeaseSpec>(R"({"renewTime":"2006-01-02T15:04:05Z"})"),
              HasSubstr("! renewTime: "));
  EXPECT_EQ(Through<networking::NetworkPolicyPort>(R"({"port":2147483648})"),
            "! port: 2147483648 is not a 32-bit integer");
  EXPECT_EQ(Through<networking::NetworkPolicyPort>(R"({"port":true})"),
            "! port: expected a string or a number, got a boolean");
}

TEST(FromJsonTest, ListsOfStringsInsideMaps) {
  const struct {
    const char* json;
    const char* error;
  } kCases[] = {
      {R"({"extra":{"b":"x"}})", "! extra[b]: expected an array of strings, got a string"},
      {R"({"extra":{"b":{}}})", "! extra[b]: expected an array of strings, got an object"},
      {R"({"extra":{"b":["x",1]}})", "! extra[b]: expected a string, got a number"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Through<authentication::UserInfo>(c.json), c.error) << c.json;
  }
}

TEST(FromJsonTest, UnknownMembersAreErrorsOnlyIfStrict) {
  const char* const json = R"({"apiVersion":"v1","kind":"X","rules":[{"verb":["get"]}]})";
  EXPECT_EQ(Through<rbac::ClusterRole>(json), R"({"rules":[{}]})");
  EXPECT_EQ(Through<rbac::ClusterRole>(json, {.strict = true}), "! rules[0].verb: unknown field");
  EXPECT_EQ(Through<rbac::ClusterRole>(R"({"rules":[{"kind":"X"}]})", {.strict = true}),
            "! rules[0].kind: unknown field");
  EXPECT_EQ(Through<rbac::ClusterRole>(R"({"rules":[],"rules":[]})", {.strict = true}),
            "! rules: duplicate field");
  EXPECT_EQ(Through<rbac::ClusterRole>(R"({"rules":[{}],"rules":[]})"), "{}");
}

TEST(FromJsonTest, TheLastOfSeveralCounts) {
  EXPECT_EQ(
      Through<meta::ObjectMeta>(R"({"labels":{"b":"1","a":"1","b":"2"},"name":"x","name":"y"})"),
      R"({"name":"y","labels":{"a":"1","b":"2"}})");
}

TEST(ToJsonTest, RefusesTimesThatCannotBeRead) {
  meta::ObjectMeta object;
  object.mutable_creationtimestamp()->set_seconds(253402300799);
  EXPECT_EQ(*ToJson(object), R"({"creationTimestamp":"9999-12-31T23:59:59Z"})");
  for (int64_t seconds : {int64_t{253402300800}, int64_t{-62167219201}, INT64_MAX, INT64_MIN}) {
    object.mutable_creationtimestamp()->set_seconds(seconds);
    EXPECT_EQ(ToJson(object).status().message(),
              "creationTimestamp: the time is outside of the years that RFC 3339 supports");
  }
}

TEST(FromJsonTest, ChecksTheKindWhereAsked) {
  const FromJsonOptions options = {.kind = &kClusterRole};
  EXPECT_EQ(Through<rbac::ClusterRole>("{}", options), "{}");
  EXPECT_EQ(Through<rbac::ClusterRole>(
                R"({"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1"})", options),
            "{}");
  EXPECT_EQ(Through<rbac::ClusterRole>(R"({"kind":"Role"})", options),
            "! kind: expected ClusterRole, got Role");
  EXPECT_EQ(Through<rbac::ClusterRole>(R"({"apiVersion":"v1"})", options),
            "! apiVersion: expected rbac.authorization.k8s.io/v1, got v1");
}

TEST(FromJsonTest, ReplacesWhatWasThere) {
  rbac::ClusterRole role;
  role.mutable_metadata()->set_name("old");
  ASSERT_TRUE(FromJson("{}", role).ok());
  EXPECT_FALSE(role.has_metadata());
}

TEST(ToJsonTest, NamesTheFieldThatCannotBeJson) {
  meta::ObjectMeta object;
  object.add_managedfields();
  object.add_managedfields()->mutable_fieldsv1()->set_raw("{");
  const auto json = ToJson(object);
  EXPECT_EQ(json.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(json.status().message()),
              HasSubstr("managedFields[1].fieldsV1: the embedded value is not valid JSON: "));
  object.mutable_managedfields(1)->mutable_fieldsv1()->set_raw("\xD9\xD9\xF7\xA0");
  EXPECT_EQ(ToJson(object).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(JsonCodecTest, RefusesTypesOfAnotherPool) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("x.proto");
  file.add_message_type()->set_name("X");
  google::protobuf::DescriptorPool pool;
  google::protobuf::DynamicMessageFactory factory(&pool);
  const auto* type = pool.BuildFile(file)->message_type(0);
  const std::unique_ptr<google::protobuf::Message> message(factory.GetPrototype(type)->New());
  EXPECT_EQ(ToJson(*message).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FromJson("{}", *message).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mandate
