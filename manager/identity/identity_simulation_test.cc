// Hours of callers, renewals, rejections and a failing server, one schedule per seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/identity/identity_registry.h"
#include "manager/transport/testing/fake_transport.h"

namespace mandate {
namespace {

constexpr int kComponents = 4;
constexpr size_t kMaxRequests = 2;
constexpr absl::Duration kFaulty = absl::Hours(5);
constexpr char kSecret[] = "sEcReT-";

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {
    IdentityRegistry::Options options;
    options.loop = &loop_;
    options.transport = &fake_;
    ClusterConfig cluster{.name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = ""};
    cluster.endpoint.server = "https://local:6443";
    cluster.endpoint.ca_pem = "CA";
    options.clusters = {{cluster, {}}};
    for (int i = 0; i < kComponents; ++i) options.clusters[0].components.push_back(Name(i));
    options.ns = "mandate";
    options.version = "1";
    options.seed = seed;
    options.max_token_requests = kMaxRequests;
    options.reader = [this](const std::string&) -> absl::StatusOr<std::string> {
      if (faults_ && Chance(0.1)) return absl::NotFoundError("cannot open /token");
      return StrCat(kSecret, "base-", base_generation_);
    };
    options.listener = [](const ComponentIdentity&, const TokenStatus& status) {
      CheckText(status.last_error.ToString());
    };
    registry_ = *IdentityRegistry::Create(std::move(options));
    fake_.Handle([this](const HttpRequest& request) { return Serve(request); });
  }

