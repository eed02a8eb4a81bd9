// Two versions of one kind, for tests: messages of Kubernetes stand in for them.
#pragma once

#include "k8s.io/api/core/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

using HubWidget = ::k8s::io::api::core::v1::Binding;
using SpokeWidget = ::k8s::io::api::core::v1::ComponentStatus;
template <>
struct KindOf<HubWidget> {
  static constexpr KindInfo value{"example.com", "v1", "Widget", "widgets"};
};
template <>
struct KindOf<SpokeWidget> {
  static constexpr KindInfo value{"example.com", "v1alpha1", "Widget", "widgets"};
};

}  // namespace mandate
