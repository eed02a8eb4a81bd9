// Webhooks as their configurations say, and which of them a write is sent to
// (k8s.io/apiserver pkg/admission/plugin/webhook).
#ifndef TESTING_APISERVER_ACCESS_WEBHOOK_H_
#define TESTING_APISERVER_ACCESS_WEBHOOK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/object/selector.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

struct WebhookRule {
  std::vector<std::string> operations, groups, versions, resources;
  std::string scope = "*";
};

// A value, with the API's defaults filled in.
struct Webhook {
  std::string configuration;
  std::string name;
  // https://<service>.<namespace>.svc:<port><path> of one that is a service.
  std::string url;
  std::string ca_pem;
  std::vector<WebhookRule> rules;
  LabelSelector namespace_selector;
  LabelSelector object_selector;
  bool ignore_failure = false;
  // None or NoneOnDryRun.
  bool dry_run = true;
  absl::Duration timeout = absl::Seconds(10);
  // What it asks for that the double does not do: matchConditions, IfNeeded; empty: nothing.
  std::string unsupported;
};

enum class WebhookKind { kMutating, kValidating };

// In the order in which they are called: by configuration, then as they stand.
std::vector<Webhook> ReadWebhooks(const ObjectReader& objects, WebhookKind kind);

bool Matches(const WebhookRule& rule, const WriteAttributes& write);

// Whether the write, whose object is `object` by now, is sent there. NotFound: the namespace of the
// write, whose labels are asked for, is not there. 501: see `unsupported`. A rule names a group and
// version as the request does: no other version of the resource stands for it.
absl::StatusOr<bool> IsCalled(const Webhook& webhook, const WriteAttributes& write,
                              const Json::Value& object, const ObjectReader& objects);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_WEBHOOK_H_