  void Run() {
    for (int i = 0; i < kComponents; ++i) {
      identities_.push_back(*registry_->Component("local", Name(i)));
    }
    if (Chance(0.5)) registry_->Start();
    const absl::Time end = loop_.clock().TimeNow() + kFaulty;
    while (loop_.clock().TimeNow() < end) {
      Act();
      loop_.RunFor(absl::Milliseconds(Uniform(0, 240'000)));
      // Answers under way are checked when they come. These callers have their answer now.
      for (ComponentIdentity* identity : identities_) CheckCached(*identity);
    }
    faults_ = false;
    Ask(*identities_[0]);
    registry_->Start();
    loop_.RunFor(absl::Minutes(11));
    for (ComponentIdentity* identity : identities_) {
      EXPECT_TRUE(registry_->Status(*identity).usable)
          << identity->name() << " did not recover: " << registry_->Status(*identity).last_error;
      EXPECT_EQ(registry_->Status(*identity).last_error, absl::OkStatus());
    }
    EXPECT_EQ(open_questions_, 0);
    for (const auto& [component, count] : requests_) {
      EXPECT_LT(count, 120 * absl::ToDoubleHours(kFaulty))
          << component << " asked for a token twice a minute or more";
    }
  }

  int issued() const { return issued_; }
  int refused() const { return refused_; }

 private:
  static std::string Name(int i) { return StrCat("component-", i); }
  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  bool Chance(double p) { return Uniform(0, 1) < p; }

  static void CheckText(const std::string& text) {
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(kSecret))) << "a secret was printed";
  }

  void Act() {
    ComponentIdentity& identity = *identities_[static_cast<size_t>(Uniform(0, kComponents))];
    const double dice = Uniform(0, 1);
    if (dice < 0.7) {
      for (int i = 0; i < Uniform(1, 5); ++i) Ask(identity);
    } else if (dice < 0.85) {
      // A 401: to the token in use, or late, to one that was used before.
      auto& seen = seen_[identity.name()];
      if (!seen.empty()) {
        const size_t at =
            Chance(0.5) ? seen.size() - 1 : static_cast<size_t>(Uniform(0, seen.size()));
        const bool was_current = identity.tokens()->Cached() == seen[at];
        const auto before = identity.tokens()->Cached();
        identity.tokens()->Invalidate(*seen[at]);
        if (!was_current) {
          EXPECT_EQ(identity.tokens()->Cached(), before) << "a late 401 killed a newer token";
        } else {
          EXPECT_EQ(identity.tokens()->Cached(), nullptr);
        }
      }
    } else if (dice < 0.9) {
      ++base_generation_;
    } else {
      loop_.simulated_clock().SetWallSkew(absl::Minutes(Uniform(-600, 600)));
    }
  }

  void Ask(ComponentIdentity& identity) {
    const absl::Time asked = loop_.clock().TimeNow();
    const absl::Duration timeout = absl::Milliseconds(Uniform(0, 90'000));
    const bool had_one = identity.tokens()->Cached() != nullptr;
    ++open_questions_;
    auto answered = std::make_shared<bool>(false);
    identity.tokens()->Fetch(
        {.deadline = asked + timeout, .stop = {}},
        [=, this, &identity](absl::StatusOr<std::shared_ptr<const Token>> token) {
          EXPECT_FALSE(*answered) << "answered twice";
          *answered = true;
          --open_questions_;
          const absl::Duration waited = loop_.clock().TimeNow() - asked;
          EXPECT_LE(waited, timeout);
          if (had_one) {
            EXPECT_TRUE(token.ok()) << "a valid token was there: " << token.status();
            EXPECT_EQ(waited, absl::ZeroDuration()) << "waited while a valid token was there";
          }
          if (!token.ok()) return CheckText(token.status().ToString());
          CheckToken(identity, **token);
          auto& seen = seen_[identity.name()];
          if (seen.empty() || seen.back() != *token) seen.push_back(*token);
        });
  }

  void CheckCached(ComponentIdentity& identity) {
    if (const auto token = identity.tokens()->Cached()) CheckToken(identity, *token);
  }

  void CheckToken(const ComponentIdentity& identity, const Token& token) {
    const std::string value(token.value->Reveal());
    ASSERT_TRUE(valid_until_.contains(value));
    EXPECT_LT(loop_.clock().TimeNow(), valid_until_[value]) << "used past its life";
    EXPECT_THAT(value, testing::HasSubstr(identity.name())) << "another identity's token";
    CheckText(token.DebugString());
  }

  FakeReply Serve(const HttpRequest& request) {
    const absl::Time now = loop_.clock().TimeNow();
    const size_t at = request.target.find("component-");
    EXPECT_NE(at, std::string::npos) << request.target;
    const std::string component = request.target.substr(at, request.target.rfind('/') - at);
    ++requests_[component];
    EXPECT_LE(busy_until_[component], now) << component << " has two requests in flight";
    size_t busy = 1;
    for (const auto& [other, until] : busy_until_) busy += until > now ? 1 : 0;
    EXPECT_LE(busy, kMaxRequests) << "over all identities";

    const absl::Duration delay =
        absl::Milliseconds(faults_ && Chance(0.2) ? Uniform(0, 29'000) : Uniform(1, 200));
    busy_until_[component] = now + delay;
    const double dice = faults_ ? Uniform(0, 1) : 1;
    if (dice < 0.05) {
      busy_until_[component] = now + absl::Seconds(30);
      ++refused_;
      return FakeReply::Never();
    }
    if (dice < 0.4) {
      ++refused_;
      return Trouble(static_cast<size_t>(Uniform(0, 9))).After(delay);
    }
    const int lives[] = {600, 900, 3600, 7200};
    const int life = lives[static_cast<size_t>(Uniform(0, 4))];
    const std::string token = StrCat(kSecret, component, "-", ++issued_);
    valid_until_[token] = now + absl::Seconds(life);
    return FakeReply::Json(
               201, StrCat(R"({"spec":{"expirationSeconds":)", life, R"(},"status":{"token":")",
                           token, R"(","expirationTimestamp":"2001-01-01T00:00:00Z"}})"))
        .After(delay);
  }

  FakeReply Trouble(size_t which) {
    constexpr int kCodes[] = {500, 429, 401, 403, 404, 422};
    if (which < std::size(kCodes)) {
      FakeReply reply = FakeReply::Code(kCodes[which]);
      if (kCodes[which] == 429) reply.result->retry_after = absl::Seconds(Uniform(0, 700));
      return reply;
    }
    if (which == 6)
      return FakeReply::Json(201, StrCat(R"({"status":{"token":")", kSecret, R"("}})"));
    if (which == 7) return FakeReply::Json(201, StrCat("<html>", kSecret));
    return FakeReply::Error(absl::UnavailableError("connection reset"));
  }

  SimulatedLoop loop_;
  FakeTransport fake_{loop_};
  std::mt19937_64 random_;
  bool faults_ = true;
  int base_generation_ = 0;
  std::unique_ptr<IdentityRegistry> registry_;
  std::vector<ComponentIdentity*> identities_;
  std::map<std::string, std::vector<std::shared_ptr<const Token>>> seen_;
  std::map<std::string, absl::Time> valid_until_;
  std::map<std::string, absl::Time> busy_until_;
  std::map<std::string, int> requests_;
  int open_questions_ = 0;
  int issued_ = 0;
  int refused_ = 0;
};

TEST(IdentitySimulationTest, KeepsItsRulesUnderRandomFaults) {
  int issued = 0;
  int refused = 0;
  const int64_t ran = RunSeeds(500, [&](uint64_t seed) {
    Simulation simulation(seed);
    simulation.Run();
    issued += simulation.issued();
    refused += simulation.refused();
  });
  if (ran < 100) return;
  // The schedules did contain failures and renewals.
  EXPECT_GT(issued, 20 * ran);
  EXPECT_GT(refused, 10 * ran);
}

}  // namespace
}  // namespace mandate
