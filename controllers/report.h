// Writes the status of an object when it is new, and records the transition of its conditions as an
// event.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "controllers/conditions.h"
#include "controllers/transition_event.h"
#include "google/protobuf/util/message_differencer.h"
#include "manager/component.h"
#include "manager/core/status_macros.h"
#include "manager/object/api_error.h"

namespace mandate {

// The type of T's status.
template <Object T>
using StatusOf = std::remove_cvref_t<decltype(std::declval<const T&>().status())>;

// Applies `status` as the whole status of `of`, an object as it was read. Afterwards `of` has the
// status and the resourceVersion of the server's answer. A Conflict (kAborted) or NotFound when the
// object was changed, replaced or deleted meanwhile (IsOutdated).
template <class Client, Object T>
absl::Status WriteStatus(const CallContext& context, Client& client, T& of,
                         const StatusOf<T>& status) {
  T report;
  report.mutable_metadata()->set_name(of.metadata().name());
  if (!of.metadata().namespace_().empty()) {
    report.mutable_metadata()->set_namespace_(of.metadata().namespace_());
  }
  // The server ignores the UID when it writes the status of a custom resource, but not the version.
  report.mutable_metadata()->set_uid(of.metadata().uid());
  report.mutable_metadata()->set_resourceversion(of.metadata().resourceversion());
  *report.mutable_status() = status;
  absl::StatusOr<T> written = client.ApplyStatus(context, std::move(report));
  RETURN_IF_ERROR(written.status());
  *of.mutable_status() = std::move(*written->mutable_status());
  of.mutable_metadata()->set_resourceversion(written->metadata().resourceversion());
  return absl::OkStatus();
}

namespace report_internal {

// Writes `status`, unless the object was deleted, and records the transition. The conditions are
// complete.
template <class Client, Object T>
absl::Status Write(const CallContext& context, const Component& component, Client& client, T& of,
                   const StatusOf<T>& status, const std::vector<DesiredCondition>& desired,
                   std::string_view first) {
  const ConditionList before = of.status().conditions();
  const absl::Status written = WriteStatus(context, client, of, status);
  if (IsNotFound(written) && IsServerErrorAbout(written, of.metadata().name())) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(written);
  const bool in_progress = std::ranges::any_of(
      desired, [first](const auto& c) { return c.type == first && c.in_progress; });
  RecordTransition(component.events, context.log(), RefTo(of), first, before, status.conditions(),
                   in_progress);
  return absl::OkStatus();
}

}  // namespace report_internal

// Applies `desired` to the status of `of`, an object as it was read, if the status differs.
// `own_types` are the types of conditions that the controller may report; another type is
// kInternal. The transitions of the first type become events. A Conflict (kAborted) when the object
// was changed or replaced meanwhile: the reconcile is tried again with the new one. OK when it was
// deleted. Afterwards `of` has the status and the resourceVersion of the server's answer.
template <class Client, Object T>
absl::Status ReportConditions(const CallContext& context, const Component& component,
                              Client& client, T& of, const std::vector<DesiredCondition>& desired,
                              std::initializer_list<std::string_view> own_types) {
  RETURN_IF_ERROR(CheckTypes(desired, own_types));
  StatusOf<T> status;
  *status.mutable_conditions() =
      MakeConditions(desired, of.status().conditions(), of.metadata().generation(),
                     component.clock().WallTimeNow());
  if (ConditionsUpToDate(of.status().conditions(), status.conditions(), own_types)) {
    return absl::OkStatus();
  }
  return report_internal::Write(context, component, client, of, status, desired,
                                *own_types.begin());
}

// ReportConditions for a status that has other fields, too: `status` has them, and no conditions.
// This controller alone writes all fields of the status but the conditions, so a field that
// `status` does not have is removed.
template <class Client, Object T>
absl::Status ReportStatus(const CallContext& context, const Component& component, Client& client,
                          T& of, StatusOf<T> status, const std::vector<DesiredCondition>& desired,
                          std::initializer_list<std::string_view> own_types) {
  RETURN_IF_ERROR(CheckTypes(desired, own_types));
  *status.mutable_conditions() =
      MakeConditions(desired, of.status().conditions(), of.metadata().generation(),
                     component.clock().WallTimeNow());
  StatusOf<T> present = of.status();
  *present.mutable_conditions() = status.conditions();
  if (ConditionsUpToDate(of.status().conditions(), status.conditions(), own_types) &&
      google::protobuf::util::MessageDifferencer::Equals(present, status)) {
    return absl::OkStatus();
  }
  return report_internal::Write(context, component, client, of, status, desired,
                                *own_types.begin());
}

}  // namespace mandate
