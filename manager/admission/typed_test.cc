#include "manager/admission/typed.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;

AdmissionRequest Request(std::string operation, std::string object, std::string old_object = "") {
  AdmissionRequest request;
  request.set_uid("u-1");
  request.set_operation(std::move(operation));
  if (!object.empty()) request.mutable_object()->set_raw(std::move(object));
  if (!old_object.empty()) request.mutable_oldobject()->set_raw(std::move(old_object));
  return request;
}

// "allowed", or the code and the message of the denial.
std::string Ask(const Webhook& webhook, const AdmissionRequest& request,
                AdmissionResponse* response = nullptr) {
  AdmissionCall call({}, request);
  webhook.handler(call);
  if (response != nullptr) *response = call.response();
  if (call.response().allowed()) return "allowed";
  return StrCat(call.response().status().code(), " ", call.response().status().message());
}

class Recorder : public Validator<ConfigMap> {
 public:
  absl::Status ValidateCreate(AdmissionCall& call, const ConfigMap& object) override {
    call.Warn("created");
    calls += StrCat("create ", object.metadata().name(), ";");
    return result;
  }
  absl::Status ValidateUpdate(AdmissionCall&, const ConfigMap& old_object,
                              const ConfigMap& object) override {
    calls += StrCat("update ", old_object.metadata().name(), " ", object.metadata().name(), ";");
    return result;
  }
  absl::Status ValidateDelete(AdmissionCall&, const ConfigMap& object) override {
    calls += StrCat("delete ", object.metadata().name(), ";");
    return result;
  }

  absl::Status result;
  std::string calls;
};

constexpr char kA[] = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
constexpr char kB[] = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})";

TEST(ValidatingWebhook, CallsTheFunctionOfTheOperation) {
  const auto recorder = std::make_shared<Recorder>();
  const Webhook webhook = ValidatingWebhook<ConfigMap>(recorder);
  EXPECT_EQ(webhook.path, "/validate--v1-configmap");
  const struct {
    AdmissionRequest request;
    std::string want;
    std::string calls;
  } cases[] = {
      {Request("CREATE", kA), "allowed", "create a;"},
      {Request("UPDATE", kA, kB), "allowed", "update b a;"},
      {Request("DELETE", "", kB), "allowed", "delete b;"},
      {Request("CREATE", ""), "400 the review has no object", ""},
      {Request("UPDATE", kA), "400 the review has no oldObject", ""},
      {Request("DELETE", kA), "400 the review has no oldObject", ""},
      {Request("PEEK", kA),
       "400 unknown operation \"PEEK\"; it must be CREATE, UPDATE, DELETE or CONNECT", ""},
      {Request("CREATE", R"({"metadata":7})"),
       "400 object: metadata: expected an object, got a number", ""},
      {Request("CREATE", R"({"apiVersion":"v1","kind":"Secret"})"),
       "400 object: kind: expected ConfigMap, got Secret", ""},
  };
  for (const auto& c : cases) {
    recorder->calls.clear();
    EXPECT_EQ(Ask(webhook, c.request), c.want);
    EXPECT_EQ(recorder->calls, c.calls);
  }
}

