// Demands that are checked against a mandate when they are compiled.
#pragma once

#include <utility>

#include "manager/cache/demand_table.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_scope.h"
#include "manager/rbac/marker.h"

namespace mandate {

// Each is a demand for the objects of kind T in its scope whose labels match. Does not compile if
// the mandate does not let the component list and watch the kind: the error has the marker to add.
// That of a demand in a namespace grants nothing by itself, since such namespaces are usually
// granted by their administrators (granted=external). Leaves a record of the watch in the binary.

template <const rbac::Mandate& kMandate, Readable T>
typename MandateDemandCheck<kMandate>::template Demanded<T, SelectedDemand> DemandFor(
    InNamespace scope, LabelSelector selector = {}) {
  MandateDemandCheck<kMandate>::template RecordWatch<T, rbac::MarkerReach::kExternal>();
  return {DemandOf<T>(std::move(scope)), std::move(selector)};
}

template <const rbac::Mandate& kMandate, Readable T>
typename MandateDemandCheck<kMandate>::template Demanded<T, ObjectDemand<T>> DemandFor(
    OneObject object, LabelSelector selector = {}) {
  MandateDemandCheck<kMandate>::template RecordWatch<T, rbac::MarkerReach::kExternal>();
  return ObjectDemand<T>({DemandOf<T>(std::move(object)), std::move(selector)});
}

// In the whole cluster.
template <const rbac::Mandate& kMandate, Readable T>
typename MandateDemandCheck<kMandate>::template Everywhere<T, SelectedDemand> DemandFor(
    LabelSelector selector = {}) {
  MandateDemandCheck<kMandate>::template RecordWatchEverywhere<T>();
  return {DemandOf<T>(), std::move(selector)};
}

}  // namespace mandate
