#include "manager/client/request_span.h"

#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/rbac/request_info.h"

namespace mandate {
namespace {

std::string NameOf(const RestRequest& request) {
  const auto what = rbac::AttributesOf(request.method, request.target);
  if (!what.ok() || !what->is_resource_request) return request.method;
  return StrCat(request.method, " ", what->resource, what->subresource.empty() ? "" : "/",
                what->subresource);
}

}  // namespace

Span RequestSpan(const TraceContext& parent, std::string_view component,
                 const RestRequest& request) {
  if (!parent.sampled) {
    return Span::Child(parent, {.component = component, .name = "", .kind = SpanKind::kClient});
  }
  Span span = Span::Child(
      parent, {.component = component, .name = NameOf(request), .kind = SpanKind::kClient});
  span.SetAttribute("http.request.method", request.method);
  span.SetAttribute("url.path",
                    std::string_view(request.target).substr(0, request.target.find('?')));
  return span;
}

RestClient::Done EndingSpan(Span span, RestClient::Done done) {
  if (!span.recording()) return done;
  return [span = std::move(span),
          done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
    const int code = response.ok() ? response->code : HttpCode(response.status());
    if (code != 0) span.SetAttribute("http.response.status_code", code);
    span.SetError(response.status());
    span.End();
    std::move(done)(std::move(response));
  };
}

}  // namespace mandate
