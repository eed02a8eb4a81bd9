#include "testing/apiserver/access/admission_review.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/access/identity_review.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr char kVersion[] = "admission.k8s.io/v1";

Json::Value Kind(const WriteAttributes& write) {
  Json::Value kind(Json::objectValue);
  kind["group"] = write.group;
  kind["version"] = write.version;
  kind["kind"] = write.kind;
  return kind;
}

Json::Value Resource(const WriteAttributes& write) {
  Json::Value resource(Json::objectValue);
  resource["group"] = write.group;
  resource["version"] = write.version;
  resource["resource"] = write.resource;
  return resource;
}

Json::Value Whole(Json::Value object, const WriteAttributes& write) {
  if (!object.isObject()) return Json::nullValue;
  object["apiVersion"] =
      write.group.empty() ? write.version : StrCat(write.group, "/", write.version);
  object["kind"] = write.kind;
  return object;
}

// A patch is an update, or a creation, here too.
Json::Value OptionsOf(const WriteAttributes& write) {
  Json::Value options = write.options;
  if (!options.isObject() || write.operation == "DELETE") return options;
  options["kind"] = write.operation == "CREATE" ? "CreateOptions" : "UpdateOptions";
  options.removeMember("force");
  return options;
}

absl::Status Called(std::string_view why) {
  return absl::InvalidArgumentError(StrCat("failed to call webhook: ", why));
}

absl::Status Received(std::string_view why) {
  return absl::InvalidArgumentError(StrCat("received invalid webhook response: ", why));
}

// In the words of the server's client.
absl::Status NotOk(const WebhookReply& reply) {
  if (const auto body = ParseJson(reply.body); body.ok() && StringAt(*body, "kind") == "Status") {
    return Called(StringAt(*body, "message"));
  }
  switch (reply.code) {
    case 401:
      return Called("the server has asked for the client to provide credentials");
    case 403:
      return Called("forbidden: unknown");
    case 404:
      return Called("the server could not find the requested resource");
    case 405:
      return Called("the server does not allow this method on the requested resource");
    case 503:
      return Called("the server is currently unable to handle the request");
    default:
      break;
  }
  if (reply.code >= 500) {
    return Called("an error on the server (\"unknown\") has prevented the request from succeeding");
  }
  return Called("the server rejected our request for an unknown reason");
}

absl::Status ReadPatch(const Json::Value& response, WebhookKind kind, Verdict& verdict) {
  const Json::Value& patch = Member(response, "patch");
  const Json::Value& type = Member(response, "patchType");
  if (kind == WebhookKind::kValidating) {
    if (!StringAt(response, "patch").empty()) {
      return Received("validating webhook may not return response.patch");
    }
    if (!type.isNull()) return Received("validating webhook may not return response.patchType");
    return absl::OkStatus();
  }
  std::string bytes;
  if (!patch.isNull() && (!patch.isString() || !absl::Base64Unescape(patch.asString(), &bytes))) {
    return Called("illegal base64 data at input byte 0");
  }
  if (!bytes.empty() && type.isNull()) {
    return Received("webhook returned response.patch but not response.patchType");
  }
  if (bytes.empty() && !type.isNull()) {
    return Received("webhook returned response.patchType but not response.patch");
  }
  if (bytes.empty()) return absl::OkStatus();
  verdict.patch_type = StringAt(response, "patchType");
  if (verdict.patch_type.empty()) {
    return Received("webhook returned invalid response.patchType of \"\"");
  }
  auto operations = ParseJson(bytes);
  if (!operations.ok() || !operations->isArray()) {
    return absl::InvalidArgumentError(
        "received undecodable patch in webhook response: json: cannot unmarshal object into Go "
        "value of type jsonpatch.Patch");
  }
  verdict.patch = *std::move(operations);
  return absl::OkStatus();
}

}  // namespace

std::string AdmissionReviewBody(std::string_view uid, const WriteAttributes& write,
                                const Json::Value& object) {
  Json::Value review(Json::objectValue);
  review["apiVersion"] = kVersion;
  review["kind"] = "AdmissionReview";
  Json::Value& request = review["request"];
  request["uid"] = std::string(uid);
  request["kind"] = request["requestKind"] = Kind(write);
  request["resource"] = request["requestResource"] = Resource(write);
  if (!write.subresource.empty()) {
    request["subResource"] = request["requestSubResource"] = write.subresource;
  }
  if (!write.name.empty()) request["name"] = write.name;
  // A namespace is in itself.
  const bool is_namespace = write.group.empty() && write.resource == "namespaces";
  if (const std::string& ns = is_namespace ? write.name : write.ns; !ns.empty()) {
    request["namespace"] = ns;
  }
  request["operation"] = write.operation;
  request["userInfo"] = UserJson(write.request->user);
  request["object"] = Whole(object, write);
  request["oldObject"] = Whole(write.old_object, write);
  request["dryRun"] = write.dry_run;
  request["options"] = OptionsOf(write);
  return WriteJson(review);
}

absl::StatusOr<Verdict> ReadVerdict(const WebhookReply& reply, std::string_view uid,
                                    WebhookKind kind) {
  if (reply.code < 200 || reply.code > 299) return NotOk(reply);
  const auto review = ParseJson(reply.body);
  if (!review.ok() || !review->isObject()) {
    return Called("couldn't get version/kind; json parse error: not an object");
  }
  const std::string version = StringAt(*review, "apiVersion");
  if (!version.empty() && version != kVersion) {
    return Called(StrCat("converting (", version,
                         ".AdmissionReview) to (v1.AdmissionReview): "
                         "unknown conversion"));
  }
  const Json::Value& response = Member(*review, "response");
  if (!response.isObject()) return Received("webhook response was absent");
  if (const std::string given = StringAt(response, "uid"); given != uid) {
    return Received(
        StrCat("expected response.uid=", rbac::Quote(uid), ", got ", rbac::Quote(given)));
  }
  Verdict verdict;
  verdict.allowed = Member(response, "allowed").isBool() && response["allowed"].asBool();
  verdict.status = Member(response, "status");
  verdict.warnings = Texts(response, "warnings");
  const Json::Value& annotations = Member(response, "auditAnnotations");
  if (annotations.isObject()) {
    for (const std::string& key : annotations.getMemberNames()) {
      verdict.annotations[key] = StringAt(annotations, key);
    }
  }
  if (absl::Status status = ReadPatch(response, kind, verdict); !status.ok()) return status;
  return verdict;
}

absl::Status Denied(std::string_view webhook, const Verdict& verdict) {
  ApiStatusProto status;
  if (verdict.status.isObject() && !FromJson(WriteJson(verdict.status), status).ok()) {
    status.Clear();
  }
  // A refusal is never a success.
  if (status.code() < 400) status.set_code(400);
  status.set_status("Failure");
  status.mutable_metadata();
  const std::string denied =
      StrCat("admission webhook ", rbac::Quote(webhook), " denied the request");
  const std::string why = status.message().empty() ? status.reason() : status.message();
  status.set_message(why.empty() ? denied + " without explanation" : StrCat(denied, ": ", why));
  absl::Status refusal = StatusFromApi(status);
  // Exactly as it stands: a reason is the webhook's to give.
  refusal.SetPayload(AsAbsl(kApiStatusUrl), absl::Cord(status.SerializeAsString()));
  return refusal;
}

}  // namespace mandate::apiserver
