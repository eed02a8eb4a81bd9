// Sends random sequences of requests to a real API server and to the double, and reports where
// their answers differ: docs/conformance.md.
#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/cluster_target.h"
#include "testing/conformance/double/double_target.h"
#include "testing/conformance/explore/author.h"
#include "testing/conformance/explore/sequence.h"
#include "testing/conformance/session.h"

namespace mandate::conformance::explore {
namespace {

struct Flags {
  std::string kubeconfig;
  uint64_t seed = 0;
  uint64_t sequences = 1000;
  size_t at_once = 4;
  size_t show = 40;  // how many differences, each with one seed
  bool trace = false;
};

constexpr char kCrds[] = "testing/conformance/explore/crds";

// One server with its identities.
class Server {
 public:
  Server(Target target, std::string run) : target_(std::move(target)), run_(std::move(run)) {}

  absl::Status Prepare() {
    RETURN_IF_ERROR(InstallCrds(target_, kCrds));
    HttpClient http(connection());
    Session session(target_, http, run_);
    RETURN_IF_ERROR(session.CreateNamespace());
    for (const Identity& identity : Identities()) {
      ASSIGN_OR_RETURN(const Json::Value rules,
                       ParseJson(identity.rules.empty() ? "[]" : identity.rules));
      RETURN_IF_ERROR(session.Allow(identity.name, rules, true));
      Request request;
      RETURN_IF_ERROR(session.Authenticate(identity.name, "", request));
      tokens_[identity.name] = request.headers.at(0).second.substr(sizeof("Bearer ") - 1);
    }
    if (!target_.token.empty()) tokens_["admin"] = target_.token;
    return absl::OkStatus();
  }

  const Connection& connection() const { return target_.connection; }
  Side SideOf(HttpClient& http) const {
    return {.http = &http, .certificate = target_.token.empty(), .tokens = tokens_};
  }

 private:
  const Target target_;
  const std::string run_;
  std::map<std::string, std::string> tokens_;
};

class Exploration {
 public:
  Exploration(const Flags& flags, const Server& real, const Server& ours, std::string run)
      : flags_(flags), real_(real), ours_(ours), run_(std::move(run)) {}

  void Run() {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < flags_.at_once; ++i) threads.emplace_back([this] { Work(); });
  }

  // True if there was no difference and something was compared.
  bool Report() {
    MutexLock lock(mutex_);
    for (const auto& [words, times] : refused_)
      std::cout << absl::StrFormat("refused %6d  %s\n", times, words);
    size_t shown = 0;
    for (const auto& [signature, found] : differences_) {
      if (shown++ == flags_.show) break;
      std::cout << "\nDIFFERS " << found.times << " times, --seed " << found.seed << " step "
                << found.first.step << "\n  " << signature << "\n"
                << found.first.Explain();
    }
    std::cout
        << absl::StrFormat(
               "\n%d requests compared, %d of them refused in other words; %d not done by the "
               "double; %d kinds of difference\n",
               requests_, reworded_, refusals_, differences_.size())
        << absl::StrFormat("%d passed, %d failed\n", same_, differ_);
    return differ_ == 0 && same_ > 0;
  }

 private:
  struct Found {
    uint64_t seed = 0;
    size_t times = 0;
    Difference first;
  };

  void Work() {
    HttpClient there(real_.connection()), here(ours_.connection());
    Side real = real_.SideOf(there), ours = ours_.SideOf(here);
    for (uint64_t i; (i = next_++) < flags_.sequences;) {
      const uint64_t seed = flags_.seed + i;
      std::string trace;
      Outcome outcome = RunSequence(WriteSequence(seed), StrCat(run_, "-", i), real, ours,
                                    flags_.trace ? &trace : nullptr);
      MutexLock lock(mutex_);
      std::cout << trace;
      requests_ += outcome.requests;
      reworded_ += outcome.reworded;
      for (const auto& [words, times] : outcome.refused) {
        refused_[words] += times;
        refusals_ += times;
      }
      if (!outcome.difference) {
        ++same_;
        continue;
      }
      ++differ_;
      Found& found = differences_[outcome.difference->Signature()];
      if (found.times++ == 0) {
        found.seed = seed;
        found.first = *outcome.difference;
      }
    }
  }

  const Flags& flags_;
  const Server& real_;
  const Server& ours_;
  const std::string run_;
  std::atomic<uint64_t> next_ = 0;
  Mutex mutex_;
  size_t requests_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t reworded_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t same_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t differ_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, size_t> refused_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Found> differences_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<bool> Run(const Flags& flags, const std::string& run) {
  ASSIGN_OR_RETURN(Target cluster, ClusterTarget({.kubeconfig = flags.kubeconfig,
                                                  .audit_log = {},
                                                  .etcd = {},
                                                  .etcd_pki = {},
                                                  .restart_etcd = {},
                                                  .crds = {}}));
  ASSIGN_OR_RETURN(const auto made, DoubleTarget::Create());
  Server real(std::move(cluster), run), ours(made->target(), run);
  RETURN_IF_ERROR(real.Prepare());
  RETURN_IF_ERROR(ours.Prepare());
  Exploration exploration(flags, real, ours, run);
  exploration.Run();
  return exploration.Report();
}

int Main(int argc, char** argv) {
  Flags flags;
  flags.seed = std::random_device()();
  const std::string run = absl::StrFormat("x%05x", std::random_device()() & 0xfffff);
  CLI::App app("Compares the double with a real API server on random sequences of requests.");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "the kubeconfig of an administrator, of a cluster without kube-controller-manager")
      ->required();
  app.add_option("--seed", flags.seed,
                 "the seed of the first sequence; each further one adds 1 (default: random)");
  app.add_option("--sequences", flags.sequences, "how many sequences to run")
      ->capture_default_str();
  app.add_option("--at-once", flags.at_once, "how many sequences run at the same time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--show", flags.show, "how many kinds of differences to print")
      ->capture_default_str();
  app.add_flag("--trace", flags.trace, "print all requests and answers");
  CLI11_PARSE(app, argc, argv);
  std::cout << "seeds from " << flags.seed << std::endl;
  const absl::StatusOr<bool> same = Run(flags, run);
  if (!same.ok()) std::cout << same.status() << "\n\n0 passed, 1 failed\n";
  return same.ok() && *same ? 0 : 1;
}

}  // namespace
}  // namespace mandate::conformance::explore

int main(int argc, char** argv) { return mandate::conformance::explore::Main(argc, argv); }
