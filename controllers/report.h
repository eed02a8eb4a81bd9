// Writes conditions to an object's status when they are new, and records the transition as an
// event.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "controllers/conditions.h"
#include "controllers/transition_event.h"
#include "manager/component.h"
#include "manager/core/status_macros.h"
#include "manager/object/api_error.h"

namespace mandate {

// Applies `desired` to the status of `of`, an object as it was read, if the status differs.
// `own_types` are the types of conditions that the controller may report; another type is
// kInternal. The transitions of the first type become events. If the object was deleted or replaced
// meanwhile, nothing is reported, and the result is OK. Afterwards `of` has the reported
// conditions.
template <class Client, Object T>
absl::Status ReportConditions(const CallContext& context, const Component& component,
                              Client& client, T& of, const std::vector<DesiredCondition>& desired,
                              std::initializer_list<std::string_view> own_types) {
  RETURN_IF_ERROR(CheckTypes(desired, own_types));
  const ConditionList conditions =
      MakeConditions(desired, of.status().conditions(), of.metadata().generation(),
                     component.clock().WallTimeNow());
  if (ConditionsUpToDate(of.status().conditions(), conditions, own_types)) return absl::OkStatus();
  T status;
  status.mutable_metadata()->set_name(of.metadata().name());
  if (!of.metadata().namespace_().empty()) {
    status.mutable_metadata()->set_namespace_(of.metadata().namespace_());
  }
  status.mutable_metadata()->set_uid(of.metadata().uid());
  *status.mutable_status()->mutable_conditions() = conditions;
  const absl::StatusOr<T> written = client.ApplyStatus(context, status);
  if ((IsNotFound(written.status()) || IsConflict(written.status())) &&
      IsServerErrorAbout(written.status(), of.metadata().name())) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(written.status());
  const std::string_view first = *own_types.begin();
  const bool in_progress = std::ranges::any_of(
      desired, [first](const auto& c) { return c.type == first && c.in_progress; });
  RecordTransition(component.events, component.controller_context.log, RefTo(of), first,
                   of.status().conditions(), conditions, in_progress);
  *of.mutable_status()->mutable_conditions() = conditions;
  return absl::OkStatus();
}

}  // namespace mandate
