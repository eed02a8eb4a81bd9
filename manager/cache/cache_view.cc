#include "manager/cache/cache_view.h"

#include "manager/core/strings.h"

namespace mandate {

std::string DemandSpec::ToString() const {
  std::string text = StrCat(kind.trim != nullptr ? "parts of " : "",
                            kind.metadata_only ? "metadata of " : "", kind.plural);
  if (!kind.group.empty()) StrAppend(&text, ".", kind.group);
  if (!name.empty()) StrAppend(&text, " \"", name, "\"");
  if (!ns.empty()) StrAppend(&text, " in namespace ", ns);
  if (!labels.empty()) StrAppend(&text, " with labels ", labels);
  return text;
}

absl::Status CacheView::CannotDecode(const KindInfo& kind, const RawObject& object,
                                     const absl::Status& why) {
  const DemandSpec spec{kind, std::string(object.ns()), std::string(object.name())};
  return absl::Status(why.code(), StrCat(spec.ToString(), ": ", why.message()));
}

absl::Status CacheView::CheckMayWait(const Loop& loop, const CallContext& context,
                                     std::string_view call, const DemandSpec& asked) {
  if (context.deadline == absl::InfinitePast() || loop.CanAwait()) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(
      call, " of ", asked.ToString(), " was called on the event loop with a context that ",
      "may wait, which would block every component: pass NonBlockingContext(), or read in a ",
      "reconciler"));
}

std::string_view ToString(DemandState state) {
  switch (state) {
    case DemandState::kPending:
      return "Pending";
    case DemandState::kSynced:
      return "Synced";
    case DemandState::kForbidden:
      return "Forbidden";
    case DemandState::kKindAbsent:
      return "KindAbsent";
    case DemandState::kStale:
      return "Stale";
  }
  return "Unknown";
}

}  // namespace mandate
