#include "manager/client/self_review.h"

#include <functional>
#include <memory>
#include <utility>

#include "manager/core/executor.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"
#include "manager/object/api_error.h"
#include "manager/object/json_codec.h"

namespace mandate {
namespace {

using authenticationv1::SelfSubjectReview;
using authorizationv1::SelfSubjectAccessReview;
using authorizationv1::SubjectAccessReview;
using authorizationv1::SubjectAccessReviewSpec;

std::string_view WithoutLast(std::string_view text) { return text.substr(0, text.size() - 1); }

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

// Sets what is asked; `Spec` is that of a SelfSubjectAccessReview or of a SubjectAccessReview.
template <class Spec>
void SetAsked(std::string_view ns, const rbac::Rule& rule, Spec& spec) {
  if (!rule.non_resource_urls.empty()) {
    auto* asked = spec.mutable_nonresourceattributes();
    asked->set_verb(rule.verbs[0]);
    asked->set_path(rule.non_resource_urls[0]);
  } else {
    auto* asked = spec.mutable_resourceattributes();
    const std::string& resource = rule.resources[0];
    const size_t slash = resource.find('/');
    asked->set_verb(rule.verbs[0]);
    asked->set_group(rule.api_groups[0]);
    asked->set_resource(resource.substr(0, slash));
    if (slash != std::string::npos) asked->set_subresource(resource.substr(slash + 1));
    if (!rule.resource_names.empty()) asked->set_name(rule.resource_names[0]);
    if (!ns.empty()) asked->set_namespace_(std::string(ns));
  }
}

absl::StatusOr<RestRequest> AccessRequest(std::string_view ns, const rbac::Rule& rule) {
  SelfSubjectAccessReview review;
  SetAsked(ns, rule, *review.mutable_spec());
  return Create(review);
}

absl::StatusOr<SelfSubjectAccessReview> ReviewOf(const absl::StatusOr<HttpResponse>& answer) {
  RETURN_IF_ERROR(answer.status());
  SelfSubjectAccessReview review;
  RETURN_IF_ERROR(FromJson(answer->body, review));
  auto& status = *review.mutable_status();
  status.set_reason(Abbreviated(status.reason(), kMaxErrorMessage));
  status.set_evaluationerror(Abbreviated(status.evaluationerror(), kMaxErrorMessage));
  return review;
}

using Answers = std::vector<AccessAnswer>;
using MakeRequest = std::function<absl::StatusOr<RestRequest>(const AccessQuestion&)>;

// The state of AskEach().
struct Outcome {
  Latch latch;
  absl::StatusOr<Answers> result = absl::CancelledError("the loop has stopped");
};

// The pending questions. Their callbacks own it: it ends with the last answer, or when a loop that
// stops destroys them. Loop thread only.
class Round {
 public:
  Round(std::shared_ptr<Outcome> outcome, const CallContext& context, RestClient& client,
        std::vector<AccessQuestion> questions, MakeRequest make_request)
      : outcome_(std::move(outcome)),
        context_(context),
        client_(client),
        questions_(std::move(questions)),
        make_request_(std::move(make_request)),
        answers_(questions_.size()) {}
  ~Round() { outcome_->latch.Set(); }

  // Asks the next question, if there is one.
  static void Ask(const std::shared_ptr<Round>& round) {
    Round& self = *round;
    if (self.asked_ == self.questions_.size() || !self.error_.ok()) return;
    const size_t i = self.asked_++;
    auto request = self.make_request_(self.questions_[i]);
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
    answers_[i] = review->status();
    if (++answered_ == questions_.size()) outcome_->result = std::move(answers_);
  }
  void Fail(const absl::Status& error) {
    error_.Update(error);
    outcome_->result = error_;
  }

  const std::shared_ptr<Outcome> outcome_;
  const CallContext context_;
  RestClient& client_;
  const std::vector<AccessQuestion> questions_;
  const MakeRequest make_request_;
  Answers answers_;
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

absl::StatusOr<SelfSubjectAccessReview> CanI(const CallContext& context, RestClient& client,
                                             std::string_view ns, const rbac::Rule& rule) {
  ASSIGN_OR_RETURN(RestRequest request, AccessRequest(ns, rule));
  return ReviewOf(client.Do(context, std::move(request)));
}

namespace {

absl::StatusOr<Answers> AskEach(const CallContext& context, RestClient& client,
                                std::vector<AccessQuestion> questions, size_t at_once,
                                MakeRequest make_request) {
  if (questions.empty()) return Answers();
  if (!client.loop().CanAwait()) {
    return absl::FailedPreconditionError("a blocking access review was made on the event loop");
  }
  const auto outcome = std::make_shared<Outcome>();
  auto round = std::make_shared<Round>(outcome, context, client, std::move(questions),
                                       std::move(make_request));
  client.loop().Post([round = std::move(round), at_once]() mutable {
    for (size_t i = 0; i < at_once; ++i) Round::Ask(round);
  });
  client.loop().Await(outcome->latch);
  return std::move(outcome->result);
}

}  // namespace

absl::StatusOr<Answers> ReviewOwnAccess(const CallContext& context, RestClient& client,
                                        std::vector<AccessQuestion> questions, size_t at_once) {
  return AskEach(context, client, std::move(questions), at_once,
                 [](const AccessQuestion& asked) { return AccessRequest(asked.ns, asked.rule); });
}

absl::StatusOr<Answers> ReviewUserAccess(const CallContext& context, RestClient& client,
                                         const authenticationv1::UserInfo& user,
                                         std::vector<AccessQuestion> questions, size_t at_once) {
  SubjectAccessReview about;
  about.mutable_spec()->set_user(user.username());
  about.mutable_spec()->set_uid(user.uid());
  *about.mutable_spec()->mutable_groups() = user.groups();
  for (const auto& [key, values] : user.extra()) {
    *(*about.mutable_spec()->mutable_extra())[key].mutable_items() = values.items();
  }
  // The user may be large and the questions many: the user is encoded once, and not on the loop.
  ASSIGN_OR_RETURN(RestRequest request, Create(SubjectAccessReview()));
  ASSIGN_OR_RETURN(const std::string user_json, ToJson(about.spec()));
  // Both objects are open: the attributes and "}}" follow.
  request.body = StrCat(WithoutLast(request.body), R"(,"spec":)", WithoutLast(user_json), ",");
  return AskEach(context, client, std::move(questions), at_once,
                 [request = std::make_shared<const RestRequest>(std::move(request))](
                     const AccessQuestion& asked) -> absl::StatusOr<RestRequest> {
                   SubjectAccessReviewSpec attributes;
                   SetAsked(asked.ns, asked.rule, attributes);
                   ASSIGN_OR_RETURN(const std::string json, ToJson(attributes));
                   RestRequest one = *request;
                   StrAppend(&one.body, std::string_view(json).substr(1), "}");
                   return one;
                 });
}

}  // namespace mandate
