// Runs the reconciler with exactly its mandate's permissions, on the double of the API server.
#include "controllers/certificates/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "controllers/certificates/certificates_fixture.h"
#include "controllers/certificates/testing_foreign_authority.h"
#include "manager/core/strings.h"
#include "manager/core/x509.h"

namespace mandate::certificates {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(CertificatesTest, FillsTheSecretThenTheConfiguration) {
  one_.CatchUp();
  EXPECT_FALSE(one_.certificate().Ready().ok());
  const auto result = one_.Reconcile();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(one_.writes(), ElementsAre(StrCat("PUT ", kName), StrCat("PUT ", kConfiguration)));
  EXPECT_EQ(result->requeue_after, absl::Hours(1)) << "wall clocks may jump";
  EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
  EXPECT_TRUE(x509::IsIssuedBy(Data(kServing), Data(kAuthorities)));
  EXPECT_TRUE(x509::IsFor(Data(kServing), "DNS:webhook.ns.svc"));
  const double now = absl::ToDoubleSeconds(loop_.clock().WallTimeNow() - absl::UnixEpoch());
  EXPECT_NEAR(one_.Expiry("serving"), now + 40 * 3600, 60);
  EXPECT_NEAR(one_.Expiry("authority"), now + 400 * 3600, 60);
  // Both replicas serve it, whichever wrote it.
  for (Replica* replica : {&one_, &two_}) {
    replica->CatchUp();
    EXPECT_TRUE(replica->certificate().Ready().ok());
  }
}

TEST_F(CertificatesTest, TheNextReconcileIsNeverAtOnce) {
  one_.CatchUp();
  ASSERT_TRUE(one_.Reconcile().ok());
  one_.CatchUp();
  const absl::Duration renewal = absl::Hours(40) * 2 / 3;
  Pass(renewal - absl::Seconds(2));
  for (int i = 0; i < 10; ++i) {
    const auto result = one_.Reconcile();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_GE(result->requeue_after, absl::Seconds(1)) << i;
    one_.CatchUp();
    Pass(absl::Milliseconds(300));
  }
}

TEST_F(CertificatesTest, AConvergedReconcileWritesNothing) {
  Settle(one_);
  ASSERT_TRUE(one_.Reconcile().ok());
  EXPECT_THAT(one_.writes(), IsEmpty());
  two_.CatchUp();
  ASSERT_TRUE(two_.Reconcile().ok());
  EXPECT_THAT(two_.writes(), IsEmpty());
}

TEST_F(CertificatesTest, ReplicasDoNotOverwriteEachOther) {
  one_.CatchUp();
  two_.CatchUp();
  ASSERT_TRUE(one_.Reconcile().ok());
  const std::string serving = Data(kServing);
  EXPECT_TRUE(absl::IsAborted(two_.Reconcile().status()));
  EXPECT_THAT(two_.writes(), ElementsAre(StrCat("PUT ", kName)));
  EXPECT_EQ(Data(kServing), serving);
  EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
}

TEST_F(CertificatesTest, RotatesBoth) {
  Settle(one_);
  std::vector<std::string> serving, authorities;
  for (int day = 0; day < 40; ++day) {
    Pass(absl::Hours(24));
    Settle(day % 2 == 0 ? one_ : two_);
    if (serving.empty() || serving.back() != Data(kServing)) serving.push_back(Data(kServing));
    for (const std::string& authority : x509::SplitPem(Data(kAuthorities))) {
      if (std::ranges::find(authorities, authority) == authorities.end()) {
        authorities.push_back(authority);
      }
    }
    EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
  }
  EXPECT_GE(serving.size(), 20);
  EXPECT_EQ(authorities.size(), 4);
}

TEST_F(CertificatesTest, AFailedPublicationIsRetried) {
  one_.CatchUp();
  one_.unavailable = StrCat("PUT ", kConfiguration);
  EXPECT_TRUE(absl::IsUnavailable(one_.Reconcile().status()));
  one_.unavailable.clear();
  const std::string authority = Data(kAuthorities);
  Settle(one_);
  EXPECT_EQ(Data(kAuthorities), authority);
  EXPECT_THAT(Bundles(), ElementsAre(authority, authority));
}

TEST_F(CertificatesTest, NothingIsPublishedThatIsNotStored) {
  one_.CatchUp();
  one_.unavailable = StrCat("PUT ", kName);
  EXPECT_TRUE(absl::IsUnavailable(one_.Reconcile().status()));
  EXPECT_THAT(Bundles(), ElementsAre("", ""));
}

TEST_F(CertificatesTest, AnotherBundleIsReplaced) {
  Settle(one_);
  Replace(ConfigurationJson());
  Settle(one_);
  EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
}

// Somebody who may write the configuration appended it. Neither the rotation nor the replicas stop.
TEST_F(CertificatesTest, AForeignEntryIsReportedAndLeftAlone) {
  Settle(one_);
  const struct {
    std::vector<std::string> entries;
    std::vector<bool> ours;
    std::string logged;
  } rows[] = {
      {{"a.example.com", "evil.example.com"}, {true, false}, "ERROR evil.example.com"},
      {{"evil.example.com", "b.example.com", "more.example.com"},
       {false, true, false},
       "ERROR more.example.com"},
      {{"more.example.com"}, {false}, "INFO evil.example.com"},
      {{"a.example.com"}, {true}, "INFO more.example.com"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.entries));
    Replace(ConfigurationJson(row.entries));
    const size_t before = log_->lines().size();
    Settle(one_);
    std::vector<std::string> bundles;
    for (const bool ours : row.ours) bundles.push_back(ours ? Data(kAuthorities) : "");
    EXPECT_EQ(Bundles(), bundles);
    EXPECT_EQ(one_.Gauge("mandate_webhook_foreign_entries"), std::ranges::count(row.ours, false));
    EXPECT_TRUE(one_.certificate().Ready().ok());
    // Once, and the rest is converged.
    ASSERT_TRUE(one_.Reconcile().ok());
    EXPECT_THAT(one_.writes(), IsEmpty());
    ASSERT_EQ(log_->lines().size(), before + 1);
    const size_t space = row.logged.find(' ');
    EXPECT_THAT(log_->lines().back(),
                AllOf(HasSubstr(row.logged.substr(0, space)), HasSubstr(kConfiguration),
                      HasSubstr(StrCat("webhook=", row.logged.substr(space + 1)))));
  }
}

