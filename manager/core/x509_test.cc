#include "manager/core/x509.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <optional>

namespace mandate::x509 {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

Request RequestOf(Use use, std::vector<std::string> names = {}) {
  return {.use = use,
          .common_name = "test",
          .names = std::move(names),
          .not_before = kNow,
          .not_after = kNow + absl::Hours(24)};
}

KeyPair Issued(const Request& request, const KeyPair* issuer = nullptr) {
  absl::StatusOr<KeyPair> pair = Issue(request, issuer);
  EXPECT_TRUE(pair.ok()) << pair.status();
  return *std::move(pair);
}

std::unique_ptr<X509, decltype(&X509_free)> Parsed(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  return {PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free};
}

TEST(X509Test, AServerCertificateOfItsOwn) {
  const KeyPair pair =
      Issued(RequestOf(Use::kServer, {"DNS:localhost", "DNS:a.b.svc", "IP:127.0.0.1"}));
  EXPECT_TRUE(IsIssuedBy(pair.certificate_pem, pair.certificate_pem));
  EXPECT_TRUE(HasKey(pair.certificate_pem, pair.key_pem));
  for (const char* name : {"DNS:localhost", "DNS:a.b.svc", "IP:127.0.0.1"}) {
    EXPECT_TRUE(IsFor(pair.certificate_pem, name)) << name;
  }
  for (const char* name : {"DNS:example.com", "DNS:b.svc", "IP:127.0.0.2", "DNS:", ""}) {
    EXPECT_FALSE(IsFor(pair.certificate_pem, name)) << name;
  }
  const auto certificate = Parsed(pair.certificate_pem);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_get_version(certificate.get()), X509_VERSION_3);
  EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0), 1);
  EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0), 0);
  EXPECT_EQ(X509_get_key_usage(certificate.get()), uint32_t{KU_DIGITAL_SIGNATURE});
}

TEST(X509Test, AnAuthorityIssues) {
  const KeyPair authority = Issued(RequestOf(Use::kAuthority));
  const KeyPair other = Issued(RequestOf(Use::kAuthority));
  const KeyPair server = Issued(RequestOf(Use::kServer, {"DNS:one"}), &authority);
  EXPECT_TRUE(ReadFacts(authority.certificate_pem)->is_authority);
  EXPECT_FALSE(ReadFacts(server.certificate_pem)->is_authority);
  EXPECT_TRUE(ReadFacts(authority.certificate_pem)->has_p256_key);
  EXPECT_TRUE(ReadFacts(server.certificate_pem)->has_p256_key);
  EXPECT_TRUE(IsIssuedBy(server.certificate_pem, authority.certificate_pem));
  EXPECT_FALSE(IsIssuedBy(server.certificate_pem, other.certificate_pem));
  EXPECT_FALSE(HasKey(server.certificate_pem, authority.key_pem));

  // Authorities with the same name are told apart by their keys.
  const auto leaf = Parsed(server.certificate_pem);
  const auto issuer = Parsed(authority.certificate_pem);
  const auto another = Parsed(other.certificate_pem);
  EXPECT_EQ(X509_check_issued(issuer.get(), leaf.get()), X509_V_OK);
  EXPECT_EQ(X509_check_issued(another.get(), leaf.get()), X509_V_ERR_AKID_SKID_MISMATCH);
}

TEST(X509Test, AClientCertificateHasItsOrganisations) {
  Request request = RequestOf(Use::kClient);
  request.organisations = {"system:masters", "b"};
  const auto certificate = Parsed(Issued(request).certificate_pem);
  char text[200] = {};
  X509_NAME_oneline(X509_get_subject_name(certificate.get()), text, sizeof(text));
  EXPECT_STREQ(text, "/O=system:masters/O=b/CN=test");
  EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0), 1);
}

TEST(X509Test, IsValidForItsTime) {
  const auto facts = ReadFacts(Issued(RequestOf(Use::kServer)).certificate_pem);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->not_before, kNow);
  EXPECT_EQ(facts->not_after, kNow + absl::Hours(24));
}

TEST(X509Test, EachHasAKeyAndASerialNumberOfItsOwn) {
  const KeyPair one = Issued(RequestOf(Use::kServer));
  const KeyPair two = Issued(RequestOf(Use::kServer));
  EXPECT_FALSE(HasKey(one.certificate_pem, two.key_pem));
  EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(Parsed(one.certificate_pem).get()),
                             X509_get0_serialNumber(Parsed(two.certificate_pem).get())),
            0);
}

TEST(X509Test, RejectsWhatIsNotPem) {
  const KeyPair pair = Issued(RequestOf(Use::kAuthority));
  const KeyPair mixed{pair.certificate_pem, Secret("nonsense")};
  EXPECT_EQ(Issue(RequestOf(Use::kServer), &mixed).status().code(),
            absl::StatusCode::kInvalidArgument);
  for (const char* text : {"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n"}) {
    EXPECT_EQ(ReadFacts(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_FALSE(HasKey(text, pair.key_pem));
    EXPECT_FALSE(HasKey(pair.certificate_pem, Secret(text)));
    EXPECT_FALSE(IsIssuedBy(text, pair.certificate_pem));
    EXPECT_FALSE(IsIssuedBy(pair.certificate_pem, text));
    EXPECT_FALSE(IsFor(text, "DNS:localhost"));
  }
  EXPECT_EQ(Issue(RequestOf(Use::kServer, {"IP:nonsense"}), nullptr).status().code(),
            absl::StatusCode::kInternal);
}

TEST(X509Test, SplitsPemIntoBlocks) {
  const std::string one = Issued(RequestOf(Use::kServer)).certificate_pem;
  const std::string two = Issued(RequestOf(Use::kServer)).certificate_pem;
  EXPECT_EQ(SplitPem("text\n" + one + "\n# more\n" + two + "-----BEGIN CERT"),
            (std::vector<std::string>{one, two}));
  EXPECT_EQ(SplitPem(one.substr(0, one.size() - 1)).size(), 1);
  EXPECT_TRUE(SplitPem("").empty());
}

}  // namespace
}  // namespace mandate::x509
