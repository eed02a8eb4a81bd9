#include "controllers/certificates/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "controllers/certificates/testing_foreign_authority.h"
#include "manager/core/strings.h"
#include "manager/core/x509.h"

namespace mandate::certificates {
namespace {

constexpr CertificateLifetimes kLifetimes{.authority = absl::Hours(400),
                                          .serving = absl::Hours(30)};
const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

class PlanTest : public testing::Test {
 protected:
  Plan Make(absl::Time now) {
    auto plan = PlanCertificates({.now = now,
                                  .data = data_,
                                  .names = {"DNS:webhook.ns.svc", "IP:127.0.0.1"},
                                  .lifetimes = kLifetimes,
                                  .is_published = [this](std::string_view authority) {
                                    return published_.find(authority) != published_.npos;
                                  }});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }
  // Writes and publishes the plan.
  Plan CarryOut(absl::Time now) {
    const Plan plan = Make(now);
    data_ = plan.data;
    published_ = plan.bundle;
    return plan;
  }
  size_t authorities() const { return x509::SplitPem(data_.at(kAuthorities)).size(); }
  std::string Authority(size_t i) const { return x509::SplitPem(data_.at(kAuthorities)).at(i); }
  bool Serves(std::string_view authority) const {
    return x509::IsIssuedBy(data_.at(kServing), authority);
  }

