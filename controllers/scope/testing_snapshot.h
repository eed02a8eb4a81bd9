// The snapshot of one ScopeInstance's plan, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/scope/instance_plan.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using Strings = std::vector<std::string>;

// A cluster with the template's desired roles.
inline InstanceSnapshot Snapshot(ScopeInstance instance, ScopeTemplate of = DocumentTemplate()) {
  InstanceSnapshot snapshot;
  snapshot.instance = std::move(instance);
  for (const auto& role : PlanTemplate({of, Referenced::kYes, {}}).create) {
    snapshot.cluster_roles[role.metadata().name()] = role;
  }
  snapshot.scope_template = std::move(of);
  snapshot.namespaces = {NamespaceObject("foo"), NamespaceObject("bar"),
                         NamespaceObject("labelled", "fooKey"), NamespaceObject("default")};
  return snapshot;
}

// The snapshot with the bindings of its plan, as they are created. reconcilers_test.cc tests the
// server's response to changes.
inline InstanceSnapshot Bound(InstanceSnapshot snapshot) {
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_TRUE(plan.fix.empty() && plan.replace.empty() && plan.remove.empty());
  for (const NewBinding& created : plan.create) {
    Binding b = created.Make();
    b.object.mutable_metadata()->set_uid("uid-of-" + b.key.ToString());
    snapshot.bindings.push_back(std::move(b));
  }
  return snapshot;
}

// The template failed, with this message.
inline void Fail(InstanceSnapshot& snapshot, std::string_view message,
                 std::string_view reason = kTemplatingFailed) {
  auto& condition = *snapshot.scope_template->mutable_status()->add_conditions();
  condition.set_type(kTemplated);
  condition.set_status("False");
  condition.set_reason(std::string(reason));
  condition.set_message(std::string(message));
  condition.set_observedgeneration(1);
}

// The document's template with these users in place of its service account.
inline ScopeTemplate TemplateFor(const std::vector<std::string>& users) {
  ScopeTemplate of = DocumentTemplate();
  auto& subjects = *of.mutable_spec()->mutable_clusterroles(0)->mutable_bindingtemplate();
  subjects.clear_subjects();
  for (const std::string& user : users) {
    auto& subject = *subjects.add_subjects();
    subject.set_kind("User");
    subject.set_name(user);
  }
  return of;
}

inline std::vector<std::string> SubjectsOf(const Binding& binding) {
  std::vector<std::string> names;
  for (const auto& subject : binding.object.subjects()) names.push_back(subject.name());
  return names;
}

std::vector<std::string> Where(const auto& bindings) {
  std::vector<std::string> result;
  for (const auto& b : bindings) result.push_back(b.key.ns.empty() ? "(cluster)" : b.key.ns);
  std::sort(result.begin(), result.end());
  return result;
}

inline bool Changes(const InstancePlan& plan) { return plan.writes() > 0; }

}  // namespace mandate::scope
