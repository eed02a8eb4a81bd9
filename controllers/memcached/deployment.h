// The Deployment of a Memcached.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "controllers/memcached/kind.h"
#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/selector.h"

namespace mandate::memcached {

// The label of all objects that the operator makes for a Memcached: "memcached-NAME".
inline constexpr char kLabel[] = "memcachedLabel";
std::string LabelOf(const std::string& name);

// Selects the Deployment and the Pods of the Memcached with this name. kInvalidArgument if the name
// is too long for a label.
absl::StatusOr<LabelSelector> SelectorOf(const std::string& name);

// The Deployment, built from nothing; `memcached` as it was read is its controller.
appsv1::Deployment MakeDeployment(const v1alpha1::Memcached& memcached);

// Whether `actual` has each field that `desired`, of MakeDeployment(), has. Fields, labels,
// owners, containers and ports that others added do not count: an apply keeps them.
bool IsAsDesired(const appsv1::Deployment& actual, const appsv1::Deployment& desired);

}  // namespace mandate::memcached
