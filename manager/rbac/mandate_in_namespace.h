// A mandate in a namespace: its rules for the manager's own namespace name it.
#pragma once

#include <string_view>
#include <vector>

#include "manager/rbac/mandate.h"

namespace mandate::rbac {

// Immutable.
class MandateInNamespace {
 public:
  // The mandate's tables and `ns` outlive this.
  MandateInNamespace(const Mandate& mandate, std::string_view ns)
      : rules_(mandate.rules.begin(), mandate.rules.end()),
        mandate_{mandate.component, rules_, mandate.webhooks} {
    for (MandateRule& rule : rules_) {
      if (rule.ns == kManagerNamespace) rule.ns = ns;
    }
  }
  MandateInNamespace(const MandateInNamespace&) = delete;
  MandateInNamespace& operator=(const MandateInNamespace&) = delete;

  const Mandate& mandate() const { return mandate_; }

 private:
  std::vector<MandateRule> rules_;
  const Mandate mandate_;
};

}  // namespace mandate::rbac
