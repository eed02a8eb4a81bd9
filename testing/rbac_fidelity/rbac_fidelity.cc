// Compares manager/rbac with a real API server; see testing/rbac_fidelity/run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"
#include "testing/conformance/cluster_target.h"
#include "testing/rbac_fidelity/decide.h"
#include "testing/rbac_fidelity/probes.h"
#include "testing/rbac_fidelity/server.h"

namespace mandate::fidelity {
namespace {

constexpr int kShownMismatches = 10;
constexpr int kMinAllowedPercent = 30;
constexpr int kPolicyAttempts = 3;
constexpr int kDecisionsPerWorld = 5000;

struct Flags {
  std::string kubeconfig;
  uint64_t seed = std::random_device()();
  int decisions = 5000;
  int requests = 1000;
  int grants = 500;
  std::string seed_bug;
};

template <class T>
bool Holds(const std::vector<T>& all, const std::vector<T>& some) {
  return std::all_of(some.begin(), some.end(), [&](const T& object) {
    return std::find(all.begin(), all.end(), object) != all.end();
  });
}

// Checks that the listed objects equal the sent ones, which also tests the conversions.
absl::Status CheckRoundTrip(const rbac::Policy& listed, const rbac::Policy& sent) {
  const bool whole = Holds(listed.roles, sent.roles) &&
                     Holds(listed.cluster_roles, sent.cluster_roles) &&
                     Holds(listed.role_bindings, sent.role_bindings) &&
                     Holds(listed.cluster_role_bindings, sent.cluster_role_bindings);
  return whole ? absl::OkStatus()
               : absl::InternalError("an object that was created is not listed as it was sent");
}

struct Round {
  rbac::Policy policy;
  std::vector<Answer> answers;
};

// The server's controllers change its own roles while it starts, so answers count only if the
// policy was the same before and after.
absl::StatusOr<Round> Ask(HttpClient& http, const std::vector<Question>& questions) {
  ASSIGN_OR_RETURN(rbac::Policy before, ListPolicy(http));
  for (int i = 0; i < kPolicyAttempts; ++i) {
    ASSIGN_OR_RETURN(std::vector<Answer> answers, Review(http, questions));
    ASSIGN_OR_RETURN(rbac::Policy after, ListPolicy(http));
    if (before == after) return Round{std::move(after), std::move(answers)};
    before = std::move(after);
  }
  return absl::UnavailableError("someone else keeps changing the cluster's RBAC objects");
}

struct Tally {
  int asked = 0;
  int allowed = 0;
};

// The results of all worlds.
struct Totals {
  std::map<std::string_view, Tally> features;
  Tally all;
  int mismatches = 0;
};

// Compares the answers, adds to the totals, and prints the first mismatches.
void Compare(const Flags& flags, const std::vector<Question>& questions, const Round& round,
             Totals& totals) {
  const rbac::Authorizer authorizer(round.policy);
  const bool seeded = !flags.seed_bug.empty();
  const Decision decide = seeded ? SeededBugs().at(flags.seed_bug) : Decision(Allowed);
  for (size_t i = 0; i < questions.size(); ++i) {
    const Question& q = questions[i];
    const Answer& answer = round.answers[i];
    ++totals.all.asked;
    totals.all.allowed += answer.allowed;
    for (std::string_view feature : FeaturesOf(authorizer, q)) {
      ++totals.features[feature].asked;
      totals.features[feature].allowed += answer.allowed;
    }
    const bool ours = decide(authorizer, q);
    std::string why;
    if (ours != answer.allowed) {
      why = StrCat("the server ", answer.allowed ? "allows" : "refuses", " (", answer.reason,
                   "), we do not agree");
    } else if (!seeded) {
      why = std::string(CheckReason(authorizer, q, answer.allowed, answer.reason).message());
    }
    if (why.empty()) continue;
    if (++totals.mismatches <= kShownMismatches && !seeded) {
      std::cout << "MISMATCH at question " << i << ": " << q.ToString() << "\n  " << why << "\n";
    }
  }
}

// Prints the table of features. False if a feature was never asked, or too few requests were
// allowed.
bool Complete(const Totals& totals) {
  bool complete = true;
  for (std::string_view feature : AllFeatures()) {
    const auto found = totals.features.find(feature);
    const Tally t = found == totals.features.end() ? Tally() : found->second;
    std::cout << absl::StrFormat("  %-42s %6d asked %6d allowed\n", AsAbsl(feature), t.asked,
                                 t.allowed);
    complete = complete && t.asked > 0;
  }
  return complete && totals.all.allowed * 100 >= totals.all.asked * kMinAllowedPercent;
}

// Returns the number of requests that the server parses differently from us.
absl::StatusOr<int> Probed(const Flags& flags, HttpClient& http, uint64_t seed) {
  const std::string user = StrCat("fid-", seed, "-nobody");
  Probes probes(user, seed);
  std::vector<Request> requests;
  for (int i = 0; i < flags.requests; ++i) requests.push_back(probes.Next());
  ASSIGN_OR_RETURN(const std::vector<Response> responses, http.SendAll(requests, 8));
  int different = 0;
  int compared = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const ProbeVerdict verdict = fidelity::Compare(user, requests[i], responses[i]);
    compared += verdict.result != ProbeResult::kNotComparable;
    if (verdict.result != ProbeResult::kDifferent) continue;
    if (++different > kShownMismatches) continue;
    std::cout << "MISMATCH: " << requests[i].method << " " << requests[i].target << "\n  expected "
              << verdict.expected << "\n  got      " << verdict.got << "\n";
  }
  std::cout << absl::StrFormat("%d requests, %d compared, %d read differently\n", flags.requests,
                               compared, different);
  if (compared * 2 < flags.requests) {
    return absl::InternalError("fewer than half of the requests could be compared");
  }
  return different;
}

// Returns the number of attempts to grant permissions that the server answers differently from our
// expectation.
absl::StatusOr<int> Granted(const Flags& flags, HttpClient& http, const rbac::Policy& policy,
                            Questions& source) {
  const rbac::Authorizer authorizer(policy);
  std::vector<GrantAttempt> attempts;
  for (int i = 0; i < flags.grants; ++i) attempts.push_back(source.NextGrant());
  ASSIGN_OR_RETURN(const std::vector<int> statuses, TryGrants(http, attempts));
  std::map<int, int> answers;
  int different = 0;
  for (size_t i = 0; i < attempts.size(); ++i) {
    ++answers[statuses[i]];
    const int expected = ExpectedStatus(authorizer, attempts[i]);
    if (statuses[i] == expected || ++different > kShownMismatches) continue;
    std::cout << "MISMATCH: " << attempts[i].ToString() << "\n  expected " << expected << ", got "
              << statuses[i] << "\n";
  }
  std::cout << absl::StrFormat(
      "%d grants, %d accepted, %d refused, %d of no such role, %d answered differently\n",
      flags.grants, answers[201], answers[403], answers[404], different);
  return different;
}

// Tests one generated policy with the questions; returns the number of other differences.
absl::StatusOr<int> RunWorld(const Flags& flags, HttpClient& http, uint64_t seed, int decisions,
                             Totals& totals) {
  const World world = MakeWorld(seed);
  RETURN_IF_ERROR(Load(http, world));
  RETURN_IF_ERROR(AwaitAuthorizer(http, world));
  Questions source(world, seed);
  std::vector<Question> questions;
  for (int i = 0; i < decisions; ++i) questions.push_back(source.Next());
  ASSIGN_OR_RETURN(const Round round, Ask(http, questions));
  RETURN_IF_ERROR(CheckRoundTrip(round.policy, world.policy));
  const rbac::Policy& p = round.policy;
  std::cout << "world " << seed << ": " << p.roles.size() << " roles, " << p.cluster_roles.size()
            << " cluster roles, " << p.role_bindings.size() << " role bindings, "
            << p.cluster_role_bindings.size() << " cluster role bindings\n";
  Compare(flags, questions, round, totals);
  if (!flags.seed_bug.empty()) return 0;
  ASSIGN_OR_RETURN(const int different, Probed(flags, http, seed));
  ASSIGN_OR_RETURN(const int answered, Granted(flags, http, round.policy, source));
  return different + answered;
}

absl::StatusOr<bool> Run(const Flags& flags) {
  std::cout << "seed " << flags.seed << " (replay: --seed " << flags.seed << " --decisions "
            << flags.decisions << " --requests " << flags.requests << " --grants " << flags.grants
            << ")\n";
  ASSIGN_OR_RETURN(const conformance::Target target,
                   conformance::TargetOfKubeconfig(flags.kubeconfig));
  if (!target.token.empty()) {
    return absl::InvalidArgumentError(
        StrCat(flags.kubeconfig, ": needs a client certificate; use an administrator's"));
  }
  HttpClient http(target.connection);
  Totals totals;
  int different = 0;
  uint64_t seed = flags.seed;
  for (int left = flags.decisions; left > 0; left -= kDecisionsPerWorld, ++seed) {
    ASSIGN_OR_RETURN(const int more,
                     RunWorld(flags, http, seed, std::min(left, kDecisionsPerWorld), totals));
    different += more;
  }
  const bool seeded = !flags.seed_bug.empty();
  const bool complete = seeded || Complete(totals);
  std::cout << absl::StrFormat("%d decisions, %d allowed (%.1f %%), %d mismatches\n",
                               totals.all.asked, totals.all.allowed,
                               100.0 * totals.all.allowed / totals.all.asked, totals.mismatches);
  if (seeded) {
    std::cout << (totals.mismatches > 0 ? "found" : "NOT FOUND") << ": " << flags.seed_bug << "\n";
    return totals.mismatches > 0;
  }
  if (!complete) {
    std::cout << "TOO WEAK: a feature was never asked, or fewer than " << kMinAllowedPercent
              << " % were allowed\n";
  }
  return complete && totals.mismatches == 0 && different == 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  std::string bugs;
  for (const auto& [name, decide] : SeededBugs()) bugs += " " + name;
  CLI::App app("Asks a real API server and manager/rbac the same generated questions.");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "the kubeconfig of an administrator with a client certificate")
      ->required();
  app.add_option("--seed", flags.seed,
                 "the seed of all generated objects and questions (default: random)");
  app.add_option("--decisions", flags.decisions,
                 "how many SubjectAccessReviews to send; a new policy follows after each 5000")
      ->check(CLI::PositiveNumber);
  app.add_option("--requests", flags.requests,
                 "how many HTTP requests to send, per policy; their 403s are compared")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--grants", flags.grants,
                 "how many roles and bindings to write by dry run, per policy")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed-bug", flags.seed_bug,
                 "give manager/rbac this bug, which the run must find:" + bugs);
  CLI11_PARSE(app, argc, argv);
  if (!flags.seed_bug.empty() && !SeededBugs().contains(flags.seed_bug)) {
    std::cerr << "--seed-bug=" << flags.seed_bug << " must be one of:" << bugs << "\n";
    return 2;
  }
  const absl::StatusOr<bool> passed = Run(flags);
  if (!passed.ok()) std::cout << "FAILED: " << passed.status() << "\n";
  return passed.ok() && *passed ? 0 : 1;
}

}  // namespace
}  // namespace mandate::fidelity

int main(int argc, char** argv) { return mandate::fidelity::Main(argc, argv); }
