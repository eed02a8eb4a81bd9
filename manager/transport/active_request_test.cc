#include "manager/transport/active_request.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace mandate {
namespace {

class LoggingExchange : public ActiveRequest {
 public:
  using ActiveRequest::EndEarly;
  using ActiveRequest::EndWithoutCall;

  LoggingExchange()
      : ActiveRequest(HttpRequest(std::make_shared<Endpoint>(),
                                  BearerToken{std::make_shared<const Secret>(std::string("token"))},
                                  "GET", "/")) {
    SetOnDrop([this] { log += "dropped "; });
  }
  bool OnHeaders(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }

  std::string log;

 private:
  void OnEnd(absl::Status status) override { log += status.ok() ? "ended " : "failed "; }
};

using Step = std::function<void(LoggingExchange&)>;

const Step kEnd = [](LoggingExchange& active) { active.End(absl::OkStatus()); };
const Step kEndEarly = [](LoggingExchange& active) {
  active.EndEarly(absl::CancelledError("nobody waits for it"));
};
const Step kEndWithoutCall = [](LoggingExchange& active) { active.EndWithoutCall(); };

TEST(ActiveRequestTest, EndsOnce) {
  const std::vector<std::pair<Step, std::string>> first_steps = {
      {kEnd, "ended "}, {kEndEarly, "dropped failed "}, {kEndWithoutCall, "dropped "}};
  for (const auto& [first, log] : first_steps) {
    for (const Step& second : {kEnd, kEndEarly, kEndWithoutCall}) {
      const auto active = std::make_shared<LoggingExchange>();
      EXPECT_FALSE(active->ended());
      first(*active);
      EXPECT_TRUE(active->ended());
      EXPECT_EQ(active->log, log);
      second(*active);
      EXPECT_EQ(active->log, log);
    }
  }
}

}  // namespace
}  // namespace mandate
