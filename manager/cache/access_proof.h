// The proof that a component may read one scope. It is made under the component's own
// identity, and is valid for a limited time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/cache_metrics.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/loop_timer.h"
#include "manager/cache/probe_budget.h"
#include "manager/cache/watch_stream.h"
#include "manager/client/rest_client.h"
#include "manager/core/backoff.h"

namespace mandate {

// A proof is a SelfSubjectAccessReview for watch that allows the access, or a watch that the server
// has just accepted: a watch shows all that a list would show. If the state is requested by lists,
// a second review asks for list. A proof ends after its lifetime. Before that it is renewed by a
// watch that is closed at once; if the server does not accept this watch, by the reviews. Without
// an answer in time the proof expires. Only a review can deny; it is then repeated, slowly.
//
//   state      on                                    then
//   any        the reviews allow                     kProven
//   kDenied    the same, but a hint came meanwhile   kUnknown, reviewed again
//   kUnknown   the same                              as it was, reviewed again; so is kExpired
//   any        one does not                          kDenied; reviewed again after 1 s, 2 s … 60 s,
//                                                    when the ProbeBudget allows
//   any        no answer                             as it was; reviewed again after 0.8 s … 30 s
//   kProven    70 to 85 % of its lifetime; accepted  kProven, for another lifetime
//   kProven    the same; not accepted                as it was; reviewed at once
//   kProven    the lifetime since the last proof     kExpired
//   any        NoteProven(), NoteDenied()           kProven, kDenied
//   kProven    NoteLost()                            kExpired; reviewed after 0.8 s … 30 s
//   any        NoteLost(), a review is under way     as it was; reviewed after 0.8 s … 30 s
//
// Loop thread only.
class AccessProof : private WatchStream::Observer {
 public:
  enum class State { kUnknown, kProven, kDenied, kExpired };

  struct Options {
    absl::Duration proof_lifetime = absl::Minutes(5);
    absl::Duration review_timeout = absl::Seconds(10);
    bool needs_list = false;  // Cache sets it
    Backoff::Options error_backoff;
    Backoff::Options denied_backoff = {
        .initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(48), .jitter = 0.2};
    absl::Duration min_interval = absl::Seconds(1);  // between two checks
  };
  struct Config {
    DemandSpec spec;
    // The version at which a watch could begin now; "" while it is unknown.
    std::function<std::string()> version;
    Options options;
    std::mt19937_64& random;
    AccessMetrics& counts;
    ProbeBudget& probes;  // outlives the proof
    // A probe waits for the first turn of any of these: DemandSink::Flows().
    std::function<std::set<std::string>()> flows;
    // As in Reflector::Config.
    std::function<bool(std::string_view component)> namespace_is_gone = nullptr;
    // At each change of state or reason. Must not destroy the proof; may call its functions.
    std::function<void()> on_change;
  };

  // `client` outlives this. No request is sent before Check().
  AccessProof(Config config, RestClient& client);
  ~AccessProof() override;

  // Reviews now, or right after the review under way, whose answer may be outdated.
  void Check();
  // The access is not known yet, or may have changed: reviews when the budget allows, before the
  // periodic probes.
  void CheckSoon();
  // Config::flows has these, too.
  void AddFlows(const ProbeBudget::Flows& flows);
  // The server has accepted a watch of this component, for which it was asked at this time.
  void NoteProven(absl::Time asked);
  // The server has denied one. No more requests are sent until Check() or RetryLater().
  void NoteDenied(absl::Status why);
  void RetryLater();
  // The server no longer accepts the component's credential: the proof made with it ends.
  void NoteLost(const absl::Status& why);
  // Forgets everything, and sends no more requests until Check(). Does not call on_change.
  void Reset();

  // Whether a check is under way, or follows soon.
  bool IsChecking() const { return round_ != nullptr || probe_ != nullptr || again_; }
  State state() const { return state_; }
  // Why the state is not kProven; OK if it is. For kDenied it names component, verb and resource.
  const absl::Status& reason() const { return reason_; }
  // When the server was asked for the answer that last made it kProven. A change since then may be
  // newer than the answer.
  absl::Time proven_at() const { return proven_at_; }
  // The last check had no answer.
  bool failing() const { return error_backoff_.failures() > 0; }
  bool NamespaceIsGone() const {
    return namespace_is_gone_ != nullptr && namespace_is_gone_(client_.component());
  }

 private:
  struct Round;  // one check

  // The sink of the watch that renews the proof.
  void OnWatchOpen() override;
  void OnWatchEvent(WatchEvent) override {}
  void OnWatchEnd(const WatchStream::End& end) override;

  void Renew();
  void AskFor(ProbeBudget::Urgency urgency);
  // After a check without an answer.
  void CheckAgainLater();
  void Send(const std::string& verb, const std::shared_ptr<Round>& round);
  void OnReview(Round& round, const std::string& verb, absl::StatusOr<HttpResponse> response);
  void Conclude(Round& round);
  bool IsOutdated() const;
  void DropQuestions();
  absl::Status NotProvenYet() const;
  void Proven(absl::Time asked);
  void Denied(absl::Status why);
  void Failed(const absl::Status& why);
  void Become(State state, absl::Status reason);
  absl::Time Now() const { return client_.loop().clock().TimeNow(); }

  const DemandSpec spec_;
  const std::function<std::string()> version_;
  const Options options_;
  std::mt19937_64& random_;
  AccessMetrics& counts_;
  ProbeBudget& probes_;
  const std::function<std::set<std::string>()> flows_;
  const std::function<bool(std::string_view component)> namespace_is_gone_;
  const std::function<void()> on_change_;
  RestClient& client_;
  State state_ = State::kUnknown;
  absl::Status reason_;
  std::shared_ptr<Round> round_;                // under way
  std::unique_ptr<WatchStream> renewal_;        // under way
  std::unique_ptr<ProbeBudget::Ticket> probe_;  // a check that waits for the budget
  bool again_ = false;  // another check follows: after the current round, or after min_interval
  absl::Time last_check_ = absl::InfinitePast();
  absl::Time renewed_at_ = absl::InfinitePast();  // when the renewal was sent
  absl::Time proven_at_ = absl::InfinitePast();
  LoopTimer next_check_;
  LoopTimer expiry_;
  Backoff error_backoff_;
  Backoff denied_backoff_;
};

}  // namespace mandate
