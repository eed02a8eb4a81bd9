// Plans the changes for one Memcached: pure functions of the objects that were read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controllers/memcached/kind.h"
#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/metadata.h"

namespace mandate::memcached {

inline constexpr char kSucceeded[] = "Succeeded";
inline constexpr char kFailed[] = "Failed";

// Only names and labels of Pods are needed. Their spec is their tenants': 1 MB of it can be 30 MB
// when it is decoded.
using PodMetadata = Metadata<corev1::Pod>;

struct Snapshot {
  v1alpha1::Memcached memcached;
  // The Deployment of that name, also a foreign one; nullopt: it is absent. The only errors are
  // kPermissionDenied: the component may not read Deployments there; and kResourceExhausted: it has
  // no memory for those of the namespace.
  absl::StatusOr<std::optional<appsv1::Deployment>> deployment = std::nullopt;
  // The Pods of SelectorOf(name); the same errors.
  absl::StatusOr<std::vector<PodMetadata>> pods = std::vector<PodMetadata>();
};

// The reason for the status Failed. The message of the status is "WHAT: WHY".
struct Problem {
  const char* what;  // constant, for logs
  std::string why;

  bool operator==(const Problem& other) const;
};

struct Plan {
  // The Deployment to write; nullopt: it is as desired, or must not be changed.
  std::optional<appsv1::Deployment> write;
  // Prevents the write.
  std::optional<Problem> problem;
  // No event of a demanded object tells when the problem ends.
  bool ends_unseen = false;
};

Plan MakePlan(const Snapshot& snapshot);

// The problem after the plan was carried out; `written` is the result of its write.
std::optional<Problem> FindProblem(const Snapshot& snapshot, const Plan& plan,
                                   const absl::Status& written);

// The status to report. With a problem, the nodes stay as the last status has them.
v1alpha1::MemcachedStatus MakeStatus(const Snapshot& snapshot,
                                     const std::optional<Problem>& problem);
bool IsSame(const v1alpha1::MemcachedStatus& a, const v1alpha1::MemcachedStatus& b);

}  // namespace mandate::memcached
