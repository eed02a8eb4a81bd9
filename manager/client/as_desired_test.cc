#include "manager/client/as_desired.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "manager/core/strings.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/apps_v1.h"

namespace mandate {
namespace {

using appsv1::Deployment;

constexpr KindInfo kKind = KindOf<Deployment>::value;

Deployment Parse(const std::string& json) {
  Deployment deployment;
  EXPECT_EQ(FromJson(json, deployment, {.strict = true}), absl::OkStatus()) << json;
  return deployment;
}

Deployment Desired() {
  return Parse(R"({"metadata": {"namespace": "foo", "name": "a", "labels": {"app": "a"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": "u1"}]},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "a"}}, "template": {
      "metadata": {"labels": {"app": "a"}},
      "spec": {"containers": [{"name": "web", "image": "i:1", "args": ["-v"],
          "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
          "resources": {"limits": {"cpu": "1000m"}}}],
        "volumes": [{"name": "tmp", "emptyDir": {}}]}}}})");
}

// The answer of a kube-apiserver 1.36 to an apply of Desired() by "app", with its defaults.
Deployment Observed(std::string_view manager = "app", std::string_view operation = "Apply",
                    std::string_view version = "apps/v1") {
  return Parse(StrCat(R"({"metadata": {"namespace": "foo", "name": "a", "uid": "u2",
      "resourceVersion": "7", "generation": 1, "creationTimestamp": "2026-11-27T18:00:00Z",
      "labels": {"app": "a", "theirs": "x"}, "finalizers": ["theirs.example.com/f"],
      "ownerReferences": [{"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": "u1"}],
      "managedFields": [{"manager": ")",
                      manager, R"(", "operation": ")", operation, R"(", "apiVersion": ")", version,
                      R"(", "fieldsType": "FieldsV1", "fieldsV1": {
        "f:metadata": {"f:labels": {"f:app": {}}, "f:ownerReferences": {"k:{\"uid\":\"u1\"}": {}}},
        "f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {
          "f:metadata": {"f:labels": {"f:app": {}}},
          "f:spec": {
            "f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:args": {}, "f:image": {},
              "f:name": {},
              "f:ports": {
                "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}},
                "k:{\"containerPort\":80,\"protocol\":\"UDP\"}":
                    {".": {}, "f:containerPort": {}, "f:protocol": {}}},
              "f:resources": {"f:limits": {"f:cpu": {}}}}},
            "f:volumes": {"k:{\"name\":\"tmp\"}": {".": {}, "f:emptyDir": {}, "f:name": {}}}}}}}}]},
    "spec": {"replicas": 2, "progressDeadlineSeconds": 600,
      "selector": {"matchLabels": {"app": "a"}}, "template": {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"restartPolicy": "Always", "containers": [{"name": "web", "image": "i:1",
            "args": ["-v"], "imagePullPolicy": "Always",
            "ports": [{"containerPort": 80, "protocol": "TCP"},
                      {"containerPort": 80, "protocol": "UDP"}],
            "resources": {"limits": {"cpu": "1"}}}, {"name": "sidecar", "image": "s"}],
          "volumes": [{"name": "tmp", "emptyDir": {}}]}}},
    "status": {"replicas": 2}})"));
}

TEST(AsDesiredTest, DefaultsAndFieldsOfOthersDoNotMatter) {
  EXPECT_TRUE(IsAsDesired(kKind, Observed(), Desired(), "app"));
}

