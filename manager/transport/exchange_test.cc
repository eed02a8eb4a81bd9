#include "manager/transport/exchange.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace mandate {
namespace {

class LoggingExchange : public Exchange {
 public:
  using Exchange::DropSilently;
  using Exchange::EndEarly;

  LoggingExchange()
      : Exchange(HttpRequest(std::make_shared<Endpoint>(),
                             BearerToken{std::make_shared<const Secret>(std::string("token"))},
                             "GET", "/")) {
    SetCarrier([this] { log += "dropped "; });
  }
  bool OnHead(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }

  std::string log;

 private:
  void OnEnd(absl::Status status) override { log += status.ok() ? "ended " : "failed "; }
};

using Step = std::function<void(LoggingExchange&)>;

const Step kEnd = [](LoggingExchange& exchange) { exchange.End(absl::OkStatus()); };
const Step kEndEarly = [](LoggingExchange& exchange) {
  exchange.EndEarly(absl::CancelledError("nobody waits for it"));
};
const Step kDropSilently = [](LoggingExchange& exchange) { exchange.DropSilently(); };

TEST(ExchangeTest, EndsOnce) {
  const std::vector<std::pair<Step, std::string>> first_steps = {
      {kEnd, "ended "}, {kEndEarly, "dropped failed "}, {kDropSilently, "dropped "}};
  for (const auto& [first, log] : first_steps) {
    for (const Step& second : {kEnd, kEndEarly, kDropSilently}) {
      const auto exchange = std::make_shared<LoggingExchange>();
      EXPECT_FALSE(exchange->over());
      first(*exchange);
      EXPECT_TRUE(exchange->over());
      EXPECT_EQ(exchange->log, log);
      second(*exchange);
      EXPECT_EQ(exchange->log, log);
    }
  }
}

}  // namespace
}  // namespace mandate
