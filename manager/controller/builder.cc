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
  AddSource(std::move(demand), EnqueueObject(), std::move(predicates));
  options_.sources.back().is_primary = true;
}

void UntypedBuilder::AddOwned(DemandSpec demand, std::vector<Predicate> predicates) {
  if (!for_.has_value()) {
    Fail(StrCat("Owns() of ", demand.kind.kind, " must come after For(), which defines the owner"));
    return;
  }
  AddSource(std::move(demand), EnqueueControllerOwner(*for_), std::move(predicates));
}

void UntypedBuilder::AddSource(DemandSpec demand, EventHandler handler,
                               std::vector<Predicate> predicates) {
  options_.sources.push_back({.demand = std::move(demand),
                              .handler = std::move(handler),
                              .predicates = std::move(predicates)});
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
