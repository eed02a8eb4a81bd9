#include "manager/client/self_review.h"

#include <memory>
#include <utility>

#include "manager/core/executor.h"
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

absl::StatusOr<RestRequest> AccessRequest(std::string_view ns, const rbac::Rule& rule) {
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
  return Create(review);
}

absl::StatusOr<SelfSubjectAccessReview> ReviewOf(const absl::StatusOr<HttpResponse>& answer) {
  RETURN_IF_ERROR(answer.status());
  SelfSubjectAccessReview review;
  RETURN_IF_ERROR(FromJson(answer->body, review));
  return review;
}

using Reviews = std::vector<SelfSubjectAccessReview>;

// The state of MayIEach().
struct Outcome {
  Latch latch;
  absl::StatusOr<Reviews> result = absl::CancelledError("the loop has stopped");
};

// The pending questions. Their callbacks own it: it ends with the last answer, or when a loop that
// stops destroys them. Loop thread only.
class Round {
 public:
  Round(std::shared_ptr<Outcome> outcome, const CallContext& context, RestClient& client,
        std::vector<AccessQuestion> questions)
      : outcome_(std::move(outcome)),
        context_(context),
        client_(client),
        questions_(std::move(questions)),
        reviews_(questions_.size()) {}
  ~Round() { outcome_->latch.Set(); }

  // Asks the next question, if there is one.
  static void Ask(const std::shared_ptr<Round>& round) {
    Round& self = *round;
    if (self.asked_ == self.questions_.size() || !self.error_.ok()) return;
    const size_t i = self.asked_++;
    auto request = AccessRequest(self.questions_[i].ns, self.questions_[i].rule);
    if (!request.ok()) return self.Fail(request.status());
    self.client_.Send(self.context_, *std::move(request),
                      [round, i](absl::StatusOr<HttpResponse> answer) {
                        round->OnAnswer(i, ReviewOf(answer));
                        Ask(round);
                      });
  }

 private:
  void OnAnswer(size_t i, absl::StatusOr<SelfSubjectAccessReview> review) {
    if (!review.ok()) return Fail(review.status());
    reviews_[i] = *std::move(review);
    if (++answered_ == questions_.size()) outcome_->result = std::move(reviews_);
  }
  void Fail(const absl::Status& error) {
    error_.Update(error);
    outcome_->result = error_;
  }

  const std::shared_ptr<Outcome> outcome_;
  const CallContext context_;
  RestClient& client_;
  const std::vector<AccessQuestion> questions_;
  Reviews reviews_;
  size_t asked_ = 0, answered_ = 0;
  absl::Status error_;
};

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
  ASSIGN_OR_RETURN(RestRequest request, AccessRequest(ns, rule));
  return ReviewOf(client.Do(context, std::move(request)));
}

absl::StatusOr<Reviews> MayIEach(const CallContext& context, RestClient& client,
                                 std::vector<AccessQuestion> questions, size_t at_once) {
  if (questions.empty()) return Reviews();
  if (!client.loop().CanAwait()) {
    return absl::FailedPreconditionError("a blocking access review was made on the event loop");
  }
  const auto outcome = std::make_shared<Outcome>();
  auto round = std::make_shared<Round>(outcome, context, client, std::move(questions));
  client.loop().Post([round = std::move(round), at_once]() mutable {
    for (size_t i = 0; i < at_once; ++i) Round::Ask(round);
  });
  client.loop().Await(outcome->latch);
  return std::move(outcome->result);
}

}  // namespace mandate
