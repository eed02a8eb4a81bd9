#include "manager/client/response_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "manager/client/too_large.h"

namespace mandate {
namespace {

struct ResponseBudgetTest : testing::Test {
  std::shared_ptr<ResponseBudget> budget =
      ResponseBudget::Create({.max_bytes = 10, .max_response_bytes = 20});
  std::shared_ptr<ResponseBudget::Response> first = budget->Begin(true);
  std::shared_ptr<ResponseBudget::Response> second = budget->Begin(true);
  std::shared_ptr<ResponseBudget::Response> third = budget->Begin(true);

  static bool Bring(ResponseBudget::Response& response, size_t bytes) {
    return response.OnBody(std::string(bytes, 'x')).ok();
  }
};

TEST_F(ResponseBudgetTest, CountsPendingBytes) {
  EXPECT_TRUE(Bring(*first, 4));
  EXPECT_TRUE(Bring(*second, 6));
  EXPECT_EQ(budget->held(), 10u);
  EXPECT_EQ(first->TakeBody(), "xxxx");
  EXPECT_EQ(budget->held(), 6u) << "what the caller has does not count";
  second.reset();
  EXPECT_EQ(budget->held(), 0u);
}

TEST_F(ResponseBudgetTest, PostponesTheNewestResponse) {
  EXPECT_TRUE(Bring(*first, 4));
  EXPECT_TRUE(Bring(*second, 3));
  EXPECT_TRUE(Bring(*third, 3));
  EXPECT_TRUE(Bring(*first, 1)) << "the oldest goes on";
  EXPECT_TRUE(third->postponed());
  EXPECT_EQ(third->postponed_bytes(), 3u);
  EXPECT_FALSE(second->postponed());
  EXPECT_EQ(budget->held(), 8u);
  EXPECT_FALSE(Bring(*third, 1)) << "its call ends";
  EXPECT_EQ(budget->held(), 8u);
  EXPECT_FALSE(Bring(*second, 3)) << "it exceeds the budget, and is the newest now";
  EXPECT_TRUE(second->postponed());
  EXPECT_EQ(budget->held(), 5u);
}

TEST_F(ResponseBudgetTest, TheOldestAloneMayExceedTheBudgetUpToItsOwnBound) {
  EXPECT_TRUE(Bring(*second, 15)) << "a response that has no bytes is no older";
  EXPECT_TRUE(Bring(*second, 5));
  EXPECT_FALSE(second->too_large());
  const absl::Status status = second->OnBody("x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(second->too_large());
  EXPECT_FALSE(second->postponed());
}

TEST_F(ResponseBudgetTest, NeverPostponesWhatCannotBeRequestedAgain) {
  auto write = budget->Begin(/*repeatable=*/false);
  EXPECT_TRUE(Bring(*first, 5));
  EXPECT_TRUE(Bring(*third, 5));
  EXPECT_TRUE(Bring(*write, 5));
  EXPECT_FALSE(write->postponed());
  EXPECT_TRUE(third->postponed());
  EXPECT_TRUE(Bring(*write, 5)) << "nothing is left to postpone";
  EXPECT_EQ(budget->held(), 15u);
}

TEST_F(ResponseBudgetTest, AnEndlessResponseToAWriteOrAnErrorEndsEarly) {
  const auto small = ResponseBudget::Create(
      {.max_bytes = 100, .max_response_bytes = 50, .max_small_response_bytes = 7});
  const auto write = small->Begin(/*repeatable=*/false);
  EXPECT_TRUE(Bring(*write, 7));
  const absl::Status status = write->OnBody("x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(IsTooLarge(status));
  EXPECT_EQ(status.message(),
            "the response is larger than 7 bytes, the limit of responses to writes");
  EXPECT_TRUE(write->too_large());

  const auto read = small->Begin(/*repeatable=*/true);
  HttpResponse error;
  error.code = 403;
  read->OnHeaders(error);
  EXPECT_TRUE(Bring(*read, 7));
  EXPECT_EQ(read->OnBody("x").message(),
            "the response is larger than 7 bytes, the limit of error responses");
  error.code = 200;
  read->OnHeaders(error);
  EXPECT_TRUE(Bring(*read, 50)) << "the next attempt succeeds";
}

TEST_F(ResponseBudgetTest, ARestartedResponseCountsFromZero) {
  EXPECT_TRUE(Bring(*first, 5));
  first->OnHeaders({});
  EXPECT_EQ(budget->held(), 0u);
  EXPECT_TRUE(Bring(*first, 2));
  EXPECT_EQ(first->TakeBody(), "xx");
}

TEST_F(ResponseBudgetTest, HalfOfTheBudgetIsCapacityForAnyResponse) {
  EXPECT_TRUE(budget->HasCapacityFor(100)) << "nothing else is under way";
  EXPECT_TRUE(Bring(*first, 5));
  EXPECT_TRUE(budget->HasCapacityFor(100));
  EXPECT_TRUE(Bring(*first, 1));
  EXPECT_FALSE(budget->HasCapacityFor(100));
  EXPECT_TRUE(budget->HasCapacityFor(4));
  first->Abandon();
  EXPECT_EQ(budget->held(), 0u);
  EXPECT_FALSE(Bring(*first, 1)) << "nobody waits for it";
  EXPECT_EQ(budget->held(), 0u);
}

}  // namespace
}  // namespace mandate
