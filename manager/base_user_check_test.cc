#include "manager/base_user_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class BaseUserCheckTest : public testing::Test {
 protected:
  void Begin() {
    client_.HandleLate([this](const RestRequest& request, FakeRestClient::Reply reply) {
      EXPECT_EQ(request.target, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
      ++asked_;
      if (late_) {
        replies_.push_back(std::move(reply));
      } else {
        reply(Answer());
      }
    });
    check_.emplace(BaseUserCheck::Options{
        .base = &client_, .username = "base", .on_other_user = [this](const absl::Status& why) {
          others_.emplace_back(why.message());
        }});
    loop_.RunReady();
  }
  absl::StatusOr<HttpResponse> Answer() const {
    if (!error_.ok()) return error_;
    return FakeRestClient::Json(201,
                                StrCat(R"({"status":{"userInfo":{"username":")", user_, R"("}}})"));
  }
  // How often it asks about a new token.
  int NewToken() {
    const int before = asked_;
    check_->OnNewToken();
    loop_.RunReady();
    return asked_ - before;
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "base"};
  std::string user_ = "base";
  absl::Status error_;
  bool late_ = false;
  int asked_ = 0;
  std::vector<FakeRestClient::Reply> replies_;
  std::vector<std::string> others_;
  std::optional<BaseUserCheck> check_;
};

TEST_F(BaseUserCheckTest, AcceptsTokensOfTheSameUser) {
  Begin();
  EXPECT_EQ(asked_, 1) << "the token may be another since the manager asked";
  EXPECT_EQ(NewToken(), 1);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(asked_, 2) << "no more than one question a token";
  EXPECT_THAT(others_, IsEmpty());
}

TEST_F(BaseUserCheckTest, ReportsAnotherUsersTokenOnce) {
  Begin();
  user_ = "mallory";
  EXPECT_EQ(NewToken(), 1);
  ASSERT_THAT(others_, SizeIs(1));
  EXPECT_THAT(others_[0],
              AllOf(HasSubstr("to \"mallory\" now"), HasSubstr("belonged to \"base\"")));
  NewToken();
  EXPECT_THAT(others_, SizeIs(1));
}

TEST_F(BaseUserCheckTest, RetriesWithoutAnAnswer) {
  error_ = absl::UnavailableError("gone");
  Begin();
  loop_.RunFor(absl::Seconds(25));
  EXPECT_EQ(asked_, 3);
  error_ = absl::OkStatus();
  user_ = "mallory";
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(others_, SizeIs(1));
}

TEST_F(BaseUserCheckTest, ChecksATokenThatComesDuringACheck) {
  late_ = true;
  Begin();
  EXPECT_EQ(NewToken(), 0);
  EXPECT_EQ(NewToken(), 0);
  late_ = false;
  replies_[0](Answer());
  loop_.RunReady();
  EXPECT_EQ(asked_, 2);
  EXPECT_THAT(others_, IsEmpty());
}

TEST_F(BaseUserCheckTest, ReportsNothingAfterDestruction) {
  late_ = true;
  user_ = "mallory";
  Begin();
  check_.reset();
  replies_[0](Answer());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(asked_, 1);
  EXPECT_THAT(others_, IsEmpty());
}

}  // namespace
}  // namespace mandate
