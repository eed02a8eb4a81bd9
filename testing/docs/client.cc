// The blocks of docs/client.md, with what their reader has at that place.
#include "manager/client/client.h"

#include <string>

#include "manager/client/discovery.h"
#include "manager/client/unstructured_client.h"
#include "manager/component.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::docs {

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kReader = {.component = "reader", .rules = kRules};

using corev1::ConfigMap;
using corev1::Event;
using corev1::Pod;

struct Reader {
  absl::Status Ensure(const ConfigMap& desired, const ConfigMap* observed) {
#include "testing/docs/client_1.inc"
    return absl::OkStatus();
  }

  absl::Status ListAndWatch() {
#include "testing/docs/client_2.inc"
    std::string last;
#include "testing/docs/client_3.inc"
    return ended;
  }

  absl::Status DeleteAll() {
#include "testing/docs/client_4.inc"
    return deleted > 0 ? absl::OkStatus() : absl::NotFoundError("");
  }

  absl::Status DryRun(ConfigMap map, const ObjectKey& key, const Patch& patch) {
#include "testing/docs/client_5.inc"
    return absl::OkStatus();
  }

  absl::Status Logs(const Pod& pod) {
#include "testing/docs/client_6.inc"
    return absl::OkStatus();
  }

  absl::Status Unstructured(const Component& component) {
#include "testing/docs/client_7.inc"
    return absl::OkStatus();
  }

  absl::Status FindKind(const Component& component) {
    UnstructuredClient client(component.client);
#include "testing/docs/client_8.inc"
    return absl::OkStatus();
  }

  absl::Status Count(const Event& event);
  absl::Status Handle(const LiveEvent<Event>& event);
  absl::Status Append(std::string_view bytes);

  Client<kReader> client;
  CallContext context;
};

}  // namespace mandate::docs
