#include "manager/rbac/quote.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

TEST(QuoteTest, EscapesAsGoDoes) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", R"("")"},
      {"plain-name/ns", R"("plain-name/ns")"},
      {R"(a"b\c)", R"("a\"b\\c")"},
      {"a\tb\nc\rd", R"("a\tb\nc\rd")"},
      {"\x01\x1f\x7f", R"("\x01\x1f\x7f")"},
      {"bücher", "\"bücher\""},
  };
  for (const auto& [text, quoted] : cases) EXPECT_EQ(Quote(text), quoted);
}

}  // namespace
}  // namespace mandate::rbac