TEST(ValidatingWebhook, BoundsTheObjectsAndArraysOfAReview) {
  const Webhook webhook = ValidatingWebhook<ConfigMap>(std::make_shared<Recorder>());
  std::string owners = "{}";
  for (int i = 0; i < 100'000; ++i) owners += ",{}";
  const std::string text = StrCat(R"({"metadata":{"ownerReferences":[)", owners, "]}}");
  EXPECT_NE(Ask(webhook, Request("CREATE", text)).find("too many objects and arrays"),
            std::string::npos);
}

class NoShell : public Validator<corev1::PodExecOptions> {
 public:
  absl::Status ValidateConnect(AdmissionCall&, const corev1::PodExecOptions& options) override {
    return options.tty() ? absl::PermissionDeniedError(StrCat("no tty in ", options.container()))
                         : absl::OkStatus();
  }
};

TEST(ValidatingWebhook, ChecksTheOptionsOfAConnect) {
  const Webhook webhook = ValidatingWebhook<corev1::PodExecOptions>(std::make_shared<NoShell>());
  EXPECT_EQ(webhook.path, "/validate--v1-podexecoptions");
  constexpr char kTty[] =
      R"({"kind":"PodExecOptions","apiVersion":"v1","tty":true,"container":"c","command":["sh"]})";
  EXPECT_EQ(Ask(webhook, Request("CONNECT", kTty)), "403 no tty in c");
  EXPECT_EQ(Ask(webhook, Request("CONNECT", R"({"kind":"PodExecOptions","apiVersion":"v1"})")),
            "allowed");
  EXPECT_EQ(Ask(webhook, Request("CONNECT", R"({"kind":"PodAttachOptions","apiVersion":"v1"})")),
            "400 object: kind: expected PodExecOptions, got PodAttachOptions");
  EXPECT_EQ(Ask(webhook, Request("CONNECT", "")), "400 the review has no object");
}

TEST(ValidatingWebhook, PassesErrorsOfTheServerOn) {
  const auto recorder = std::make_shared<Recorder>();
  const Webhook webhook = ValidatingWebhook<ConfigMap>(recorder);
  AdmissionResponse response;
  recorder->result = absl::InvalidArgumentError("no such color");
  EXPECT_EQ(Ask(webhook, Request("CREATE", kA), &response), "403 no such color");
  EXPECT_EQ(response.status().reason(), "Forbidden");
  EXPECT_EQ(response.warnings_size(), 1);
  recorder->result = StatusFromResponse(
      409, R"({"kind":"Status","code":409,"reason":"Conflict","message":"changed"})");
  EXPECT_EQ(Ask(webhook, Request("CREATE", kA), &response), "409 changed");
  EXPECT_EQ(response.status().reason(), "Conflict");
}

class Labeler : public Defaulter<ConfigMap> {
 public:
  absl::Status Default(AdmissionCall&, ConfigMap& object) override {
    (*object.mutable_metadata()->mutable_labels())["team"] = "x";
    if (object.data().contains("bad")) return absl::InvalidArgumentError("bad data");
    if (object.data().contains("broken")) {
      object.mutable_metadata()->add_managedfields()->mutable_fieldsv1()->set_raw("{");
    }
    return absl::OkStatus();
  }
};

TEST(DefaultingWebhook, PatchesOnlyWhatChanged) {
  const Webhook webhook = DefaultingWebhook<ConfigMap>(std::make_shared<Labeler>());
  EXPECT_EQ(webhook.path, "/mutate--v1-configmap");
  const struct {
    std::string object;
    std::string patch;
  } cases[] = {
      {R"({"metadata":{"name":"a"},"future":1})",
       R"([{"op":"add","path":"/metadata/labels","value":{"team":"x"}}])"},
      {R"({"metadata":{"name":"a","labels":null,"future":{}}})",
       R"([{"op":"replace","path":"/metadata/labels","value":{"team":"x"}}])"},
      {R"({"metadata":{"labels":{"a":"b"}}})",
       R"([{"op":"add","path":"/metadata/labels/team","value":"x"}])"},
      {R"({"metadata":{"labels":{"team":"x"}},"data":{}})", ""},
  };
  for (const auto& c : cases) {
    AdmissionResponse response;
    EXPECT_EQ(Ask(webhook, Request("CREATE", c.object), &response), "allowed");
    EXPECT_EQ(response.patch(), c.patch);
    EXPECT_EQ(response.patchtype(), c.patch.empty() ? "" : "JSONPatch");
  }
}

TEST(DefaultingWebhook, PatchesNothingThatItDenies) {
  const Webhook webhook = DefaultingWebhook<ConfigMap>(std::make_shared<Labeler>());
  AdmissionResponse response;
  EXPECT_EQ(Ask(webhook, Request("UPDATE", R"({"data":{"bad":"1"}})", kA), &response),
            "403 bad data");
  EXPECT_EQ(response.patch(), "");
  EXPECT_TRUE(
      Ask(webhook, Request("CREATE", R"({"data":{"broken":"1"}})"), &response).starts_with("500 "));
  EXPECT_EQ(response.patch(), "");
  EXPECT_EQ(Ask(webhook, Request("DELETE", "", kA), &response), "allowed");
  EXPECT_EQ(Ask(webhook, Request("CREATE", "[]")), "400 object: expected an object, got an array");
}

}  // namespace
}  // namespace mandate
