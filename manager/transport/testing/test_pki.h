// A certificate authority for tests.
#pragma once

#include <string>
#include <vector>

#include "manager/core/x509.h"

namespace mandate {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

// Immutable. Aborts if OpenSSL fails, because no test can run without it.
class TestCa {
 public:
  explicit TestCa(const std::string& common_name = "test CA");

  const std::string& certificate_pem() const { return authority_.certificate_pem; }

  // The validity of a certificate, in seconds from now.
  struct Validity {
    long from = -24L * 3600;
    long until = 3650L * 24 * 3600;
  };

  // A certificate for a server. Each name is "IP:127.0.0.1" or "DNS:localhost".
  KeyPair IssueServer(const std::vector<std::string>& names) const;
  KeyPair IssueServer(const std::vector<std::string>& names, Validity validity) const;
  // A certificate for a client. To Kubernetes the common name is the user, and each organisation a
  // group.
  KeyPair IssueClient(const std::string& common_name,
                      const std::vector<std::string>& organisations = {}) const;

 private:
  x509::KeyPair authority_;
};

}  // namespace mandate
