#include "manager/cache/access_proof.h"

#include <algorithm>
#include <utility>

#include "manager/cache/watch_errors.h"
#include "manager/cache/watch_request.h"
#include "manager/client/too_large.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using Review = authorizationv1::SelfSubjectAccessReview;

}  // namespace

struct AccessProof::Round {
  AccessProof* owner;
  std::stop_source stop;
  // If the budget has run the check: it is under way as long as the round is.
  std::unique_ptr<ProbeBudget::Ticket> ticket = nullptr;
  int awaited = 0;       // reviews
  absl::Status error;    // of the first review without an answer
  absl::Status refusal;  // of the first that said no
};

AccessProof::AccessProof(Config config, RestClient& client)
    : spec_(std::move(config.spec)),
      version_(std::move(config.version)),
      options_(config.options),
      random_(config.random),
      counts_(config.counts),
      probes_(config.probes),
      flows_(std::move(config.flows)),
      namespace_is_gone_(std::move(config.namespace_is_gone)),
      on_change_(std::move(config.on_change)),
      client_(client),
      reason_(NotProvenYet()),
      next_check_(client.loop()),
      expiry_(client.loop()),
      error_backoff_(options_.error_backoff),
      denied_backoff_(options_.denied_backoff) {}

AccessProof::~AccessProof() { DropQuestions(); }

absl::Status AccessProof::NotProvenYet() const {
  return absl::UnavailableError(StrCat("the access of ", client_.component(), " to ",
                                       spec_.ToString(), " is not proven yet"));
}

void AccessProof::Reset() {
  DropQuestions();
  next_check_.Cancel();
  expiry_.Cancel();
  error_backoff_.Reset();
  denied_backoff_.Reset();
  state_ = State::kUnknown;
  reason_ = NotProvenYet();
}

void AccessProof::DropQuestions() {
  again_ = false;
  probe_.reset();
  renewal_.reset();
  if (const auto round = std::move(round_)) round->stop.request_stop();
}

void AccessProof::Renew() {
  const std::string version = version_();
  if (version.empty()) return Check();
  // A quiet system sends watches anyway. The right to watch shows everything that a list would
  // show, so the right to list is not checked again.
  renewed_at_ = Now();
  renewal_ = std::make_unique<WatchStream>(
      client_,
      WatchRequest(spec_, Encoding::kJson,
                   {.resource_version = version, .timeout = absl::Seconds(1)}),
      WatchStream::Options{.lifetime = options_.review_timeout},
      static_cast<WatchStream::Observer&>(*this));
}

void AccessProof::OnWatchOpen() {
  renewal_.reset();
  counts_.renewals.Increment();
  Proven(renewed_at_);
  if (again_) Check();
}

void AccessProof::OnWatchEnd(const WatchStream::End&) {
  renewal_.reset();
  Check();
}

void AccessProof::CheckSoon() {
  denied_backoff_.Reset();
  if (probe_ != nullptr && probe_->IsWaitingHint()) return;
  AskFor(state_ == State::kProven   ? ProbeBudget::Urgency::kRecheck
         : state_ == State::kDenied ? ProbeBudget::Urgency::kHint
                                    : ProbeBudget::Urgency::kFirst);
}

void AccessProof::AskFor(ProbeBudget::Urgency urgency) {
  probe_ = probes_.Ask(client_.component(), flows_(), urgency, [this] { Check(); });
}

void AccessProof::CheckAgainLater() {
  next_check_.SetAfter(error_backoff_.Next(random_), [this] {
    if (probe_ != nullptr && probe_->IsWaitingHint()) return;
    AskFor(state_ == State::kDenied ? ProbeBudget::Urgency::kPeriodic
                                    : ProbeBudget::Urgency::kFirst);
  });
}

void AccessProof::AddFlows(const ProbeBudget::Flows& flows) {
  if (probe_ != nullptr) probe_->Join(flows);
}

void AccessProof::Check() {
  auto ticket = std::move(probe_);
  if (round_ != nullptr) {
    again_ = true;
    return;
  }
  const absl::Time earliest = last_check_ + options_.min_interval;
  if (Now() < earliest) {
    again_ = true;
    next_check_.Set(earliest, [this] { Check(); });
    return;
  }
  next_check_.Cancel();
  renewal_.reset();
  again_ = false;
  last_check_ = Now();
  round_ = std::make_shared<Round>(
      Round{.owner = this, .stop = {}, .ticket = std::move(ticket), .error = {}, .refusal = {}});
  const std::shared_ptr<Round> round = round_;
  if (options_.needs_list) Send("list", round);
  Send("watch", round);
}

void AccessProof::Send(const std::string& verb, const std::shared_ptr<Round>& round) {
  ++round->awaited;
  Review review;
  auto* attributes = review.mutable_spec()->mutable_resourceattributes();
  attributes->set_verb(verb);
  attributes->set_group(std::string(spec_.kind.group));
  attributes->set_version(std::string(spec_.kind.version));
  attributes->set_resource(std::string(spec_.kind.plural));
  if (!spec_.ns.empty()) attributes->set_namespace_(spec_.ns);
  if (!spec_.name.empty()) attributes->set_name(spec_.name);
  const auto done = [weak = std::weak_ptr<Round>(round),
                     verb](absl::StatusOr<HttpResponse> response) {
    auto round = weak.lock();
    if (round != nullptr) round->owner->OnReview(*round, verb, std::move(response));
  };
  auto body = EncodeObject(review, Encoding::kJson);
  if (!body.ok()) {
    client_.loop().Post([done, status = body.status()] { done(status); });
    return;
  }
  client_.Send(CallContext{Now() + options_.review_timeout, round->stop.get_token()},
               {.method = "POST",
                .target = ResourceTarget(KindOf<Review>::value, {}),
                .body = *std::move(body),
                .idempotent = true},
               done);
}