TEST_F(CertificatesTest, AForeignEntryDoesNotStopTheRotation) {
  Settle(one_);
  const std::string first = Data(kServing);
  Replace(ConfigurationJson({"a.example.com", "evil.example.com"}));
  Pass(absl::Hours(39));
  Settle(one_);
  EXPECT_NE(Data(kServing), first);
}

TEST_F(CertificatesTest, AForeignAuthorityIsReplacedAndReported) {
  const std::string forged = ForeignAuthority(ForeignKey::kRsa1024, loop_.clock().WallTimeNow(),
                                              loop_.clock().WallTimeNow() + absl::Hours(24 * 3650))
                                 .certificate_pem;
  Send("PATCH", StrCat(kSecrets, "/", kName),
       StrCat(R"({"data":{"ca.crt":")", absl::Base64Escape(forged), R"("}})"),
       "application/merge-patch+json");
  Settle(one_);
  EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
  EXPECT_THAT(Data(kAuthorities), testing::Not(HasSubstr(forged)));
  EXPECT_EQ(log_->Count("its key is not a P-256 key"), 1);
}

TEST_F(CertificatesTest, AnAbsentConfigurationIsPublishedWhenItComes) {
  Send("DELETE", StrCat(kConfigurations, "/", kConfiguration), "");
  Settle(one_);
  EXPECT_THAT(Data(kAuthorities), HasSubstr("BEGIN CERTIFICATE"));
  Send("POST", kConfigurations, ConfigurationJson());
  Settle(one_);
  EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
}

TEST_F(CertificatesTest, AnAbsentSecretIsReported) {
  Settle(one_);
  Send("DELETE", StrCat(kSecrets, "/", kName), "");
  one_.CatchUp();
  const absl::Status status = one_.Reconcile().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the Secret kube-system/mandate-manager-webhook-certificate for the "
                        "webhooks' certificates does not exist; create an empty one"));
  EXPECT_TRUE(one_.certificate().Ready().ok()) << "its certificate is still valid";
}

// New certificates cannot be stored, so the present ones expire: it is reported long before.
TEST_F(CertificatesTest, AnImmutableSecretIsReported) {
  Settle(one_);
  const std::string serving = Data(kServing);
  Send("PATCH", StrCat(kSecrets, "/", kName), R"({"immutable":true})",
       "application/merge-patch+json");
  Replace(ConfigurationJson());
  one_.CatchUp();
  const auto expect_reported = [&](const std::vector<std::string>& writes) {
    const absl::Status status = one_.Reconcile().status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the Secret kube-system/mandate-manager-webhook-certificate for the "
                          "webhooks' certificates is immutable"));
    EXPECT_EQ(one_.writes(), writes);
  };
  expect_reported({StrCat("PUT ", kConfiguration)});
  one_.CatchUp();
  EXPECT_EQ(one_.health().Ready(), absl::OkStatus());
  Pass(absl::Hours(39));
  expect_reported({});
  EXPECT_EQ(Data(kServing), serving);
  EXPECT_TRUE(absl::IsFailedPrecondition(one_.health().Ready()));
  // The recovery.
  Send("DELETE", StrCat(kSecrets, "/", kName), "");
  Send("POST", kSecrets,
       StrCat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")", kName, R"("}})"));
  Settle(one_);
  EXPECT_NE(Data(kServing), serving);
  EXPECT_EQ(one_.health().Ready(), absl::OkStatus());
}

