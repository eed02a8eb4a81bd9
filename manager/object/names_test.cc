#include "manager/object/names.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

struct Case {
  absl::Status (*check)(std::string_view);
  std::vector<std::string> valid;
  std::vector<std::string> invalid;
};

TEST(NamesTest, Tables) {
  const std::string a63(63, 'a');
  const std::string a64(64, 'a');
  const std::string long_name = a63 + "." + a63 + "." + a63 + "." + std::string(61, 'a');
  const Case kCases[] = {
      {CheckDnsLabel,
       {"a", "0", "z9", "foo-bar", "a--b", a63},
       {"", "-a", "a-", "A", "fooServiceAccount", "a.b", "a_b", "a b", a64, "ü"}},
      {CheckDnsSubdomain,
       {"a", "a.b", "scopeinstances.operators.coreos.com", a64, long_name},
       {"", ".", "a.", ".a", "a..b", "a.-b", "A.b", "a/b", long_name + "a"}},
      {CheckPathSegment, {"a", "system:masters", "A B", "..."}, {"", ".", "..", "a/b", "a%20"}},
      {CheckLabelKey,
       {"a", "A_b.c-1", "example.com/a", "a/" + a63},
       {"", "/a", "a/", "a/b/c", "-a", "a-", "Ex.com/a", "a b", a64, "a/" + a64, "a=b"}},
      {CheckLabelValue, {"", "a", "A_b.c-1", a63}, {"-a", "a-", "a b", "a/b", "a,b", a64}},
  };
  for (const Case& c : kCases) {
    for (const std::string& value : c.valid) {
      EXPECT_TRUE(c.check(value).ok()) << value << ": " << c.check(value);
    }
    for (const std::string& value : c.invalid) {
      EXPECT_EQ(c.check(value).code(), absl::StatusCode::kInvalidArgument) << value;
    }
  }
}

TEST(NamesTest, SaysWhatIsWrong) {
  EXPECT_EQ(
      std::string(CheckDnsLabel("fooServiceAccount").message()),
      "\"fooServiceAccount\" must consist of lower-case letters, digits or '-', and start and "
      "end with a letter or digit");
  EXPECT_THAT(std::string(CheckLabelKey("A.b/c").message()),
              testing::HasSubstr("\"A.b/c\" has an invalid prefix: \"A.b\" must"));
}

}  // namespace
}  // namespace mandate
