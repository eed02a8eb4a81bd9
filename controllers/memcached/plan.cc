#include "controllers/memcached/plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "controllers/memcached/deployment.h"
#include "google/protobuf/util/message_differencer.h"
#include "manager/core/strings.h"
#include "manager/object/owner.h"

namespace mandate::memcached {
namespace {

// The text of a Forbidden error of Kubernetes. The server's own text names the user and the verb;
// it is in the log, and would make the status differ between identities.
std::string Forbidden(std::string_view resource, std::string_view name = "") {
  const std::string quoted = name.empty() ? "" : StrCat(" \"", name, "\"");
  return StrCat(resource, quoted, " is forbidden: Not permitted based on RBAC");
}

// The error's own text has the bytes of all namespaces together.
Problem TooLarge(const char* what, std::string_view objects) {
  return {what, StrCat("the ", objects,
                       " of the namespace are larger than the memory that is left for them; delete "
                       "some, or ask for a larger --max-watch-size")};
}

std::string ForbiddenDeployment(const Snapshot& snapshot) {
  return Forbidden("deployments.apps", snapshot.memcached.metadata().name());
}

// The reason of a denied write. Admission denies with the code of RBAC: a quota is one reason. The
// text of RBAC alone names the user.
std::string WhyDenied(const Snapshot& snapshot, const absl::Status& written) {
  const std::string_view text(written.message().data(), written.message().size());
  if (text.find("User \"") != text.npos) return ForbiddenDeployment(snapshot);
  return std::string(text);
}

Problem Foreign(const appsv1::Deployment& deployment) {
  return {"The name of the Deployment is taken",
          StrCat("Deployment \"", deployment.metadata().name(),
                 "\" does not belong to this Memcached and is not changed; delete it, or choose "
                 "another name")};
}

}  // namespace

bool Problem::operator==(const Problem& other) const {
  return std::string_view(what) == other.what && why == other.why;
}

Plan MakePlan(const Snapshot& snapshot) {
  if (absl::IsResourceExhausted(snapshot.deployment.status())) {
    return {std::nullopt, TooLarge("Failed to get Deployment", "Deployments")};
  }
  if (!snapshot.deployment.ok()) {
    return {std::nullopt,
            Problem{"Not permitted to get Deployment", ForbiddenDeployment(snapshot)}};
  }
  const auto selector = SelectorOf(snapshot.memcached.metadata().name());
  if (!selector.ok()) {
    return {std::nullopt,
            Problem{"The name cannot be a label", std::string(selector.status().message())}};
  }
  const std::optional<appsv1::Deployment>& actual = *snapshot.deployment;
  appsv1::Deployment desired = MakeDeployment(snapshot.memcached);
  if (actual.has_value()) {
    if (!IsControlledBy(actual->metadata(), snapshot.memcached.metadata().uid())) {
      return {std::nullopt, Foreign(*actual), /*ends_unseen=*/true};
    }
    if (actual->metadata().has_deletiontimestamp()) {
      return {std::nullopt, Problem{"The Deployment is being deleted", "a new one follows"}};
    }
    if (IsAsDesired(*actual, desired)) return {};
  }
  return {std::move(desired), std::nullopt};
}

std::optional<Problem> FindProblem(const Snapshot& snapshot, const Plan& plan,
                                   const absl::Status& written) {
  if (plan.problem.has_value()) return plan.problem;
  const bool creates = !snapshot.deployment->has_value();
  if (absl::IsPermissionDenied(written)) {
    return Problem{
        creates ? "Not permitted to create new Deployment" : "Not permitted to update Deployment",
        WhyDenied(snapshot, written)};
  }
  if (!written.ok()) {
    return Problem{creates ? "Failed to create new Deployment" : "Failed to update Deployment",
                   std::string(written.message())};
  }
  if (absl::IsResourceExhausted(snapshot.pods.status())) {
    return TooLarge("Failed to list pods", "Pods");
  }
  if (!snapshot.pods.ok()) return Problem{"Not permitted to list pods", Forbidden("pods")};
  return std::nullopt;
}

v1alpha1::MemcachedStatus MakeStatus(const Snapshot& snapshot,
                                     const std::optional<Problem>& problem) {
  v1alpha1::MemcachedStatus status;
  v1alpha1::MemcachedState& state = *status.mutable_state();
  if (problem.has_value()) {
    *status.mutable_nodes() = snapshot.memcached.status().nodes();
    state.set_status(kFailed);
    state.set_message(StrCat(problem->what, ": ", problem->why));
    return status;
  }
  for (const PodMetadata& pod : *snapshot.pods) status.add_nodes(pod.metadata().name());
  std::sort(status.mutable_nodes()->begin(), status.mutable_nodes()->end());
  state.set_status(kSucceeded);
  state.set_message(
      StrCat("Deployment ", snapshot.memcached.metadata().name(), " successfully created"));
  return status;
}

bool IsSame(const v1alpha1::MemcachedStatus& a, const v1alpha1::MemcachedStatus& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

}  // namespace mandate::memcached
