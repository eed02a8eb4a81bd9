// A mandate with one permission less, to see whether anything needs it.
#ifndef MANAGER_RBAC_LESSENED_H_
#define MANAGER_RBAC_LESSENED_H_

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/mandate.h"

namespace mandate::rbac {

// One verb of one resource, as a mandate lists them: wildcards stand for themselves, a URL is a
// resource without a group.
struct Permission {
  std::string component;
  std::string verb;
  std::string group;
  std::string resource;  // "deployments/scale", "/metrics"

  auto operator<=>(const Permission&) const = default;
  // "scope-instance create rolebindings.rbac.authorization.k8s.io"; "… pods." of the core group.
  std::string ToString() const;
};

// Every permission that the mandate lists, each once, sorted. Those granted=external are left out:
// who grants them answers for them.
std::vector<Permission> PermissionsOf(const Mandate& mandate);

// `mandate` without the permission whose ToString() is `without`; the same as `mandate` if it has
// none such. Immutable; borrows the mandate's strings.
class LessenedMandate {
 public:
  LessenedMandate(const Mandate& mandate, std::string_view without);
  LessenedMandate(const LessenedMandate&) = delete;
  LessenedMandate& operator=(const LessenedMandate&) = delete;

  const Mandate& get() const { return mandate_; }

 private:
  std::deque<std::string_view> words_;  // each a list of one
  std::vector<MandateRule> rules_;
  Mandate mandate_;
};

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_LESSENED_H_
