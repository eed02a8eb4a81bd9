#include "manager/leader/testing/lease_server.h"

#include <cstdio>
#include <cstdlib>
#include <stop_token>

#include "manager/core/pending.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using coordinationv1::Lease;

constexpr char kProtobufType[] = "application/vnd.kubernetes.protobuf";

HttpResponse Error(int code) {
  HttpResponse response;
  response.code = code;
  return response;
}

}  // namespace

void LeaseServer::Edit(const std::function<void(Lease&)>& change) {
  change(*lease_);
  Bump();
}

void LeaseServer::Bump() {
  lease_->mutable_metadata()->set_resourceversion(std::to_string(++version_));
}

HttpResponse LeaseServer::Answer(const RestRequest& request) {
  constexpr char kLease[] = "/apis/coordination.k8s.io/v1/namespaces/system/leases/leader";
  const bool apply = request.method == "PATCH";
  if (request.target != StrCat(kLease, apply ? "?fieldManager=base" : "")) {
    std::fprintf(stderr, "LeaseServer: %s\n", request.target.c_str());
    std::abort();
  }
  if (apply) {
    absl::StatusOr<Lease> lease = DecodeObject<Lease>(request.body, Encoding::kJson);
    if (!lease.ok() || request.content_type != "application/apply-patch+yaml") return Error(400);
    if (!lease_.has_value()) Create();
  }
  if (!lease_.has_value()) return Error(404);
  if (request.method == "PUT") {
    absl::StatusOr<Lease> lease = DecodeObject<Lease>(request.body, Encoding::kProtobuf);
    if (!lease.ok() || request.content_type != kProtobufType) return Error(400);
    if (lease->metadata().resourceversion() != lease_->metadata().resourceversion()) {
      return Error(409);
    }
    lease_ = *std::move(lease);
    ++writes_;
    Bump();
  } else if (!apply && request.method != "GET") {
    return Error(405);
  }
  HttpResponse response;
  response.code = 200;
  response.content_type = kProtobufType;
  response.body = *EncodeObject(*lease_, Encoding::kProtobuf);
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
