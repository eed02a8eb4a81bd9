#include "manager/who_am_i.h"

#include <utility>

#include "manager/core/status_macros.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/authentication_v1.h"

namespace mandate {

absl::StatusOr<rbac::UserInfo> WhoAmI(const CallContext& context, RestClient& client) {
  using authenticationv1::SelfSubjectReview;
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(KindOf<SelfSubjectReview>::value, {});
  request.idempotent = true;  // a review changes nothing
  ASSIGN_OR_RETURN(request.body, ToJson(SelfSubjectReview(), &KindOf<SelfSubjectReview>::value));
  ASSIGN_OR_RETURN(const HttpResponse response, client.Do(context, std::move(request)));
  SelfSubjectReview review;
  RETURN_IF_ERROR(FromJson(response.body, review));
  rbac::UserInfo user;
  user.name = review.status().userinfo().username();
  user.groups = {review.status().userinfo().groups().begin(),
                 review.status().userinfo().groups().end()};
  return user;
}

}  // namespace mandate
