#include "manager/leader/lease_client.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using coordinationv1::Lease;

constexpr char kProtobufType[] = "application/vnd.kubernetes.protobuf";

absl::Status WithText(const absl::Status& status, const std::string& text) {
  absl::Status result(status.code(), text);
  status.ForEachPayload([&result](absl::string_view url, const absl::Cord& payload) {
    result.SetPayload(url, payload);
  });
  return result;
}

absl::Status Explained(const absl::Status& status, const ObjectKey& key,
                       std::string_view component) {
  const std::string_view message = AsStd(status.message());
  if (IsForbidden(status)) {
    return WithText(
        status,
        StrCat(component, " may not use Lease ", key.ToString(), ": ", message,
               ". The chart grants it; without the chart, give its ServiceAccount a Role in "
               "namespace ",
               key.ns,
               " with:\nrules:\n- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n  "
               "resourceNames: [",
               key.name, "]\n  verbs: [create, get, patch, update]"));
  }
  return WithText(status, StrCat("Lease ", key.ToString(), ": ", message));
}

}  // namespace

LeaseClient::LeaseClient(RestClient& client, ObjectKey key)
    : client_(client), key_(std::move(key)) {}

void LeaseClient::Get(const CallContext& context, Done done) {
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(KindOf<Lease>::value, key_);
  Send(context, std::move(request), std::move(done));
}

void LeaseClient::Create(const CallContext& context, Done done) {
  RestRequest request;
  request.method = "PATCH";
  request.target = ResourceTarget(KindOf<Lease>::value, key_, "",
                                  {{"fieldManager", std::string(client_.component())}});
  request.content_type = "application/apply-patch+yaml";
  Lease lease;
  lease.mutable_metadata()->set_namespace_(key_.ns);
  lease.mutable_metadata()->set_name(key_.name);
  absl::StatusOr<std::string> body = EncodeObject(lease, Encoding::kJson);
  if (!body.ok()) return Fail(body.status(), std::move(done));
  request.body = *std::move(body);
  request.idempotent = true;
  Send(context, std::move(request), std::move(done));
}

void LeaseClient::Update(const CallContext& context, const Lease& lease, Done done) {
  RestRequest request;
  request.method = "PUT";
  request.target = ResourceTarget(KindOf<Lease>::value, key_);
  // Protobuf keeps the fields of a newer server that this binary does not have.
  absl::StatusOr<std::string> body = EncodeObject(lease, Encoding::kProtobuf);
  if (!body.ok()) return Fail(body.status(), std::move(done));
  request.body = *std::move(body);
  request.content_type = kProtobufType;
  Send(context, std::move(request), std::move(done));
}

void LeaseClient::Fail(absl::Status status, Done done) {
  client_.loop().Post([done = std::move(done), status = std::move(status)]() mutable {
    std::move(done)(std::move(status));
  });
}

void LeaseClient::Send(const CallContext& context, RestRequest request, Done done) {
  request.accept = kProtobufType;
  client_.Send(context, std::move(request),
               [done = std::move(done), key = key_, component = std::string(client_.component())](
                   absl::StatusOr<HttpResponse> response) mutable {
                 if (!response.ok()) {
                   std::move(done)(Explained(response.status(), key, component));
                   return;
                 }
                 absl::StatusOr<Lease> lease = DecodeObject<Lease>(
                     response->body, response->content_type.starts_with(kProtobufType)
                                         ? Encoding::kProtobuf
                                         : Encoding::kJson);
                 if (!lease.ok()) lease = Explained(lease.status(), key, component);
                 std::move(done)(std::move(lease));
               });
}

}  // namespace mandate
