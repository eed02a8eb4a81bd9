#include <utility>

#include "manager/core/status_macros.h"
#include "manager/manager_parts.h"

namespace mandate {

absl::Status Manager::Parts::BuildTracer() {
  if (options.tracing.endpoint.empty()) return absl::OkStatus();
  OtlpExporter::Options exporter;
  exporter.endpoint = options.tracing.endpoint;
  exporter.ca_file = options.tracing.ca_file;
  exporter.sampling_rate_per_million = options.tracing.sampling_rate_per_million;
  exporter.resource = {.service_name = options.tracing.service_name,
                       .service_version = options.version,
                       .service_instance_id = instance,
                       .namespace_name = options.ns};
  exporter.seed = random();
  exporter.metrics = &metrics;
  exporter.log = options.log;
  ASSIGN_OR_RETURN(tracer, OtlpExporter::Create(std::move(exporter)));
  return absl::OkStatus();
}

}  // namespace mandate
