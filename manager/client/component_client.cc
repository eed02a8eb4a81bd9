#include "manager/client/component_client.h"

#include <utility>

#include "manager/client/request_span.h"
#include "manager/client/watch_session.h"
#include "manager/core/not_sent.h"
#include "manager/core/strings.h"

namespace mandate {

absl::StatusOr<std::unique_ptr<ComponentClient>> ComponentClient::Create(Options options) {
  if (options.loop == nullptr || options.transport == nullptr || options.identity == nullptr ||
      options.mandate == nullptr) {
    return absl::InvalidArgumentError(
        "a component's client needs a loop, a transport, an identity and a mandate");
  }
  if (options.identity->name() != options.mandate->component) {
    return absl::InvalidArgumentError(StrCat("the mandate of ", options.mandate->component,
                                             " is not for the identity of ",
                                             options.identity->name()));
  }
  return std::unique_ptr<ComponentClient>(new ComponentClient(std::move(options)));
}

ComponentClient::ComponentClient(Options options)
    : options_(std::move(options)),
      guard_(*options_.mandate, options_.guard, options_.on_undeclared, options_.metrics),
      metrics_(options_.metrics, *options_.identity),
      auth_(options_, metrics_, guard_),
      in_flight_limit_(options_, metrics_, auth_),
      retry_(options_, metrics_, in_flight_limit_) {}

void ComponentClient::Send(const CallContext& context, RestRequest request, Done done) {
  absl::Status refused = guard_.Check(request.method, request.target, request.content_type);
  Span span = RequestSpan(context.trace, options_.identity->name(), request);
  CallContext traced = context;
  traced.trace = span.context();
  auto call = std::make_shared<ClientCall>(traced, std::move(request),
                                           EndingSpan(std::move(span), std::move(done)));
  const auto refuse = [call](absl::Status why) {
    std::move(call->pending.Take())(MarkNotSent(std::move(why)));
  };
  if (!refused.ok()) return options_.loop->Post([refuse, refused] { refuse(refused); });
  options_.loop->Post(weak_.BindOr(
      [this, call] { retry_.Begin(call); },
      [refuse] { refuse(absl::CancelledError("the component's client was destroyed")); }));
}

std::unique_ptr<Stream> ComponentClient::Watch(RestRequest request,
                                               std::shared_ptr<StreamSink> sink) {
  absl::Status allowed = guard_.Check(request.method, request.target);
  if (allowed.ok()) return auth_.Watch(std::move(request), std::move(sink));
  return WatchSession::Reject(*options_.loop, std::move(sink), std::move(allowed));
}

}  // namespace mandate
