#include "manager/serving/self_signed.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

namespace mandate {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class SelfSignedTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<SelfSigned> made = MakeSelfSigned(kNow);
    ASSERT_TRUE(made.ok()) << made.status();
    const auto read = [](std::string_view pem, const auto& reader) {
      const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
          BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
      return reader(bio.get(), nullptr, nullptr, nullptr);
    };
    certificate_.reset(read(made->certificate_pem, PEM_read_bio_X509));
    key_.reset(read(made->key_pem.Reveal(), PEM_read_bio_PrivateKey));
    ASSERT_NE(certificate_, nullptr);
    ASSERT_NE(key_, nullptr);
  }
  bool GoodAt(absl::Time time) const {
    time_t at = absl::ToTimeT(time);
    return X509_cmp_time(X509_get0_notBefore(certificate_.get()), &at) < 0 &&
           X509_cmp_time(X509_get0_notAfter(certificate_.get()), &at) > 0;
  }

  std::unique_ptr<X509, decltype(&X509_free)> certificate_{nullptr, X509_free};
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{nullptr, EVP_PKEY_free};
};

TEST_F(SelfSignedTest, IsSignedByItself) {
  EXPECT_EQ(X509_get_version(certificate_.get()), X509_VERSION_3);
  EXPECT_EQ(X509_check_private_key(certificate_.get(), key_.get()), 1);
  EXPECT_EQ(X509_verify(certificate_.get(), key_.get()), 1);
  EXPECT_EQ(X509_NAME_cmp(X509_get_issuer_name(certificate_.get()),
                          X509_get_subject_name(certificate_.get())),
            0);
  EXPECT_GT(X509_NAME_entry_count(X509_get_issuer_name(certificate_.get())), 0);
}

TEST_F(SelfSignedTest, IsForServersOnThisMachine) {
  EXPECT_EQ(X509_check_host(certificate_.get(), "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate_.get(), "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_host(certificate_.get(), "example.com", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_purpose(certificate_.get(), X509_PURPOSE_SSL_SERVER, 0), 1);
  EXPECT_EQ(X509_check_purpose(certificate_.get(), X509_PURPOSE_SSL_CLIENT, 0), 0);
  EXPECT_EQ(X509_get_key_usage(certificate_.get()), uint32_t{KU_DIGITAL_SIGNATURE});
}

TEST_F(SelfSignedTest, IsGoodForTenYears) {
  EXPECT_FALSE(GoodAt(kNow - absl::Hours(25)));
  EXPECT_TRUE(GoodAt(kNow - absl::Hours(23)));
  EXPECT_TRUE(GoodAt(kNow + absl::Hours(24 * 3649)));
  EXPECT_FALSE(GoodAt(kNow + absl::Hours(24 * 3651)));
}

TEST_F(SelfSignedTest, EachHasASerialNumberOfItsOwn) {
  const auto former = std::move(certificate_);
  SetUp();
  EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(former.get()),
                             X509_get0_serialNumber(certificate_.get())),
            0);
}

}  // namespace
}  // namespace mandate
