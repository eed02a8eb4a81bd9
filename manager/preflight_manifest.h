// The manifest that grants an identity its declared permissions, as text for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate {

// A (Cluster)Role and its user.
struct GrantToApply {
  std::string ns;       // of the role and its binding; empty: cluster-wide
  std::string role;     // its name
  std::string binding;  // its name
  std::string user;     // a user name: "system:serviceaccount:NS:NAME", or a certificate's
  std::vector<rbac::Rule> rules;
};

// YAML of the role and the binding, ready for `kubectl apply -f -`; ends with a newline.
std::string GrantManifest(const GrantToApply& grant);

}  // namespace mandate