TEST_F(CertificatesTest, ASecretThatIsBeingDeletedIsReported) {
  Settle(one_);
  Send("PATCH", StrCat(kSecrets, "/", kName), R"({"metadata":{"finalizers":["a.io/x"]}})",
       "application/merge-patch+json");
  Send("DELETE", StrCat(kSecrets, "/", kName), "");
  one_.CatchUp();
  EXPECT_THAT(
      std::string(one_.Reconcile().status().message()),
      HasSubstr("is being deleted, but its finalizers block the deletion until they are removed"));
}

TEST_F(CertificatesTest, AWriteThatFailsForLongIsReported) {
  one_.CatchUp();
  one_.unavailable = StrCat("PUT ", kConfiguration);
  EXPECT_FALSE(one_.Reconcile().ok());
  one_.CatchUp();
  EXPECT_EQ(one_.health().Ready(), absl::OkStatus());
  Pass(absl::Seconds(61));
  EXPECT_FALSE(one_.Reconcile().ok());
  EXPECT_TRUE(absl::IsUnavailable(one_.health().Ready()));
  one_.unavailable.clear();
  Settle(one_);
  EXPECT_EQ(one_.health().Ready(), absl::OkStatus());
}

// Somebody who may write the Secret added them.
TEST_F(CertificatesTest, RemovesForeignKeysOfTheSecretOnce) {
  const auto keys = [&] {
    const Secret stored = Stored<Secret>(StrCat(kSecrets, "/", kName));
    std::vector<std::string> names;
    for (const auto& [name, value] : stored.data()) names.push_back(name);
    return names;
  };
  const auto add = [&](const std::string& data) {
    Send("PATCH", StrCat(kSecrets, "/", kName), StrCat(R"({"data":{)", data, "}}"),
         "application/merge-patch+json");
  };
  const auto ours =
      testing::UnorderedElementsAre(kAuthorities, kAuthorityKeys, kServing, kServingKey);
  add(R"("first":"eA==")");  // with the first certificates
  Settle(one_);
  EXPECT_THAT(keys(), ours);
  const std::string serving = Data(kServing);
  // An empty value is a key, too.
  add(R"("a-loot":"aGlkZGVu","empty":"")");
  one_.CatchUp();
  ASSERT_TRUE(one_.Reconcile().ok());
  EXPECT_THAT(one_.writes(), ElementsAre(StrCat("PUT ", kName)));
  EXPECT_THAT(keys(), ours);
  EXPECT_EQ(Data(kServing), serving) << "the certificates are good";
  EXPECT_EQ(log_->Count("Removed foreign keys from the Secret"), 2);
  EXPECT_EQ(log_->Count("keys=\"a-loot; empty\""), 1);
  EXPECT_EQ(log_->Count("aGlkZGVu") + log_->Count("hidden"), 0) << "values are not logged";
  EXPECT_EQ(log_->Count("Wrote new certificates"), 1);
  for (Replica* replica : {&one_, &two_}) {
    replica->CatchUp();
    ASSERT_TRUE(replica->Reconcile().ok());
    EXPECT_THAT(replica->writes(), IsEmpty());
  }
}

TEST_F(CertificatesTest, TheLogNamesTenOfTheForeignKeys) {
  std::string data;
  for (int i = 100; i < 113; ++i) StrAppend(&data, i == 100 ? "" : ",", "\"k", i, "\":\"eA==\"");
  Send("PATCH", StrCat(kSecrets, "/", kName), StrCat(R"({"data":{)", data, "}}"),
       "application/merge-patch+json");
  Settle(one_);
  EXPECT_THAT(log_->Last("Removed foreign keys"),
              AllOf(HasSubstr("k100; k101;"), HasSubstr("k109; and 3 more")));
}

// The removal may wait: the rotation of the bundle goes on.
TEST_F(CertificatesTest, ForeignKeysOfAnImmutableSecretStopNoPublication) {
  Settle(one_);
  Send("PATCH", StrCat(kSecrets, "/", kName), R"({"immutable":true,"data":{"other":"eA=="}})",
       "application/merge-patch+json");
  Replace(ConfigurationJson());
  one_.CatchUp();
  EXPECT_TRUE(absl::IsFailedPrecondition(one_.Reconcile().status()));
  EXPECT_THAT(Bundles(), ElementsAre(Data(kAuthorities), Data(kAuthorities)));
}

}  // namespace
}  // namespace mandate::certificates
