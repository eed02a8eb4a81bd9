// Certificates for servers and clients of tests.
#ifndef MANAGER_TRANSPORT_TESTING_TEST_PKI_H_
#define MANAGER_TRANSPORT_TESTING_TEST_PKI_H_

#include <memory>
#include <string>
#include <vector>

namespace mandate {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

// A certificate authority. Thread-safe after construction. Aborts when OpenSSL fails: no test can
// run without it.
class TestCa {
 public:
  explicit TestCa(const std::string& common_name = "test CA");
  ~TestCa();

  const std::string& certificate_pem() const { return certificate_pem_; }

  // The validity of a certificate, in seconds from now.
  struct Validity {
    long from = -24L * 3600;
    long until = 3650L * 24 * 3600;
  };

  // A certificate for a server. Each name is "IP:127.0.0.1" or "DNS:localhost".
  KeyPair IssueServer(const std::vector<std::string>& subject_alternative_names) const;
  KeyPair IssueServer(const std::vector<std::string>& subject_alternative_names,
                      Validity validity) const;
  // A certificate for a client. To Kubernetes the common name is the user, and each organisation a
  // group.
  KeyPair IssueClient(const std::string& common_name,
                      const std::vector<std::string>& organisations = {}) const;

 private:
  struct Keys;
  KeyPair Issue(const std::string& common_name, const std::vector<std::string>& organisations,
                const std::vector<std::string>& names, const char* usage, Validity validity) const;

  std::unique_ptr<Keys> keys_;
  std::string certificate_pem_;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_TEST_PKI_H_
