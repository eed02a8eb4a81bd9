// Admission webhooks that answer as a row says, and remember what they were asked.
#ifndef TESTING_CONFORMANCE_HOOK_SERVER_H_
#define TESTING_CONFORMANCE_HOOK_SERVER_H_

#include <jsoncpp/json/json.h>

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "manager/core/mutex.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate::conformance {

// HTTPS on loopback. Thread-safe.
class HookServer {
 public:
  static absl::StatusOr<std::unique_ptr<HookServer>> Create();

  // From now on this webhook answers so. {code: N, raw: text} is sent as it is; anything else is
  // the `response` of an AdmissionReview, to which the request's uid is added unless it has one;
  // a `patch` that is a list becomes a JSON patch in base64.
  void Serve(const std::string& name, Json::Value answer);
  std::string UrlOf(const std::string& name) const { return server_->url() + "/" + name; }
  // Of a client configuration: base64.
  std::string CaBundle() const;
  // The reviews that it got so far, an array.
  Json::Value Received(const std::string& name);

 private:
  HookServer() = default;
  void Answer(ServerStream& stream);

  const TestCa ca_{"conformance webhooks"};
  Mutex mutex_;
  std::map<std::string, Json::Value> answers_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Json::Value> received_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<H2Server> server_;  // last: its thread uses the others
};

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_HOOK_SERVER_H_
