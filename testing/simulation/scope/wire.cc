#include "testing/simulation/scope/wire.h"

#include <string_view>
#include <utility>

namespace mandate::simulation {
namespace {

absl::Status Dead() { return absl::UnavailableError("the process is dead (simulated)"); }

}  // namespace

bool IsObjectWrite(const HttpRequest& request) {
  if (request.method == "GET") return false;
  const std::string_view target = request.target;
  return target.find("/rbac.authorization.k8s.io/") != std::string_view::npos ||
         target.find("/operators.coreos.com/") != std::string_view::npos;
}

void Wire::DieAt(int nth, Death how, absl::Duration late, std::function<void()> died) {
  until_death_ = nth;
  how_ = how;
  late_ = late;
  died_ = std::move(died);
}

void Wire::Call(const CallContext& context, HttpRequest request, Done done) {
  if (dead_) return Fail(std::move(done));
  const bool dies = until_death_ > 0 && IsObjectWrite(request) && --until_death_ == 0;
  if (!dies) return server_.Call(context, std::move(request), std::move(done));
  dead_ = true;
  died_();
  Fail(std::move(done));
  if (how_ == Death::kRequestLost) return;
  const absl::Duration late = how_ == Death::kRequestDelayed ? late_ : absl::ZeroDuration();
  loop_.PostAt(loop_.clock().TimeNow() + late,
               [&loop = loop_, &server = server_, request = std::move(request)]() mutable {
                 server.Call({loop.clock().TimeNow() + absl::Minutes(1), {}}, std::move(request),
                             [](absl::StatusOr<HttpResponse>) {});
               });
}

std::unique_ptr<Stream> Wire::Open(HttpRequest request, std::shared_ptr<StreamSink> sink) {
  if (!dead_) return server_.Open(std::move(request), std::move(sink));
  loop_.Post([weak = std::weak_ptr(sink)] {
    if (const auto alive = weak.lock()) alive->OnClosed(Dead());
  });
  return std::make_unique<Stream>();
}

void Wire::Fail(Done done) {
  loop_.Post([done = std::move(done)]() mutable { std::move(done)(Dead()); });
}

}  // namespace mandate::simulation