TEST(AsDesiredTest, EachDifferenceIsSeen) {
  const struct {
    const char* what;
    std::function<void(Deployment&)> change;
  } rows[] = {
      {"a value", [](auto& d) { d.mutable_spec()->set_replicas(3); }},
      {"a value in a list",
       [](auto& d) {
         d.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0)->set_image(
             "j");
       }},
      {"an atomic list",
       [](auto& d) {
         d.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0)->add_args(
             "-q");
       }},
      {"an atomic object",
       [](auto& d) { (*d.mutable_spec()->mutable_selector()->mutable_matchlabels())["b"] = "b"; }},
      {"an atomic object that is empty now",
       [](auto& d) { d.mutable_spec()->mutable_selector()->clear_matchlabels(); }},
      {"a new field", [](auto& d) { d.mutable_spec()->set_minreadyseconds(5); }},
      {"a new field that others own",
       [](auto& d) { (*d.mutable_metadata()->mutable_labels())["theirs"] = "x"; }},
      {"a new item that others own",
       [](auto& d) {
         auto& pod = *d.mutable_spec()->mutable_template_()->mutable_spec();
         pod.add_containers()->set_name("sidecar");
       }},
      {"a new finalizer",
       [](auto& d) { d.mutable_metadata()->add_finalizers("theirs.example.com/f"); }},
      {"no field any more", [](auto& d) { d.mutable_spec()->clear_replicas(); }},
      {"no item any more",
       [](auto& d) { d.mutable_spec()->mutable_template_()->mutable_spec()->clear_volumes(); }},
      {"one port less",
       [](auto& d) {
         auto& pod = *d.mutable_spec()->mutable_template_()->mutable_spec();
         pod.mutable_containers(0)->mutable_ports()->RemoveLast();
       }},
      {"another order of the items of a list",
       [](auto& d) {
         auto& pod = *d.mutable_spec()->mutable_template_()->mutable_spec();
         pod.mutable_containers(0)->mutable_ports()->SwapElements(0, 1);
       }},
      {"another owner",
       [](auto& d) { d.mutable_metadata()->mutable_ownerreferences(0)->set_uid("u9"); }},
      {"a quantity",
       [](auto& d) {
         auto& pod = *d.mutable_spec()->mutable_template_()->mutable_spec();
         auto& limits = *pod.mutable_containers(0)->mutable_resources()->mutable_limits();
         limits["cpu"].set_string("1001m");
       }},
      {"no metadata of ours",
       [](auto& d) {
         d.mutable_metadata()->clear_labels();
         d.mutable_metadata()->clear_ownerreferences();
       }},
  };
  for (const auto& row : rows) {
    Deployment desired = Desired();
    row.change(desired);
    EXPECT_FALSE(IsAsDesired(kKind, Observed(), desired, "app")) << row.what;
  }
}

TEST(AsDesiredTest, EachForeignChangeIsSeen) {
  const struct {
    const char* what;
    std::function<void(Deployment&)> change;
  } rows[] = {
      {"a value", [](auto& d) { d.mutable_spec()->set_replicas(3); }},
      {"a removed value", [](auto& d) { d.mutable_spec()->clear_replicas(); }},
      {"a removed item",
       [](auto& d) { d.mutable_spec()->mutable_template_()->mutable_spec()->clear_containers(); }},
      {"a removed part", [](auto& d) { d.clear_spec(); }},
      {"a removed label", [](auto& d) { d.mutable_metadata()->mutable_labels()->erase("app"); }},
  };
  for (const auto& row : rows) {
    Deployment observed = Observed();
    row.change(observed);
    EXPECT_FALSE(IsAsDesired(kKind, observed, Desired(), "app")) << row.what;
  }
}

TEST(AsDesiredTest, WithoutAnApplyOfTheManagerItCannotBeTold) {
  EXPECT_FALSE(IsAsDesired(kKind, Observed(), Desired(), "other"));
  EXPECT_FALSE(IsAsDesired(kKind, Observed("app", "Update"), Desired(), "app"));
  EXPECT_FALSE(IsAsDesired(kKind, Observed("app", "Apply", "apps/v1beta1"), Desired(), "app"));
  Deployment stripped = Observed();
  stripped.mutable_metadata()->clear_managedfields();
  EXPECT_FALSE(IsAsDesired(kKind, stripped, Desired(), "app"));
  Deployment twice = Observed();
  *twice.mutable_metadata()->add_managedfields() = twice.metadata().managedfields(0);
  twice.mutable_metadata()->mutable_managedfields(1)->set_operation("Update");
  EXPECT_FALSE(IsAsDesired(kKind, twice, Desired(), "app"));
  twice.mutable_metadata()->mutable_managedfields(1)->set_subresource("status");
  EXPECT_TRUE(IsAsDesired(kKind, twice, Desired(), "app")) << "the status is a part of its own";
  Deployment invalid = Observed();
  invalid.mutable_metadata()->mutable_managedfields(0)->mutable_fieldsv1()->set_raw("[");
  EXPECT_FALSE(IsAsDesired(kKind, invalid, Desired(), "app"));
}

// An object that was read is not a desired one.
TEST(AsDesiredTest, ADesiredObjectThatCannotBeAppliedIsNotAsDesired) {
  EXPECT_FALSE(IsAsDesired(kKind, Observed(), Observed(), "app"));
}

}  // namespace
}  // namespace mandate
