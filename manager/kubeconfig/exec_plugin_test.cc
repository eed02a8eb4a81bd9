#include "manager/kubeconfig/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string Printed(std::string_view status) {
  return StrCat(R"({"kind":"ExecCredential","apiVersion":")", kV1, R"(","spec":{},"status":)",
                status, "}\n");
}

TEST(ExecCredentialTest, ATokenWithAnExpiry) {
  const auto credential = ParseExecCredential(
      Printed(R"({"token":"sEcReT.1-2","expirationTimestamp":"2026-01-02T03:04:05Z"})"), kV1);
  ASSERT_TRUE(credential.ok()) << credential.status();
  EXPECT_EQ(credential->token->Reveal(), "sEcReT.1-2");
  EXPECT_FALSE(credential->key_pem.has_value());
  EXPECT_EQ(credential->expires,
            absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::UTCTimeZone()));
}

TEST(ExecCredentialTest, ATokenWithoutAnExpiry) {
  for (const char* end : {"", R"(,"expirationTimestamp":null)", R"(,"expirationTimestamp":"")"}) {
    const auto credential = ParseExecCredential(Printed(StrCat(R"({"token":"t")", end, "}")), kV1);
    ASSERT_TRUE(credential.ok()) << credential.status();
    EXPECT_EQ(credential->expires, absl::InfiniteFuture());
  }
}

TEST(ExecCredentialTest, ACertificateWithItsKey) {
  const auto credential =
      ParseExecCredential(Printed(R"({"clientCertificateData":"-----BEGIN CERTIFICATE-----\nAA==",)"
                                  R"("clientKeyData":"-----BEGIN PRIVATE KEY-----\nAA=="})"),
                          kV1);
  ASSERT_TRUE(credential.ok()) << credential.status();
  EXPECT_EQ(credential->certificate_pem, "-----BEGIN CERTIFICATE-----\nAA==");
  EXPECT_EQ(credential->key_pem->Reveal(), "-----BEGIN PRIVATE KEY-----\nAA==");
  EXPECT_FALSE(credential->token.has_value());
}

TEST(ExecCredentialTest, RejectsInvalidCredentialsWithoutQuotingThem) {
  const std::string kCert = R"("clientCertificateData":"-----BEGIN CERTIFICATE-----")";
  const struct {
    std::string text;
    const char* says;
  } rows[] = {
      {"", "is empty"},
      {" \n", "is empty"},
      {"sEcReT", "is not JSON"},
      {R"({"token":"sEcReT")", "is not JSON"},
      {Printed(R"({"token":"sEcReT"})") + "sEcReT", "is not JSON"},
      {Printed(R"({"token":"sEcReT","token":"sEcReT"})"), "is not JSON"},
      {"[]", "is not a JSON object"},
      {"{}", "is of the kind \"\", not ExecCredential"},
      {R"({"kind":"Config","token":"sEcReT"})", "of the kind \"Config\""},
      {R"({"kind":"ExecCredential","status":{"token":"sEcReT"}})", "has the apiVersion \"\""},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
       "has the apiVersion \"client.authentication.k8s.io/v1beta1\", but the kubeconfig says "
       "client.authentication.k8s.io/v1"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
       "has no status"},
      {Printed("null"), "has no status"},
      {Printed("\"sEcReT\""), "has no status"},
      {Printed("{}"), "has neither a status.token nor a status.clientCertificateData"},
      {Printed(R"({"token":""})"), "has neither"},
      {Printed(R"({"token":7})"), "has a status.token that is not a string"},
      {Printed(R"({"token":"sEcReT\n"})"), "blanks or control characters"},
      {Printed(R"({"token":"sEc ReT"})"), "blanks or control characters"},
      {Printed(R"({"token":"sEcReT","expirationTimestamp":"tomorrow sEcReT"})"), "not an RFC 3339"},
      {Printed(R"({"token":"sEcReT","expirationTimestamp":1767322800})"), "is not a string"},
      {Printed(StrCat("{", kCert, "}")), "clientCertificateData but no clientKeyData"},
      {Printed(R"({"clientKeyData":"sEcReT"})"), "clientKeyData but no clientCertificateData"},
      {Printed(StrCat("{", kCert, R"(,"clientKeyData":"sEcReT"})")),
       "clientKeyData that is not PEM"},
      {Printed(R"({"clientCertificateData":"sEcReT","clientKeyData":"sEcReT"})"),
       "clientCertificateData that is not PEM"},
      {Printed(StrCat("{", kCert, R"(,"clientKeyData":"-----BEGIN KEY","token":"sEcReT"})")),
       "must print only one of them"},
  };
  for (const auto& row : rows) {
    const auto credential = ParseExecCredential(row.text, kV1);
    ASSERT_FALSE(credential.ok()) << row.text;
    EXPECT_EQ(credential.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(credential.status().message()), HasSubstr(row.says));
    EXPECT_THAT(std::string(credential.status().message()), Not(HasSubstr("sEcReT")));
    EXPECT_THAT(std::string(credential.status().message()), Not(HasSubstr("sEc ReT")));
  }
}

TEST(WithoutCredentialsTest, KeepsWordsAndRemovesSecrets) {
  const std::string jwt =
      "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMyJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0."
      "c2lnbmF0dXJlLXdpdGgtbWFueS1sZXR0ZXJzLTEyMw";
  const struct {
    std::string text;
    std::string kept;
  } rows[] = {
      {"", ""},
      {"\n", ""},
      {"Unable to locate credentials.\nRun \"aws configure\".\n",
       "Unable to locate credentials. Run \"aws configure\"."},
      {"ERROR: (gcloud.config) /usr/lib/google-cloud-sdk/bin/gke-gcloud-auth-plugin: no project",
       "ERROR: (gcloud.config) /usr/lib/google-cloud-sdk/bin/gke-gcloud-auth-plugin: no project"},
      {StrCat("got ", jwt, " back"), "got <removed>.<removed>.<removed> back"},
      {"key AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
       "key AKIAIOSFODNN7EXAMPLE <removed>"},
      {"a run of 33 with each of + / = _ -: Ab12+Cd34/Ef56=Gh78_Ij90-Kl12Mn34!",
       "a run of 33 with each of + / = _ -: <removed>!"},
      {"Ab12Cd34Ef56Gh7_Ij90Kl12Mn34Op56 Ab12Cd34Ef56Gh7-Ij90Kl12Mn34Op56", "<removed> <removed>"},
      {"the password is hunter-hunter!", "the password is <removed>!"},
      {"\x1b[31mred\x1b[0m", " [31mred [0m"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(WithoutCredentials(row.text, {"hunter-hunter", "no"}, 1000), row.kept);
  }
  EXPECT_EQ(WithoutCredentials("0123456789", {}, 4), "…6789");
}

}  // namespace
}  // namespace mandate
