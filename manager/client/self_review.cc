#include "manager/client/self_review.h"

#include "manager/core/status_macros.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/authentication_v1.h"

namespace mandate {
namespace {

using authenticationv1::SelfSubjectReview;
using authorizationv1::SelfSubjectAccessReview;

template <class Review>
absl::StatusOr<RestRequest> Create(const Review& review) {
  constexpr KindInfo kKind = KindOf<Review>::value;
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kKind, {});
  request.idempotent = true;  // it changes nothing
  ASSIGN_OR_RETURN(request.body, ToJson(review, &kKind));
  return request;
}

}  // namespace

// An empty message has its JSON.
RestRequest SelfReviewRequest() { return Create(SelfSubjectReview()).value(); }

absl::StatusOr<std::string> UserOfSelfReview(const absl::StatusOr<HttpResponse>& answer) {
  RETURN_IF_ERROR(answer.status());
  SelfSubjectReview self;
  RETURN_IF_ERROR(FromJson(answer->body, self));
  return self.status().userinfo().username();
}

absl::StatusOr<std::string> WhoAmI(const CallContext& context, RestClient& client) {
  return UserOfSelfReview(client.Do(context, SelfReviewRequest()));
}

absl::StatusOr<SelfSubjectAccessReview> MayI(const CallContext& context, RestClient& client,
                                             std::string_view ns, const rbac::Rule& rule) {
  SelfSubjectAccessReview review;
  if (!rule.non_resource_urls.empty()) {
    auto* asked = review.mutable_spec()->mutable_nonresourceattributes();
    asked->set_verb(rule.verbs[0]);
    asked->set_path(rule.non_resource_urls[0]);
  } else {
    auto* asked = review.mutable_spec()->mutable_resourceattributes();
    const std::string& resource = rule.resources[0];
    const size_t slash = resource.find('/');
    asked->set_verb(rule.verbs[0]);
    asked->set_group(rule.api_groups[0]);
    asked->set_resource(resource.substr(0, slash));
    if (slash != std::string::npos) asked->set_subresource(resource.substr(slash + 1));
    if (!rule.resource_names.empty()) asked->set_name(rule.resource_names[0]);
    if (!ns.empty()) asked->set_namespace_(std::string(ns));
  }
  ASSIGN_OR_RETURN(RestRequest request, Create(review));
  ASSIGN_OR_RETURN(const HttpResponse response, client.Do(context, std::move(request)));
  RETURN_IF_ERROR(FromJson(response.body, review));
  return review;
}

}  // namespace mandate
