#include "manager/serving/serving_certificate.h"

#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>

#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate {
namespace {

X509* CertificateOf(boost::asio::ssl::context& context) {
  return SSL_CTX_get0_certificate(context.native_handle());
}
bool IsFor(boost::asio::ssl::context& context, const char* host) {
  return X509_check_host(CertificateOf(context), host, 0, 0, nullptr) == 1;
}

class ServingCertificateTest : public testing::Test {
 protected:
  ServingCertificateTest() { std::filesystem::create_directories(dir_); }
  ~ServingCertificateTest() override { std::filesystem::remove_all(dir_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(StrCat(dir_, "/", name)) << text;
  }
  void Write(const KeyPair& pair) {
    Write("tls.crt", pair.certificate_pem);
    Write("tls.key", pair.key_pem);
  }

  const std::string dir_ = StrCat(testing::TempDir(), "/serving-certificate");
  const TestCa ca_;
};

TEST_F(ServingCertificateTest, SignsItselfForLocalhost) {
  SimulatedClock clock;
  const auto made = ServingCertificate::Create({.clock = &clock});
  ASSERT_TRUE(made.ok()) << made.status();
  const auto context = (*made)->Context();
  X509* const certificate = CertificateOf(*context);
  EXPECT_TRUE(IsFor(*context, "localhost"));
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_verify(certificate, X509_get0_pubkey(certificate)), 1);
  const auto valid = [&](absl::Time at) {
    time_t when = absl::ToTimeT(at);
    return X509_cmp_time(X509_get0_notBefore(certificate), &when) < 0 &&
           X509_cmp_time(X509_get0_notAfter(certificate), &when) > 0;
  };
  EXPECT_TRUE(valid(clock.WallTimeNow()));
  EXPECT_TRUE(valid(clock.WallTimeNow() + absl::Hours(24 * 3600)));
  EXPECT_FALSE(valid(clock.WallTimeNow() + absl::Hours(24 * 3700)));
  EXPECT_EQ(SSL_CTX_get_min_proto_version(context->native_handle()), TLS1_2_VERSION);
}

TEST_F(ServingCertificateTest, SelfSignedCertificatesDiffer) {
  const auto one = *ServingCertificate::Create({});
  const auto two = *ServingCertificate::Create({});
  EXPECT_NE(X509_cmp(CertificateOf(*one->Context()), CertificateOf(*two->Context())), 0);
}

TEST_F(ServingCertificateTest, ServesWhatIsSet) {
  const auto certificate = ServingCertificate::WithoutCertificate({});
  EXPECT_EQ(certificate->Ready().code(), absl::StatusCode::kUnavailable);
  ASSERT_NE(certificate->Context(), nullptr);
  EXPECT_EQ(CertificateOf(*certificate->Context()), nullptr);

  const KeyPair one = ca_.IssueServer({"DNS:one"});
  const KeyPair two = ca_.IssueServer({"DNS:two"});
  EXPECT_EQ(certificate->Set(one.certificate_pem, Secret(two.key_pem)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(certificate->Ready().ok());
  EXPECT_TRUE(certificate->Set(one.certificate_pem, Secret(one.key_pem)).ok());
  EXPECT_TRUE(certificate->Ready().ok());
  const auto context = certificate->Context();
  EXPECT_TRUE(IsFor(*context, "one"));
  EXPECT_TRUE(certificate->Set(one.certificate_pem, Secret(one.key_pem)).ok());
  EXPECT_EQ(certificate->Context(), context);

  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(certificate->Set("nonsense", Secret(two.key_pem)).ok());
  }
  EXPECT_TRUE(IsFor(*certificate->Context(), "one"));
  EXPECT_TRUE(certificate->Set(two.certificate_pem, Secret(two.key_pem)).ok());
  EXPECT_TRUE(IsFor(*certificate->Context(), "two"));
}

TEST_F(ServingCertificateTest, ReloadsChangedFiles) {
  Write(ca_.IssueServer({"DNS:one"}));
  const auto made = ServingCertificate::Create({.dir = dir_});
  ASSERT_TRUE(made.ok()) << made.status();
  const auto before = (*made)->Context();
  EXPECT_TRUE(IsFor(*before, "one"));
  EXPECT_EQ((*made)->Context(), before);

  const KeyPair two = ca_.IssueServer({"DNS:two"});
  Write("tls.crt", two.certificate_pem);
  EXPECT_EQ((*made)->Context(), before);  // the new certificate does not match the old key
  Write("tls.key", two.key_pem);
  EXPECT_TRUE(IsFor(*(*made)->Context(), "two"));

  std::filesystem::remove(StrCat(dir_, "/tls.key"));
  EXPECT_TRUE(IsFor(*(*made)->Context(), "two"));
  Write(ca_.IssueServer({"DNS:three"}));
  EXPECT_TRUE(IsFor(*(*made)->Context(), "three"));
}

// Clients that trust only the root need them.
TEST_F(ServingCertificateTest, SendsTheIssuersThatFollowTheCertificate) {
  const auto certificate = ServingCertificate::WithoutCertificate({});
  const KeyPair one = ca_.IssueServer({"DNS:one"});
  ASSERT_TRUE(
      certificate
          ->Set(StrCat(one.certificate_pem, "\n", ca_.certificate_pem()), Secret(one.key_pem))
          .ok());
  const auto context = certificate->Context();
  EXPECT_TRUE(IsFor(*context, "one"));
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get_extra_chain_certs(context->native_handle(), &chain);
  EXPECT_EQ(sk_X509_num(chain), 1);
}

TEST_F(ServingCertificateTest, LogsAMismatchedPairOnce) {
  Write(ca_.IssueServer({"DNS:one"}));
  SimulatedClock clock;
  const auto log = std::make_shared<LogCapture>();
  const auto made = ServingCertificate::Create({.dir = dir_, .log = Logger(log, clock)});
  ASSERT_TRUE(made.ok()) << made.status();
  Write("tls.crt", ca_.IssueServer({"DNS:two"}).certificate_pem);
  for (int connection = 0; connection < 3; ++connection) {
    EXPECT_TRUE(IsFor(*(*made)->Context(), "one"));
  }
  EXPECT_EQ(log->Count("A new certificate cannot be served"), 1);
}

TEST_F(ServingCertificateTest, ReadsFilesOfOtherNames) {
  const KeyPair pair = ca_.IssueServer({"DNS:one"});
  Write("a.pem", pair.certificate_pem);
  Write("b.pem", pair.key_pem);
  EXPECT_TRUE(
      ServingCertificate::Create({.dir = dir_, .cert_name = "a.pem", .key_name = "b.pem"}).ok());
}

TEST_F(ServingCertificateTest, RejectsInvalidFilesAtTheStart) {
  const KeyPair pair = ca_.IssueServer({"DNS:one"});
  const KeyPair other = ca_.IssueServer({"DNS:one"});
  const struct {
    std::string certificate, key, says;
  } rows[] = {
      {"", pair.key_pem, "/tls.crt is empty; the folder "},
      {pair.certificate_pem, "", " must have a certificate tls.crt and its private key tls.key"},
      {"nonsense", pair.key_pem, "it is not a certificate in PEM"},
      {pair.certificate_pem, "nonsense", "the key is not a private key in PEM"},
      {pair.certificate_pem, other.key_pem, "does not belong to the certificate"},
  };
  for (const auto& row : rows) {
    Write({row.certificate, row.key});
    const auto made = ServingCertificate::Create({.dir = dir_});
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(made.status().message()).find(row.says), std::string::npos)
        << made.status();
  }
  EXPECT_FALSE(ServingCertificate::Create({.dir = "/nonexistent"}).ok());
}

}  // namespace
}  // namespace mandate
