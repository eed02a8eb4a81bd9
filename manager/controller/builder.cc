#include "manager/controller/builder.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"

namespace mandate {

void UntypedBuilder::AddFor(DemandSpec demand, std::vector<Predicate> predicates) {
  const KindInfo kind = demand.kind;
  if (for_.has_value()) {
    Fail(StrCat("For() is called for ", for_->kind, " and for ", kind.kind,
                ", but a controller reconciles one kind: use Watches() for the other"));
    return;
  }
  for_ = kind;
  AddSource(demand, EnqueueObject(), std::move(predicates), /*is_primary=*/true);
}

void UntypedBuilder::AddOwned(DemandSpec demand, std::vector<Predicate> predicates) {
  if (!for_.has_value()) {
    Fail(StrCat("Owns() of ", demand.kind.kind, " must come after For(), which defines the owner"));
    return;
  }
  AddSource(demand, EnqueueControllerOwner(*for_), std::move(predicates));
}

void UntypedBuilder::AddSource(const DemandSpec& demand, EventHandler handler,
                               std::vector<Predicate> predicates, bool is_primary) {
  std::vector<DemandSpec> parts = options_.controller_context.cache.Split(demand);
  if (parts.size() > 1) {
    // A map may have a state, which stays one.
    handler = [shared = std::make_shared<EventHandler>(std::move(handler))](
                  const ObjectEvent& event, std::vector<Request>& requests) {
      return (*shared)(event, requests);
    };
  }
  for (DemandSpec& part : parts) {
    options_.sources.push_back({.demand = std::move(part),
                                .handler = handler,
                                .predicates = predicates,
                                .is_primary = is_primary});
  }
}

absl::StatusOr<std::unique_ptr<Controller>> UntypedBuilder::Build(
    std::unique_ptr<Reconciler> reconciler) {
  if (options_.name.empty() && for_.has_value()) {
    options_.name = absl::AsciiStrToLower(AsAbsl(for_->kind));
  }
  if (!error_.empty()) {
    return absl::InvalidArgumentError(
        AsAbsl(StrCat("controller \"", options_.name, "\": ", error_)));
  }
  for (Source& source : options_.sources) {
    source.predicates.insert(source.predicates.begin(), filters_.begin(), filters_.end());
  }
  options_.sources = MergeSources(std::move(options_.sources));
  options_.reconciler = std::move(reconciler);
  return Controller::Create(std::move(options_));
}

void UntypedBuilder::Fail(std::string why) {
  if (error_.empty()) error_ = std::move(why);
}

}  // namespace mandate
