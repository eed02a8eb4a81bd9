// Demands that are checked against a mandate when they are compiled.
#pragma once

#include <utility>

#include "manager/cache/demand_table.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_scope.h"

namespace mandate {

// A demand for the objects of kind T in a namespace whose labels match. Does not compile if the
// mandate does not let the component list and watch the kind; leaves a record of the watch in the
// binary.
template <const rbac::Mandate& kMandate, Readable T>
typename MandateDemandCheck<kMandate>::template Declared<T, SelectedDemand> DemandFor(
    InNamespace scope, LabelSelector selector = {}) {
  MandateDemandCheck<kMandate>::template RecordWatch<T>();
  return {DemandOf<T>(std::move(scope)), std::move(selector)};
}

// The same for one object.
template <const rbac::Mandate& kMandate, Readable T>
typename MandateDemandCheck<kMandate>::template Declared<T, ObjectDemand<T>> DemandFor(
    OneObject object, LabelSelector selector = {}) {
  MandateDemandCheck<kMandate>::template RecordWatch<T>();
  return ObjectDemand<T>({DemandOf<T>(std::move(object)), std::move(selector)});
}

// The same in the whole cluster.
template <const rbac::Mandate& kMandate, Readable T>
typename MandateDemandCheck<kMandate>::template DeclaredEverywhere<T, SelectedDemand> DemandFor(
    LabelSelector selector = {}) {
  MandateDemandCheck<kMandate>::template RecordWatch<T>();
  return {DemandOf<T>(), std::move(selector)};
}

}  // namespace mandate