void AccessProof::OnReview(Round& round, const std::string& verb,
                           absl::StatusOr<HttpResponse> response) {
  --round.awaited;
  absl::StatusOr<Review> review =
      response.ok() ? DecodeObject<Review>(response->body, Encoding::kJson) : response.status();
  if (IsTooLarge(review.status())) {
    // Only the reason of a denial can be so long: tenants choose the names of the roles in it.
    counts_.denied.Increment();
    round.refusal.Update(absl::PermissionDeniedError(
        StrCat(client_.component(), " may not ", verb, " ", spec_.ToString(),
               ", or the API server gives a reason that is too long to read: ",
               AsStd(review.status().message()))));
  } else if (!review.ok()) {
    counts_.errors.Increment();
    round.error.Update(review.status());
  } else if (review->status().allowed()) {
    counts_.allowed.Increment();
  } else {
    counts_.denied.Increment();
    const std::string why = Abbreviated(review->status().reason(), kMaxErrorMessage);
    round.refusal.Update(AccessDenied(client_.component(), verb, spec_.ToString(), why));
  }
  if (round.awaited == 0) Conclude(round);
}

// A hint came after the question: a denial may be newer than the answer.
bool AccessProof::IsOutdated() const {
  return again_ || (probe_ != nullptr && probe_->IsWaitingHint());
}

void AccessProof::Conclude(Round& round) {
  const std::shared_ptr<Round> ended = std::move(round_);
  const bool is_answered = round.error.ok() || !round.refusal.ok();
  if (is_answered && round.ticket != nullptr) round.ticket->NoteAnswer();
  // One denial is enough, whatever the other review says.
  if (!round.refusal.ok()) {
    Denied(round.refusal);
  } else if (!round.error.ok()) {
    Failed(round.error);
  } else if (IsOutdated() && state_ != State::kProven) {
    last_check_ = absl::InfinitePast();  // the next one need not wait
    if (state_ == State::kDenied) Become(State::kUnknown, NotProvenYet());
  } else {
    Proven(last_check_);
  }
  if (std::exchange(again_, false)) Check();
}

void AccessProof::NoteProven(absl::Time asked) {
  // The answers to a check under way may be older or newer than the watch: it starts again.
  const bool check = round_ != nullptr || again_;
  // So may the change that a hint reports.
  auto hint = probe_ != nullptr && probe_->IsWaitingHint() ? std::move(probe_) : nullptr;
  DropQuestions();
  Proven(asked);
  probe_ = std::move(hint);
  if (check) Check();
}

void AccessProof::NoteDenied(absl::Status why) {
  DropQuestions();
  next_check_.Cancel();
  expiry_.Cancel();
  Become(State::kDenied, std::move(why));
}

void AccessProof::RetryLater() {
  next_check_.SetAfter(denied_backoff_.Next(random_), [this] {
    if (NamespaceIsGone()) return RetryLater();
    if (probe_ != nullptr && probe_->IsWaitingHint()) return;
    AskFor(ProbeBudget::Urgency::kPeriodic);
  });
}

void AccessProof::NoteLost(const absl::Status& why) {
  const bool asked = round_ != nullptr || renewal_ != nullptr || again_;
  if (state_ != State::kProven && !asked) return;
  // A review that was sent with that credential may still be allowed.
  DropQuestions();
  expiry_.Cancel();
  CheckAgainLater();
  if (state_ != State::kProven) return;
  Become(State::kExpired,
         absl::UnavailableError(StrCat(client_.component(), " has no credential that the server ",
                                       "accepts: ", AsStd(why.message()))));
}

void AccessProof::Proven(absl::Time asked) {
  proven_at_ = asked;
  error_backoff_.Reset();
  denied_backoff_.Reset();
  // It is early enough for a few retries, and differs between proofs, so that not all are renewed
  // at once.
  next_check_.SetAfter(
      options_.proof_lifetime * std::uniform_real_distribution<double>(0.7, 0.85)(random_),
      [this] { Renew(); });
  expiry_.SetAfter(options_.proof_lifetime, [this] {
    Become(State::kExpired, absl::UnavailableError(StrCat(
                                "the access of ", client_.component(), " to ", spec_.ToString(),
                                " could not be proven again within ",
                                absl::FormatDuration(options_.proof_lifetime), "; retrying")));
  });
  Become(State::kProven, absl::OkStatus());
}

void AccessProof::Denied(absl::Status why) {
  error_backoff_.Reset();
  expiry_.Cancel();
  RetryLater();
  Become(State::kDenied, std::move(why));
}

void AccessProof::Failed(const absl::Status& why) {
  CheckAgainLater();
  if (state_ != State::kUnknown && state_ != State::kExpired) return;
  Become(state_,
         absl::Status(absl::StatusCode::kUnavailable,
                      StrCat("the access of ", client_.component(), " to ", spec_.ToString(),
                             " could not be proven; retrying: ", AsStd(why.message()))));
}

void AccessProof::Become(State state, absl::Status reason) {
  if (state == state_ && reason == reason_) return;
  state_ = state;
  reason_ = std::move(reason);
  on_change_();
}

}  // namespace mandate
