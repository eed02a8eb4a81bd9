#include "manager/tracing/otlp_exporter.h"

#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/tracing/otlp_endpoint.h"

namespace mandate {

absl::StatusOr<std::unique_ptr<OtlpExporter>> OtlpExporter::Create(Options options) {
  ASSIGN_OR_RETURN(std::string url, OtlpTracesUrl(options.endpoint));
  ASSIGN_OR_RETURN(const RatioSampler sampler,
                   RatioSampler::Create(options.sampling_rate_per_million));
  auto exporter = std::unique_ptr<OtlpExporter>(new OtlpExporter(options, sampler));
  ASSIGN_OR_RETURN(exporter->loop_,
                   EventLoop::Create({.thread_name = "traces", .clock = options.clock}));
  const OtlpResource& resource = options.resource;
  ASSIGN_OR_RETURN(exporter->poster_,
                   CurlPoster::Create({.loop = exporter->loop_.get(),
                                       .url = std::move(url),
                                       .ca_file = std::move(options.ca_file),
                                       .user_agent = StrCat(resource.service_name, "/",
                                                            resource.service_version)}));
  exporter->batches_ = std::make_unique<BatchExporter>(
      BatchExporter::Options{.loop = exporter->loop_.get(),
                             .poster = exporter->poster_.get(),
                             .metrics = options.metrics,
                             .limits = options.limits,
                             .resource = std::move(options.resource),
                             .seed = ~options.seed,
                             .log = std::move(options.log)});
  return exporter;
}

OtlpExporter::~OtlpExporter() {
  if (batches_ != nullptr) Shutdown(absl::InfinitePast());
  if (loop_ != nullptr) loop_->Stop();
}

void OtlpExporter::Shutdown(absl::Time deadline) { batches_->Shutdown(deadline); }

template <class Id>
Id OtlpExporter::NewId() {
  Id id = {};
  while (id == Id{}) {  // zero is not a valid id
    for (size_t i = 0; i < id.size(); i += 8) {
      uint64_t random = random_();
      for (size_t j = 0; j < 8; ++j, random >>= 8) id[i + j] = random & 0xff;
    }
  }
  return id;
}

TraceContext OtlpExporter::NewTrace() {
  TraceContext context{.tracer = this};
  {
    MutexLock lock(mutex_);
    context.trace_id = NewId<TraceId>();
    context.span_id = NewId<SpanId>();
  }
  context.sampled = sampler_.Samples(context.trace_id);
  return context;
}

SpanId OtlpExporter::NewSpanId() {
  MutexLock lock(mutex_);
  return NewId<SpanId>();
}

}  // namespace mandate
