// A mandate without one of its permissions, to test whether the component needs the permission.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/mandate.h"

namespace mandate::rbac {

// One verb of one resource, as a mandate lists it. A wildcard is one permission; a URL is a
// resource without a group.
struct Permission {
  std::string component;
  std::string verb;
  std::string group;
  std::string resource;  // "deployments/scale", "/metrics"

  auto operator<=>(const Permission&) const = default;
  // "scope-instance create rolebindings.rbac.authorization.k8s.io"; "… pods." for the core group.
  std::string ToString() const;
};

// A copy of `mandate` without the permission whose ToString() is `without`, if there is one.
// Immutable; borrows the mandate's strings.
class MandateWithout {
 public:
  MandateWithout(const Mandate& mandate, std::string_view without);
  MandateWithout(const MandateWithout&) = delete;
  MandateWithout& operator=(const MandateWithout&) = delete;

  const Mandate& get() const { return mandate_; }

 private:
  std::deque<std::string_view> words_;  // each is a list with one element
  std::vector<MandateRule> rules_;
  Mandate mandate_;
};

}  // namespace mandate::rbac
