// Makes audit logs like those of kube-apiserver, of any size; the same seed makes the same log.
// Used by benchmarks and by the reader's tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace mandate::rbacgen::testing {

// Not thread-safe.
class AuditLogMaker {
 public:
  // `components` is the number of identities mandate-manager-c0, -c1, …; each has one token at a
  // time. The other events are typical of any cluster: kubelets, controllers, people.
  AuditLogMaker(uint64_t seed, int components);

  // One event of stage ResponseComplete (a watch: ResponseStarted), with its line feed. The levels
  // are Metadata, Request and RequestResponse in equal parts, if the verb has bodies.
  std::string Next();

 private:
  struct Request {
    std::string user, agent, credential, verb, group, resource, subresource, ns, name;
    int code = 200;
  };

  Request Ours();
  Request Others();
  std::string Body(const Request& request, int level);
  int Dice(int sides) { return static_cast<int>(random_() % sides); }
  std::string Uuid();

  std::mt19937_64 random_;
  const int components_;
  int64_t events_ = 0;
};

}  // namespace mandate::rbacgen::testing