  SecretData data_;
  std::string published_;
};

TEST_F(PlanTest, AnEmptySecretGetsAnAuthorityAndAServingCertificate) {
  const Plan plan = CarryOut(kStart);
  EXPECT_EQ(plan.bundle, data_.at(kAuthorities));
  ASSERT_EQ(authorities(), 1);
  EXPECT_TRUE(x509::HasKey(Authority(0), Secret(data_.at(kAuthorityKeys))));
  EXPECT_TRUE(x509::HasKey(data_.at(kServing), Secret(data_.at(kServingKey))));
  EXPECT_TRUE(Serves(Authority(0)));
  EXPECT_TRUE(x509::IsFor(data_.at(kServing), "DNS:webhook.ns.svc"));
  EXPECT_TRUE(x509::IsFor(data_.at(kServing), "IP:127.0.0.1"));
  EXPECT_EQ(plan.serving_expiry, kStart + kLifetimes.serving);
  EXPECT_EQ(plan.authority_expiry, kStart + kLifetimes.authority);
  EXPECT_EQ(plan.next, kStart + kLifetimes.serving * 2 / 3);
}

TEST_F(PlanTest, AGoodSecretIsLeftAlone) {
  CarryOut(kStart);
  for (const absl::Duration later : {absl::ZeroDuration(), kLifetimes.serving / 2}) {
    EXPECT_EQ(Make(kStart + later).data, data_) << later;
  }
  // A clock that is behind by less than the skew sees a valid certificate, too.
  EXPECT_EQ(Make(kStart - absl::Minutes(4)).data, data_);
}

TEST_F(PlanTest, OtherKeysAreNotKept) {
  CarryOut(kStart);
  const SecretData ours = data_;
  EXPECT_EQ(ours.size(), 4);
  data_["other"] = "x";
  EXPECT_EQ(Make(kStart).data, ours);
}

// The clock was far ahead when they were made.
TEST_F(PlanTest, WhatIsNotValidYetIsReplaced) {
  const Plan first = CarryOut(kStart);
  const Plan early = Make(kStart - absl::Minutes(6));
  EXPECT_NE(early.data.at(kAuthorities), data_.at(kAuthorities));
  EXPECT_NE(early.data.at(kServing), data_.at(kServing));
  CarryOut(first.next);
  const Plan again = Make(first.next - absl::Minutes(6));
  EXPECT_EQ(again.data.at(kAuthorities), data_.at(kAuthorities));
  EXPECT_NE(again.data.at(kServing), data_.at(kServing));
}

TEST_F(PlanTest, TheServingCertificateIsReplacedWithAThirdOfItsLifeLeft) {
  const Plan plan = CarryOut(kStart);
  const SecretData before = data_;
  EXPECT_EQ(Make(plan.next - absl::Seconds(1)).data, before);
  EXPECT_EQ(CarryOut(plan.next).serving_expiry, plan.next + kLifetimes.serving);
  EXPECT_NE(data_.at(kServing), before.at(kServing));
  EXPECT_NE(data_.at(kServingKey), before.at(kServingKey));
  EXPECT_EQ(data_.at(kAuthorities), before.at(kAuthorities));
}

TEST_F(PlanTest, ANewAuthorityIsTrustedLongBeforeItIssues) {
  CarryOut(kStart);
  const std::string old = Authority(0);
  const absl::Time renewal = kStart + kLifetimes.authority - kLifetimes.authority / 3;
  CarryOut(renewal - absl::Seconds(1));
  EXPECT_EQ(authorities(), 1);
  EXPECT_EQ(CarryOut(renewal).authority_expiry, renewal + kLifetimes.authority);
  ASSERT_EQ(authorities(), 2);
  const std::string next = Authority(1);
  // As long as the old authority outlives them, it issues.
  CarryOut(renewal + kLifetimes.serving);
  EXPECT_TRUE(Serves(old));
  CarryOut(kStart + kLifetimes.authority - kLifetimes.serving);
  EXPECT_TRUE(Serves(old));
  CarryOut(kStart + kLifetimes.authority - kLifetimes.serving / 3);
  EXPECT_TRUE(Serves(next));
  EXPECT_EQ(authorities(), 2);
  CarryOut(kStart + kLifetimes.authority);
  EXPECT_EQ(Authority(0), next);
  EXPECT_EQ(authorities(), 1);
}

TEST_F(PlanTest, AnAuthorityThatNobodyTrustsYetDoesNotIssue) {
  CarryOut(kStart);
  const std::string old = Authority(0);
  const absl::Time late = kStart + kLifetimes.authority - kLifetimes.serving;
  CarryOut(late);    // the old authority's last certificate
  published_ = old;  // the configuration cannot be written
  const absl::Time due = late + kLifetimes.serving - absl::Hours(9);
  Plan plan = Make(due);
  EXPECT_EQ(plan.data.at(kServing), data_.at(kServing));
  EXPECT_EQ(plan.next, late + kLifetimes.serving - kLifetimes.serving / 10);
  // Nobody would accept an expired certificate either.
  data_ = plan.data;
  plan = Make(plan.next);
  EXPECT_NE(plan.data.at(kServing), data_.at(kServing));
}

TEST_F(PlanTest, WhatIsMissingOrInvalidIsReplaced) {
  CarryOut(kStart);
  const SecretData good = data_;
  const x509::KeyPair stranger = *x509::Issue({.use = x509::Use::kAuthority,
                                               .common_name = "stranger",
                                               .not_before = kStart - absl::Hours(1),
                                               .not_after = kStart + absl::Hours(100)},
                                              nullptr);
  const x509::KeyPair other_name = *x509::Issue({.common_name = "other",
                                                 .names = {"DNS:other"},
                                                 .not_before = kStart - absl::Hours(1),
                                                 .not_after = kStart + absl::Hours(30)},
                                                &stranger);
  const struct {
    std::string what;
    SecretData change;
    bool new_authority, new_serving;
  } rows[] = {
      {"no authority", {{kAuthorities, ""}}, true, true},
      {"no key of the authority", {{kAuthorityKeys, ""}}, true, false},
      {"another key", {{kAuthorityKeys, std::string(stranger.key_pem.Reveal())}}, true, false},
      {"text", {{kAuthorities, "text"}, {kAuthorityKeys, "text"}}, true, true},
      {"no serving certificate", {{kServing, ""}}, false, true},
      {"no key", {{kServingKey, ""}}, false, true},
      {"the key of another", {{kServingKey, std::string(stranger.key_pem.Reveal())}}, false, true},
      {"an authority as serving certificate", {{kServing, good.at(kAuthorities)}}, false, true},
      {"the certificate of another authority",
       {{kServing, other_name.certificate_pem},
        {kServingKey, std::string(other_name.key_pem.Reveal())}},
       false,
       true},
      {"a serving certificate as authority", {{kAuthorities, good.at(kServing)}}, true, true},
      {"the same with its key",
       {{kAuthorities, good.at(kServing)}, {kAuthorityKeys, good.at(kServingKey)}},
       true,
       true},
  };
  for (const auto& row : rows) {
    data_ = good;
    for (const auto& [key, value] : row.change) data_[key] = value;
    const Plan plan = Make(kStart + absl::Hours(1));
    const std::string newest = x509::SplitPem(plan.bundle).back();
    EXPECT_EQ(newest != good.at(kAuthorities), row.new_authority) << row.what;
    EXPECT_EQ(plan.data.at(kServing) != good.at(kServing), row.new_serving) << row.what;
    EXPECT_TRUE(x509::HasKey(plan.data.at(kServing), Secret(plan.data.at(kServingKey))));
    for (const std::string& pem : x509::SplitPem(plan.bundle)) {
      EXPECT_TRUE(x509::ReadFacts(pem)->is_authority) << row.what;
    }
    // The plan is stable.
    data_ = plan.data;
    published_ = plan.bundle;
    EXPECT_EQ(Make(kStart + absl::Hours(1)).data, data_) << row.what;
  }
}

TEST_F(PlanTest, AnAuthorityWithoutItsKeyIsTrustedUntilItExpires) {
  CarryOut(kStart);
  const std::string old = Authority(0);
  data_[kAuthorityKeys] = "";
  CarryOut(kStart);
  EXPECT_EQ(Authority(0), old);
  EXPECT_EQ(authorities(), 2);
  EXPECT_TRUE(Serves(old));
}

TEST_F(PlanTest, AnAuthorityOfOthersThatExpiresLaterIsNoReasonToMakeNewOnes) {
  CarryOut(kStart);
  data_[kAuthorities] +=
      x509::Issue({.use = x509::Use::kAuthority,
                   .common_name = "foreign",
                   .not_before = kStart - absl::Hours(1),
                   .not_after = kStart + kLifetimes.authority + absl::Minutes(5)},
                  nullptr)
          ->certificate_pem;
  const SecretData before = data_;
  const Plan plan = CarryOut(kStart);
  EXPECT_EQ(data_, before);
  EXPECT_EQ(plan.authority_expiry, kStart + kLifetimes.authority);
  EXPECT_EQ(CarryOut(plan.next).serving_expiry, plan.next + kLifetimes.serving);
}

TEST_F(PlanTest, AnAuthorityLeavesTheBundleWhenItExpires) {
  CarryOut(kStart);
  const std::string ours = Authority(0);
  const absl::Time expiry = kStart + absl::Hours(5);
  data_[kAuthorities] += x509::Issue({.use = x509::Use::kAuthority,
                                      .common_name = "foreign",
                                      .not_before = kStart - absl::Hours(1),
                                      .not_after = expiry},
                                     nullptr)
                             ->certificate_pem;
  EXPECT_EQ(CarryOut(kStart).next, expiry);
  EXPECT_EQ(authorities(), 2);
  EXPECT_EQ(CarryOut(expiry).bundle, ours);
}

TEST_F(PlanTest, TheLastAuthoritiesOfALongListAreRead) {
  CarryOut(kStart);
  const std::string ours = Authority(0);
  const std::string foreign = x509::Issue({.use = x509::Use::kAuthority,
                                           .common_name = "foreign",
                                           .not_before = kStart - absl::Hours(1),
                                           .not_after = kStart + absl::Hours(100)},
                                          nullptr)
                                  ->certificate_pem;
  std::string many;
  for (int i = 0; i < 70; ++i) many += foreign;
  data_[kAuthorities] = many + ours;
  const std::string serving = data_.at(kServing);
  EXPECT_EQ(x509::SplitPem(CarryOut(kStart).bundle).back(), ours);
  EXPECT_EQ(data_.at(kServing), serving);
}

// Somebody who may write the Secret must not be trusted for longer than ours.
TEST_F(PlanTest, OnlyAuthoritiesThatCouldBeOursAreAdopted) {
  const auto p256 = [](absl::Time not_after) {
    return *x509::Issue({.use = x509::Use::kAuthority,
                         .common_name = "mandate-webhooks",
                         .not_before = kStart - absl::Hours(1),
                         .not_after = not_after},
                        nullptr);
  };
  const absl::Time longest = kStart + kLifetimes.authority + absl::Minutes(5);
  const absl::Time ten_years = kStart + absl::Hours(24 * 3650);
  const std::string key = "its key is not a P-256 key; the keys of our authorities are";
  const auto late = [](const char* when) {
    return StrCat("it is valid until ", when, "; our authorities are valid for at most 400h");
  };
  const struct {
    std::string what;
    x509::KeyPair pair;
    std::string why;
  } rows[] = {
      {"as ours", p256(kStart + kLifetimes.authority), ""},
      {"made by a clock that is ahead", p256(longest), ""},
      {"a second longer", p256(longest + absl::Seconds(1)), late("2027-02-01T00:05:01Z")},
      {"ten years", p256(ten_years), late("2037-01-12T08:00:00Z")},
      {"RSA 1024 for ten years", ForeignAuthority(ForeignKey::kRsa1024, kStart, ten_years), key},
      {"RSA 1024", ForeignAuthority(ForeignKey::kRsa1024, kStart, kStart + absl::Hours(300)), key},
      {"P-384", ForeignAuthority(ForeignKey::kP384, kStart, kStart + absl::Hours(300)), key},
  };
  for (const auto& row : rows) {
    for (const bool with_key : {true, false}) {
      data_ = {{kAuthorities, row.pair.certificate_pem}};
      if (with_key) data_[kAuthorityKeys] = std::string(row.pair.key_pem.Reveal());
      const Plan plan = CarryOut(kStart);
      const bool adopted = plan.bundle.find(row.pair.certificate_pem) != std::string::npos;
      EXPECT_EQ(adopted, row.why.empty()) << row.what;
      EXPECT_EQ(authorities(), adopted && !with_key ? 2 : 1) << row.what;
      EXPECT_EQ(Serves(row.pair.certificate_pem), adopted && with_key) << row.what;
      EXPECT_EQ(plan.rejected, adopted ? std::vector<std::string>{} : std::vector{row.why});
      EXPECT_EQ(Make(kStart).rejected.size(), 0) << row.what;
    }
  }
}

// Somebody who could read the authority's key made it; or the lifetime is shorter than before.
TEST_F(PlanTest, AServingCertificateThatIsValidForLongerThanOursIsReplaced) {
  CarryOut(kStart);
  const x509::KeyPair authority{Authority(0), Secret(data_.at(kAuthorityKeys))};
  const absl::Time longest = kStart + kLifetimes.serving + absl::Minutes(5);
  const struct {
    absl::Time not_after;
    bool replaced;
  } rows[] = {
      {longest, false}, {longest + absl::Seconds(1), true}, {kStart + absl::Hours(87600), true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.not_after);
    const x509::KeyPair made = *x509::Issue({.common_name = "webhook.ns.svc",
                                             .names = {"DNS:webhook.ns.svc", "IP:127.0.0.1"},
                                             .not_before = kStart - absl::Hours(1),
                                             .not_after = row.not_after},
                                            &authority);
    data_[kServing] = made.certificate_pem;
    data_[kServingKey] = std::string(made.key_pem.Reveal());
    const SecretData before = data_;
    // It serves until API servers trust an authority that can issue another one.
    const std::string published = std::exchange(published_, "");
    EXPECT_EQ(Make(kStart).data, before);
    published_ = published;
    const Plan plan = Make(kStart);
    EXPECT_EQ(plan.data != before, row.replaced);
    EXPECT_EQ(plan.serving_expiry, row.replaced ? kStart + kLifetimes.serving : row.not_after);
    EXPECT_LT(plan.next, kStart + kLifetimes.serving);
    data_ = plan.data;
    EXPECT_EQ(Make(kStart).data, plan.data);
  }
}

TEST_F(PlanTest, AuthoritiesAreBounded) {
  CarryOut(kStart);
  const std::string newest = Authority(0);
  std::string many;
  for (int i = 0; i < 20; ++i) {
    many += x509::Issue({.use = x509::Use::kAuthority,
                         .common_name = "foreign",
                         .not_before = kStart - absl::Hours(1),
                         .not_after = kStart + absl::Hours(100)},
                        nullptr)
                ->certificate_pem;
  }
  data_[kAuthorities] = many + newest;
  CarryOut(kStart);
  EXPECT_EQ(authorities(), 8);
  EXPECT_NE(data_.at(kAuthorities).find(newest), std::string::npos);
  EXPECT_TRUE(Serves(newest));
}

// Those of others that outlive ours pushed ours out, and each plan made a new one.
TEST_F(PlanTest, AuthoritiesOfOthersDoNotPushOursOut) {
  CarryOut(kStart);
  const std::string ours = Authority(0);
  std::string many;
  for (int i = 0; i < 20; ++i) {
    many += x509::Issue({.use = x509::Use::kAuthority,
                         .common_name = "foreign",
                         .not_before = kStart - absl::Hours(1),
                         .not_after = kStart + kLifetimes.authority + absl::Minutes(5)},
                        nullptr)
                ->certificate_pem;
  }
  data_[kAuthorities] = ours + many;
  CarryOut(kStart);
  EXPECT_EQ(authorities(), 8);
  const SecretData settled = data_;
  CarryOut(kStart);
  EXPECT_EQ(data_, settled);
  EXPECT_TRUE(Serves(ours));
}

TEST_F(PlanTest, OtherNamesNeedAnotherCertificate) {
  CarryOut(kStart);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"DNS:other.ns.svc"},
        std::vector<std::string>{"DNS:webhook.ns.svc", "DNS:other.ns.svc"}}) {
    const auto plan = PlanCertificates({.now = kStart,
                                        .data = data_,
                                        .names = names,
                                        .lifetimes = kLifetimes,
                                        .is_published = [](std::string_view) { return true; }});
    for (const std::string& name : names) {
      EXPECT_TRUE(x509::IsFor(plan->data.at(kServing), name)) << name;
    }
    EXPECT_EQ(plan->data.at(kAuthorities), data_.at(kAuthorities));
  }
}

TEST_F(PlanTest, LivesMustLeaveTimeForAnOverlap) {
  EXPECT_TRUE(CheckLifetimes({}).ok());
  EXPECT_TRUE(CheckLifetimes({absl::Seconds(4), absl::Seconds(1)}).ok());
  EXPECT_FALSE(CheckLifetimes({absl::Seconds(4), absl::Milliseconds(999)}).ok());
  const absl::Status status = CheckLifetimes({absl::Hours(24), absl::Hours(7)});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      status.message(),
      "the lifetime of a serving certificate (7h) must be at least 1s and at most a quarter of "
      "its authority's (24h)");
}

}  // namespace
}  // namespace mandate::certificates
