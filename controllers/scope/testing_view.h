// A scope component's view of a cache that the test fills.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/testing_objects.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate::scope {

class ViewTest : public testing::Test {
 protected:
  using ScopeInstance = operatorsv1alpha1::ScopeInstance;
  using ScopeTemplate = operatorsv1alpha1::ScopeTemplate;
  using Strings = std::vector<std::string>;

  // Declares the indexes, and demands every kind that has one.
  void Open(absl::Status (&declare)(CacheView&)) {
    ASSERT_TRUE(declare(view_).ok());
    Demand<ScopeInstance, ScopeTemplate, rbacv1::ClusterRole, rbacv1::RoleBinding,
           rbacv1::ClusterRoleBinding, corev1::Namespace>();
    loop_.RunReady();
  }

  template <class T>
  void Forbid() {
    view_.SetState(KindOf<T>::value, DemandState::kForbidden, absl::PermissionDeniedError("no"));
    loop_.RunReady();
  }
  template <class T>
  void Permit() {
    view_.SetState(KindOf<T>::value, DemandState::kSynced);
    loop_.RunReady();
  }

  // The names that the index has for the value, or the error.
  template <class T>
  Strings Find(std::string_view field, std::string_view value) const {
    const auto found = view_.ListRawByIndex(NonBlockingContext(), KindOf<T>::value, {field, value});
    if (!found.ok()) return {found.status().ToString()};
    Strings names;
    for (const auto& raw : *found) names.emplace_back(raw->name());
    return names;
  }

  // An object without a namespace is cluster-scoped.
  void Put(const Binding& binding) {
    if (binding.in_cluster()) {
      view_.Put(ToClusterRoleBinding(binding));
    } else {
      view_.Put(binding.object);
    }
  }
  // The object of the kind as JSON.
  template <class T>
  void Put(std::string_view json) {
    view_.Put(FromJsonOrDie<T>(json));
  }

  SimulatedLoop loop_;
  FakeCacheView view_{loop_};

 private:
  template <class... T>
  void Demand() {
    (demands_.push_back(view_.Demand({.kind = KindOf<T>::value, .ns = "", .name = ""}, nullptr)),
     ...);
  }

  std::vector<std::unique_ptr<DemandHandle>> demands_;
};

}  // namespace mandate::scope
