#include "manager/token_check.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

// Ends a call without an answer at its deadline, as every client does.
class PunctualClient : public FakeRestClient {
 public:
  using FakeRestClient::FakeRestClient;

  void Send(const CallContext& context, RestRequest request, Done done) override {
    if (answers) return FakeRestClient::Send(context, std::move(request), std::move(done));
    timer_ = loop().RunAt(context.deadline, [done = std::move(done)]() mutable {
      std::move(done)(absl::DeadlineExceededError("no answer"));
    });
  }

  bool answers = true;

 private:
  std::unique_ptr<Loop::Timer> timer_;
};

class TokenCheckTest : public testing::Test {
 protected:
  TokenCheckTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      EXPECT_EQ(request.method, "POST");
      EXPECT_EQ(request.target, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
      EXPECT_NE(request.body.find("\"kind\":\"SelfSubjectReview\""), std::string::npos);
      at_.push_back(Second());
      if (!answer_.ok()) return answer_;
      return FakeRestClient::Json(201, "{}");
    });
    check_ = std::make_unique<TokenCheck>(TokenCheck::Options{
        .client = &client_, .period = absl::Seconds(10), .initial_delay = absl::Seconds(3)});
  }

  int Second() const {
    return static_cast<int>((loop_.clock().TimeNow() - start_) / absl::Seconds(1));
  }

  SimulatedLoop loop_;
  const absl::Time start_ = loop_.clock().TimeNow();
  PunctualClient client_{loop_, "scope"};
  absl::Status answer_;
  std::vector<int> at_;
  std::unique_ptr<TokenCheck> check_;
};

TEST_F(TokenCheckTest, ChecksEachPeriodWhateverTheAnswer) {
  loop_.RunFor(absl::Seconds(5));
  EXPECT_TRUE(at_.empty());
  check_->Start();
  loop_.RunFor(absl::Seconds(25));
  EXPECT_EQ(at_, (std::vector<int>{8, 18, 28}));
  answer_ = absl::UnauthenticatedError("over");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(at_, (std::vector<int>{8, 18, 28, 38, 48}));
}

TEST_F(TokenCheckTest, OneAtATime) {
  client_.SetDelay([] { return absl::Seconds(3); });
  check_->Start();
  loop_.RunFor(absl::Seconds(60));
  // 3 s there, 3 s back, 10 s of peace.
  EXPECT_EQ(at_, (std::vector<int>{6, 22, 38, 54}));
}

TEST_F(TokenCheckTest, WaitsAtMostAPeriodForAnAnswer) {
  client_.answers = false;
  check_->Start();
  loop_.RunFor(absl::Seconds(4));
  client_.answers = true;
  loop_.RunFor(absl::Seconds(20));
  // It began after 3 s, and ended after 13 s.
  EXPECT_EQ(at_, (std::vector<int>{23}));
}

TEST_F(TokenCheckTest, EndsAtOnce) {
  client_.SetDelay([] { return absl::Seconds(3); });
  check_->Start();
  loop_.RunFor(absl::Seconds(7));  // the answer is on its way
  check_.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(at_.size(), 1u);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace mandate
