#include "manager/leader/testing/lease_server.h"

#include <cstdlib>
#include <stop_token>

#include "manager/core/pending.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/object_codec.h"
#include "testing/apiserver/http_head.h"
#include "testing/apiserver/testing/recorded_exchange.h"

namespace mandate {
namespace {

using coordinationv1::Lease;

const apiserver::GroupResource kLeases{"coordination.k8s.io", "leases"};

apiserver::ServerOptions ServerOptions() {
  apiserver::ServerOptions options;
  options.objects = {R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"system"}})"};
  return options;
}

}  // namespace

LeaseServer::LeaseServer(Loop& loop) : core_(loop, ServerOptions()) {}

void LeaseServer::Create() {
  Lease lease;
  lease.mutable_metadata()->set_namespace_("system");
  lease.mutable_metadata()->set_name("leader");
  if (!core_.Load(*EncodeObject(lease, Encoding::kJson)).ok()) std::abort();
}

void LeaseServer::Delete() { core_.store().Delete(kLeases, "system", "leader"); }

Lease LeaseServer::lease() {
  const auto stored = core_.store().Get(kLeases, "system", "leader");
  return Must(DecodeObject<Lease>(stored->json, Encoding::kJson));
}

void LeaseServer::Edit(const std::function<void(Lease&)>& change) {
  Lease edited = lease();
  change(edited);
  core_.store().Put(kLeases, Must(ParseJson(*EncodeObject(edited, Encoding::kJson))));
}

HttpResponse LeaseServer::Answer(const RestRequest& request) {
  apiserver::Headers headers = {{"accept", request.accept},
                                {"authorization", StrCat("Bearer ", apiserver::kAdminToken)}};
  if (!request.body.empty()) headers.emplace_back("content-type", request.content_type);
  const auto exchange = std::make_shared<apiserver::RecordedExchange>(Must(
      apiserver::Request::Parse(request.method, request.target, std::move(headers), request.body)));
  core_.Serve(exchange);
  HttpResponse response = apiserver::ToHead(exchange->head());
  response.body = exchange->body();
  writes_ += request.method == "PUT" && response.code == 200;
  return response;
}

struct LossyLeaseClient::Call {
  Pending<absl::StatusOr<HttpResponse>> pending;

  void End(absl::StatusOr<HttpResponse> result) {
    if (!pending.taken()) std::move(pending.Take())(std::move(result));
  }
};

LossyLeaseClient::LossyLeaseClient(LeaseServer& server, SimulatedLoop& loop, absl::Duration skew)
    : server_(server), simulated_(loop), loop_(loop, skew) {}

LossyLeaseClient::~LossyLeaseClient() = default;

void LossyLeaseClient::Send(const CallContext& context, RestRequest request, Done done) {
  const absl::Time now = simulated_.clock().TimeNow();
  requests.emplace_back(now, request);
  const Fault what = fault ? fault(request) : Fault();
  std::erase_if(calls_, [](const auto& call) { return call->pending.taken(); });
  const auto call =
      std::make_shared<Call>(Call{Pending<absl::StatusOr<HttpResponse>>(std::move(done))});
  calls_.insert(call);
  call->pending.Arm(simulated_, context, [call = call.get()](absl::StatusCode why) {
    call->End(absl::Status(why, "deadline exceeded or cancelled"));
  });
  if (!what.error.ok()) {
    simulated_.Post([call, error = what.error] { call->End(error); });
    return;
  }
  if (what.lost) return;
  simulated_.PostAt(now + what.there, [this, call, what, request = std::move(request)] {
    const HttpResponse response = what.reply.has_value() ? *what.reply : server_.Answer(request);
    if (what.reply_lost) return;
    simulated_.PostAt(simulated_.clock().TimeNow() + what.back, [call, response] {
      if (response.code / 100 == 2) {
        call->End(response);
      } else {
        call->End(StatusFromResponse(response.code, response.body));
      }
    });
  });
}

}  // namespace mandate
