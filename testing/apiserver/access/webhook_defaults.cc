#include "testing/apiserver/access/webhook_defaults.h"

#include "testing/apiserver/access/json_fields.h"

namespace mandate::apiserver {
namespace {

void Default(Json::Value& object, const char* key, const Json::Value& value) {
  if (Member(object, key).isNull()) object[key] = value;
}

}  // namespace

void DefaultWebhooks(std::string_view resource, Json::Value& object) {
  const bool mutating = resource == "mutatingwebhookconfigurations";
  if (!mutating && resource != "validatingwebhookconfigurations") return;
  if (!Member(object, "webhooks").isArray()) return;
  for (Json::Value& webhook : object["webhooks"]) {
    if (!webhook.isObject()) continue;
    Default(webhook, "failurePolicy", "Fail");
    Default(webhook, "matchPolicy", "Equivalent");
    Default(webhook, "namespaceSelector", Json::objectValue);
    Default(webhook, "objectSelector", Json::objectValue);
    Default(webhook, "timeoutSeconds", 10);
    if (mutating) Default(webhook, "reinvocationPolicy", "Never");
    if (Member(webhook, "rules").isArray()) {
      for (Json::Value& rule : webhook["rules"]) {
        if (rule.isObject()) Default(rule, "scope", "*");
      }
    }
    if (Member(Member(webhook, "clientConfig"), "service").isObject()) {
      Default(webhook["clientConfig"]["service"], "port", 443);
    }
  }
}

}  // namespace mandate::apiserver
