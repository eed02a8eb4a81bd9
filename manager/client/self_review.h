// Asks the server about the client's own user, which every authenticated user may, and about other
// users, which needs `create` on subjectaccessreviews.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kinds/authentication_v1.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/rbac/rule.h"

namespace mandate {

// The request that asks whose credential this is, and the user name in the answer
// (SelfSubjectReview). Errors: the answer's own; kDataLoss or kInvalidArgument for an invalid
// answer.
RestRequest SelfReviewRequest();
absl::StatusOr<std::string> UserOfSelfReview(const absl::StatusOr<HttpResponse>& answer);

// The functions below block: not on the loop. Errors: RestClient's.

// Sends the request above, and returns the user name.
absl::StatusOr<std::string> WhoAmI(const CallContext& context, RestClient& client);

// Whether the client may do what `rule` says (SelfSubjectAccessReview, answered by the server).
// `rule` has one verb, one resource or URL, and at most one name. Empty `ns`: cluster-wide.
absl::StatusOr<authorizationv1::SelfSubjectAccessReview> CanI(const CallContext& context,
                                                              RestClient& client,
                                                              std::string_view ns,
                                                              const rbac::Rule& rule);

// One question of CanI().
struct AccessQuestion {
  std::string ns;
  rbac::Rule rule;
};

// The answer to one, with the server's reason, of which the beginning is kept (api_error.h).
using AccessAnswer = authorizationv1::SubjectAccessReviewStatus;

// The same for each question, at most `at_once` (1 or more) at a time; the answers have the order
// of the questions. The first error ends it: nothing more is asked.
absl::StatusOr<std::vector<AccessAnswer>> ReviewOwnAccess(const CallContext& context,
                                                          RestClient& client,
                                                          std::vector<AccessQuestion> questions,
                                                          size_t at_once);
// The same about `user` (SubjectAccessReview), with the user's groups and extra.
absl::StatusOr<std::vector<AccessAnswer>> ReviewUserAccess(const CallContext& context,
                                                           RestClient& client,
                                                           const authenticationv1::UserInfo& user,
                                                           std::vector<AccessQuestion> questions,
                                                           size_t at_once);

}  // namespace mandate
