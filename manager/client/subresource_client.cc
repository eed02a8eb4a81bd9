#include "manager/client/subresource_client.h"

#include <utility>

#include "manager/client/key_check.h"
#include "manager/client/patch_request.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr KindInfo kPod = BuiltIn("", "Pod", "pods");
constexpr KindInfo kServiceAccount = BuiltIn("", "ServiceAccount", "serviceaccounts");
constexpr char kScale[] = "scale";

std::string BindingBody(const ObjectKey& pod, std::string_view node, std::string_view uid) {
  Json::Value body;
  body["apiVersion"] = "v1";
  body["kind"] = "Binding";
  body["metadata"]["name"] = pod.name;
  body["metadata"]["namespace"] = pod.ns;
  if (!uid.empty()) body["metadata"]["uid"] = std::string(uid);
  body["target"]["apiVersion"] = "v1";
  body["target"]["kind"] = "Node";
  body["target"]["name"] = std::string(node);
  return WriteJson(body);
}

// The request to create a subresource of an object.
RestRequest Creation(const KindInfo& kind, const ObjectKey& key, std::string_view subresource,
                     const WriteOptions& options = {}) {
  std::vector<std::pair<std::string, std::string>> query;
  AppendTo(query, options);
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kind, key, subresource, query);
  request.idempotent = options.dry_run;
  return request;
}

}  // namespace

absl::Status SubresourceClient::Evict(const CallContext& context, const ObjectKey& pod,
                                      const EvictOptions& options) {
  RETURN_IF_ERROR(CheckKey(kPod, pod));
  RestRequest request = Creation(kPod, pod, "eviction", {.dry_run = options.dry_run});
  request.body = EvictionBody(pod, options);
  // With a UID it can only evict that one pod.
  request.idempotent = request.idempotent || !options.uid.empty();
  return rest_.Do(context, std::move(request)).status();
}

absl::Status SubresourceClient::Bind(const CallContext& context, const ObjectKey& pod,
                                     std::string_view node, const BindOptions& options) {
  RETURN_IF_ERROR(CheckKey(kPod, pod));
  if (node.empty()) {
    return absl::InvalidArgumentError(
        StrCat("the name of the node for Pod ", pod.ToString(), " is empty"));
  }
  RestRequest request = Creation(kPod, pod, "binding", {.dry_run = options.dry_run});
  request.body = BindingBody(pod, node, options.uid);
  return rest_.Do(context, std::move(request)).status();
}

absl::StatusOr<IssuedToken> SubresourceClient::CreateToken(const CallContext& context,
                                                           const ObjectKey& account,
                                                           const TokenOptions& options) {
  RETURN_IF_ERROR(CheckKey(kServiceAccount, account));
  RestRequest request = Creation(kServiceAccount, account, "token");
  request.body = TokenRequestBody(options.life, options.audiences, options.bound_secret);
  // A second token does no harm.
  request.idempotent = true;
  ASSIGN_OR_RETURN(const HttpResponse response, rest_.Do(context, std::move(request)));
  absl::StatusOr<IssuedToken> token = ParseTokenResponse(response.body);
  if (token.ok()) return token;
  return absl::InternalError(StrCat("the response to the token request for ServiceAccount ",
                                    account.ToString(),
                                    " is invalid: ", AsStd(token.status().message())));
}

absl::StatusOr<Scale> SubresourceClient::GetScale(const CallContext& context, const KindInfo& kind,
                                                  const ObjectKey& key) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(kind, key, kScale);
  return ExchangeScale(context, std::move(request));
}

absl::StatusOr<Scale> SubresourceClient::UpdateScale(const CallContext& context,
                                                     const KindInfo& kind, const ObjectKey& key,
                                                     const Scale& scale,
                                                     const WriteOptions& options) {
  if (scale.resource_version.empty()) {
    return absl::InvalidArgumentError(
        StrCat("the scale of ", kind.kind, " ", key.ToString(),
               " has no resourceVersion, so the update could overwrite other writes; get the "
               "scale, change it, and update that"));
  }
  RestRequest request;
  request.method = "PUT";
  request.body = ScaleBody(key, scale);
  return WriteScale(context, std::move(request), kind, key, options);
}

absl::StatusOr<Scale> SubresourceClient::PatchScale(const CallContext& context,
                                                    const KindInfo& kind, const ObjectKey& key,
                                                    const Patch& patch,
                                                    const WriteOptions& options) {
  return WriteScale(context, PatchRequest(patch), kind, key, options);
}

absl::StatusOr<Scale> SubresourceClient::WriteScale(const CallContext& context, RestRequest request,
                                                    const KindInfo& kind, const ObjectKey& key,
                                                    const WriteOptions& options) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  std::vector<std::pair<std::string, std::string>> query = {
      {"fieldManager", std::string(rest_.component())}};
  AppendTo(query, options);
  request.target = ResourceTarget(kind, key, kScale, query);
  request.idempotent = options.dry_run;
  ASSIGN_OR_RETURN(Scale written, ExchangeScale(context, std::move(request)));
  // A scale has the version of its object.
  if (!options.dry_run) rest_.own_writes().Wrote(kind, key, written.resource_version);
  return written;
}

absl::StatusOr<Scale> SubresourceClient::ExchangeScale(const CallContext& context,
                                                       RestRequest request) {
  const std::string what = request.ToString();
  ASSIGN_OR_RETURN(const HttpResponse response, rest_.Do(context, std::move(request)));
  absl::StatusOr<Scale> scale = ParseScale(response.body);
  if (scale.ok()) return scale;
  return absl::InternalError(
      StrCat("the response to ", what, " is invalid: ", AsStd(scale.status().message())));
}

}  // namespace mandate
