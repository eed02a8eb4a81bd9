#include "manager/transport/testing/test_pki.h"

#include <utility>

#include "manager/core/clock.h"

namespace mandate {
namespace {

x509::KeyPair Issue(x509::Request request, TestCa::Validity validity, const x509::KeyPair* issuer) {
  const absl::Time now = Clock::Real().WallTimeNow();
  request.not_before = now + absl::Seconds(validity.from);
  request.not_after = now + absl::Seconds(validity.until);
  return x509::Issue(request, issuer).value();
}

KeyPair Revealed(const x509::KeyPair& pair) {
  return {pair.certificate_pem, std::string(pair.key_pem.Reveal())};
}

}  // namespace

TestCa::TestCa(const std::string& common_name)
    : authority_(Issue({.use = x509::Use::kAuthority, .common_name = common_name}, {}, nullptr)) {}

KeyPair TestCa::IssueServer(const std::vector<std::string>& names) const {
  return IssueServer(names, {});
}

KeyPair TestCa::IssueServer(const std::vector<std::string>& names, Validity validity) const {
  return Revealed(Issue({.common_name = "test server", .names = names}, validity, &authority_));
}

KeyPair TestCa::IssueClient(const std::string& common_name,
                            const std::vector<std::string>& organisations) const {
  return Revealed(
      Issue({.use = x509::Use::kClient, .common_name = common_name, .organisations = organisations},
            {}, &authority_));
}

}  // namespace mandate
