// A simulation of rotations: the replicas and the API servers see writes late.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "controllers/certificates/plan.h"
#include "manager/core/testing/seeds.h"
#include "manager/core/x509.h"

namespace mandate::certificates {
namespace {

constexpr CertificateLifetimes kLifetimes{.authority = absl::Hours(400),
                                          .serving = absl::Hours(30)};
const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

// Replicas and API servers see writes late, the planner runs late, and writes fail.
class Rotation {
 public:
  explicit Rotation(uint64_t seed) : random_(seed) {}

  void Run() {
    while (now_ < kStart + 6 * kLifetimes.authority) {
      now_ = std::min({due_, NextOf(bundles_), NextOf(certificates_)});
      Check();
      Deliver(bundles_, trusted_);
      Deliver(certificates_, serving_);
      Check();
      if (now_ >= due_) PlanAndWrite();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(issued_.size(), 60);
  }

 private:
  struct Write {
    absl::Time seen;
    std::string text;
  };
  using Writes = std::deque<Write>;  // under way

  absl::Duration UpTo(int hours) {
    return absl::Minutes(std::uniform_int_distribution<int>(1, hours * 60)(random_));
  }
  bool OneIn(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  static absl::Time NextOf(const Writes& writes) {
    return writes.empty() ? absl::InfiniteFuture() : writes.front().seen;
  }
  void Deliver(Writes& writes, std::string& to) {
    for (; NextOf(writes) <= now_; writes.pop_front()) to = writes.front().text;
  }

  // The API server accepts the replica.
  void Check() {
    if (serving_.empty() || trusted_.empty()) return;
    ASSERT_LT(now_, x509::ReadFacts(serving_)->not_after);
    bool accepted = false;
    for (const std::string& authority : x509::SplitPem(trusted_)) {
      accepted |=
          x509::IsIssuedBy(serving_, authority) && now_ < x509::ReadFacts(authority)->not_after;
    }
    ASSERT_TRUE(accepted) << "after " << now_ - kStart;
  }

  void PlanAndWrite() {
    auto plan = PlanCertificates({.now = now_,
                                  .data = data_,
                                  .names = {"DNS:webhook.ns.svc"},
                                  .lifetimes = kLifetimes,
                                  .is_published = [&](std::string_view authority) {
                                    return bundle_.find(authority) != bundle_.npos;
                                  }});
    ASSERT_TRUE(plan.ok());
    due_ = now_ + UpTo(1);
    if (OneIn(4)) return;  // the Secret cannot be written
    data_ = plan->data;
    issued_.insert(data_.at(kServing));
    certificates_.push_back({now_ + UpTo(1), data_.at(kServing)});
    if (OneIn(4)) return;  // a configuration cannot be written
    bundle_ = plan->bundle;
    bundles_.push_back({now_ + UpTo(1), bundle_});
    due_ = std::max(now_, plan->next) + UpTo(3);
  }

  std::mt19937_64 random_;
  SecretData data_;
  std::string bundle_;             // in the configuration
  std::string trusted_, serving_;  // as an API server and a replica see them
  Writes bundles_, certificates_;
  absl::Time now_ = kStart, due_ = kStart;
  std::set<std::string> issued_;
};

TEST(RotationTest, EveryApiServerAcceptsEveryReplica) {
  EXPECT_GT(RunSeeds(3, [](uint64_t seed) { Rotation(seed).Run(); }), 0);
}

}  // namespace
}  // namespace mandate::certificates
