#include "controllers/certificates/make.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/certificates/mandates.h"

namespace mandate::certificates {
namespace {

constexpr char kScope[] = "mandate-manager-scope-webhook-validating";

CertificateOptions Options(const std::vector<std::string>& validating,
                           const std::vector<std::string>& mutating) {
  CertificateOptions options;
  for (const std::string& name : validating) options.validating.push_back({name, {"w"}});
  for (const std::string& name : mutating) options.mutating.push_back({name, {"w"}});
  return options;
}

// Otherwise a new webhook would leave all webhooks without a certificate.
TEST(CheckMayPublish, NamesTheMarkerThatIsMissing) {
  EXPECT_EQ(CheckMayPublish(kWebhookCertificates, Options({kScope}, {})), absl::OkStatus());
  const struct {
    CertificateOptions options;
    const char* marker;
  } cases[] = {
      {Options({kScope, "mandate-manager-x-validating"}, {}),
       "resources=validatingwebhookconfigurations,resourceNames=mandate-manager-x-validating,"},
      {Options({kScope}, {"mandate-manager-x-mutating"}),
       "resources=mutatingwebhookconfigurations,resourceNames=mandate-manager-x-mutating,"},
  };
  for (const auto& c : cases) {
    const absl::Status status = CheckMayPublish(kWebhookCertificates, c.options);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(c.marker));
  }
}

}  // namespace
}  // namespace mandate::certificates
