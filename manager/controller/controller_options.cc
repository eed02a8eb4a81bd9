// The checks of a controller's options.
#include "manager/controller/controller.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate {

absl::Status Controller::Options::Validate() const {
  const auto invalid = [this](std::string_view why) {
    return absl::InvalidArgumentError(AsAbsl(StrCat("controller \"", name, "\": ", why)));
  };
  if (absl::Status status = CheckDnsLabel(name); !status.ok()) {
    return invalid(StrCat("its name is invalid: ", AsStd(status.message())));
  }
  if (controller_context.component.empty()) return invalid("it has no component");
  if (reconciler == nullptr) return invalid("it has no reconciler");
  if (sources.empty() && channel == nullptr) return invalid("it watches nothing");
  for (const Source& source : sources) {
    if (source.handler == nullptr) {
      return invalid(StrCat("nothing handles ", source.demand.ToString()));
    }
  }
  if (controller.max_concurrent_reconciles < 1) {
    return invalid("max_concurrent_reconciles must be at least 1");
  }
  if (controller.reconcile_timeout <= absl::ZeroDuration()) {
    return invalid("reconcile_timeout must be greater than zero");
  }
  if (controller.queue.max_items < 2 || controller.queue.base_delay <= absl::ZeroDuration() ||
      controller.queue.max_delay < controller.queue.base_delay) {
    return invalid("queue needs max_items of 2 or more, and 0 < base_delay <= max_delay");
  }
  if (controller.initial_sync_timeout < absl::ZeroDuration()) {
    return invalid("initial_sync_timeout must not be negative");
  }
  if (controller.max_unmapped_events < 2) return invalid("max_unmapped_events must be at least 2");
  return absl::OkStatus();
}

}  // namespace mandate
