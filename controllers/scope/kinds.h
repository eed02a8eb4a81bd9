// The kinds of api/operators/v1alpha1.
#pragma once

#include "api/operators/v1alpha1/scope.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace operatorsv1alpha1 = ::mandate::operators::v1alpha1;

template <>
struct KindOf<operatorsv1alpha1::ScopeTemplate> {
  static constexpr KindInfo value = {.group = "operators.coreos.com",
                                     .version = "v1alpha1",
                                     .kind = "ScopeTemplate",
                                     .plural = "scopetemplates",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kJson};
};

template <>
struct KindOf<operatorsv1alpha1::ScopeInstance> {
  static constexpr KindInfo value = {.group = "operators.coreos.com",
                                     .version = "v1alpha1",
                                     .kind = "ScopeInstance",
                                     .plural = "scopeinstances",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kJson};
};

}  // namespace mandate
