#include "cmd/program/tracing_flags.h"

#include "manager/core/strings.h"
#include "manager/tracing/otlp_endpoint.h"
#include "manager/tracing/sampler.h"

namespace mandate {

void DeclareTracing(CLI::App& app, Tracing& tracing) {
  app.add_option("--tracing-endpoint", tracing.endpoint,
                 "URL of an OpenTelemetry collector that receives OTLP over HTTP, such as "
                 "http://127.0.0.1:4318. Default: no traces.")
      ->type_name("URL");
  app.add_option("--tracing-ca-file", tracing.ca_file,
                 "Certificates of the authorities that the collector's https certificate may come "
                 "from. Default: those of the system.")
      ->type_name("FILE");
  app.add_option("--tracing-sampling-rate-per-million", tracing.sampling_rate_per_million,
                 "How many of a million reconciliations are traced.")
      ->type_name("N")
      ->capture_default_str();
}

absl::Status CheckTracing(const Tracing& tracing) {
  const auto usage = [](std::string_view flag, const absl::Status& status) {
    return absl::InvalidArgumentError(StrCat(flag, ": ", AsStd(status.message())));
  };
  const auto sampler = RatioSampler::Create(tracing.sampling_rate_per_million);
  if (!sampler.ok()) return usage("--tracing-sampling-rate-per-million", sampler.status());
  if (tracing.endpoint.empty()) {
    if (tracing.ca_file.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--tracing-ca-file: the file is used only with --tracing-endpoint; add it");
  }
  const auto url = OtlpTracesUrl(tracing.endpoint);
  return url.ok() ? absl::OkStatus() : usage("--tracing-endpoint", url.status());
}

}  // namespace mandate
