#include "manager/transport/curl_handles.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kToken = "a-token-that-nobody-may-find";

// The content of libcurl's memory when it is freed.
int freed_with_token = 0;
int freed = 0;

void WatchedFree(void* block) {
  if (block != nullptr) {
    ++freed;
    const std::string_view bytes(static_cast<const char*>(block), malloc_usable_size(block));
    freed_with_token += bytes.find(kToken) != std::string_view::npos;
  }
  free(block);
}

class CurlHandlesEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    ASSERT_EQ(
        curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, WatchedFree, realloc, strdup, calloc),
        CURLE_OK);
  }
};
const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new CurlHandlesEnvironment());

TEST(CurlHandles, TheEnvironmentIsThere) { ASSERT_NE(kEnvironment, nullptr); }

TEST(CurlList, KeepsLines) {
  CurlList list;
  EXPECT_EQ(list.get(), nullptr);
  std::string line = "a:1:b:2";
  ASSERT_TRUE(list.Append(line));
  ASSERT_TRUE(list.AppendHeader("Authorization", "Bearer ", "x"));
  ASSERT_TRUE(list.AppendHeader("Expect", "", ""));
  std::vector<std::string> lines;
  for (const curl_slist* node = list.get(); node != nullptr; node = node->next) {
    lines.push_back(node->data);
  }
  EXPECT_THAT(lines, ElementsAre("a:1:b:2", "Authorization: Bearer x", "Expect:"));
}

TEST(CurlList, LeavesNoTokenInFreedMemory) {
  // A check of the test itself: a list that is not ours frees memory that still has the token.
  curl_slist_free_all(curl_slist_append(nullptr, std::string(kToken).c_str()));
  ASSERT_EQ(freed_with_token, 1);
  freed_with_token = freed = 0;
  {
    CurlList list;
    ASSERT_TRUE(list.AppendHeader("Accept", "", "x"));
    ASSERT_TRUE(list.AppendHeader("Authorization", "Bearer ", kToken));
    ASSERT_TRUE(list.AppendHeader("User-Agent", "", "y"));
  }
  EXPECT_GE(freed, 6);  // three nodes, three lines
  EXPECT_EQ(freed_with_token, 0);
}

TEST(CurlList, ZeroesTheCallersLine) {
  CurlList list;
  std::string line(kToken);
  ASSERT_TRUE(list.Append(line));
  EXPECT_EQ(line.find(kToken), std::string::npos);
}

TEST(CurlHandles, Initialize) { EXPECT_TRUE(InitializeCurl()); }

}  // namespace
}  // namespace mandate
