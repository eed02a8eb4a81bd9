#include "webhook/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/testing/simulated_loop.h"

namespace example {
namespace {

using v1alpha1::Greeting;

Greeting Greet(const std::string& name, const std::string& person) {
  Greeting greeting;
  greeting.mutable_metadata()->set_namespace_("default");
  greeting.mutable_metadata()->set_name(name);
  greeting.mutable_spec()->set_name(person);
  return greeting;
}

class WebhookTest : public testing::Test {
 protected:
  WebhookTest() {
    cache_.Put(Greet("ann", "Ann"));
    loop_.RunReady();  // now the demand is synced
  }

  mandate::SimulatedLoop loop_;
  mandate::FakeCacheView cache_{loop_};
  const std::unique_ptr<mandate::DemandHandle> demand_ =
      cache_.Demand({mandate::KindOf<Greeting>::value, "", ""}, nullptr);
  const mandate::AdmissionRequest request_;
  mandate::AdmissionCall call_{{}, request_};
  GreetingValidator validator_{cache_};
};

TEST_F(WebhookTest, APersonIsGreetedOnce) {
  const absl::Status again = validator_.ValidateCreate(call_, Greet("other", "Ann"));
  EXPECT_EQ(again,
            absl::InvalidArgumentError("spec.name: ann has the name Ann already; choose another"));
  EXPECT_EQ(validator_.ValidateCreate(call_, Greet("bob", "Bob")), absl::OkStatus());
  EXPECT_FALSE(validator_.ValidateUpdate(call_, Greet("bob", "Bob"), Greet("bob", "Ann")).ok());
}

TEST_F(WebhookTest, AnObjectMayStayAsItIs) {
  EXPECT_EQ(validator_.ValidateCreate(call_, Greet("ann", "Ann")), absl::OkStatus());
  // It was stored before the webhook was there.
  const Greeting twice = Greet("other", "Ann");
  EXPECT_EQ(validator_.ValidateUpdate(call_, twice, twice), absl::OkStatus());
}

}  // namespace
}  // namespace example
