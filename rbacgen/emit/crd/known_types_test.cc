#include "rbacgen/emit/crd/known_types.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/duration.h"

namespace mandate::rbacgen {
namespace {

// The server must not store text that the codec of the component cannot read.
TEST(KnownTypesTest, TheDurationPatternMatchesWhatTheCodecReads) {
  using k8s::io::apimachinery::pkg::apis::meta::v1::Duration;
  const std::optional<SchemaNode> node = KnownType(*Duration::descriptor());
  ASSERT_TRUE(node.has_value());
  ASSERT_TRUE(node->keywords.contains("pattern"));
  const RE2 pattern(node->keywords.at("pattern").text());
  ASSERT_TRUE(pattern.ok()) << pattern.error();
  for (const char* text :
       {"0",   "+0",  "-0",  "0s",     "1h", "1h2m3.5s", "-1.5h", "+1m",   ".5s", "5.s", "300ms",
        "1us", "1µs", "1μs", "1ns1ns", "",   "soon",     "90",    "1",     "-",   ".s",  "1d",
        "1 h", "1h ", " 1h", "1H",     "h",  "1.2.3s",   "--1s",  "1h-2m", "00",  "1hm", "1h\n"}) {
    EXPECT_EQ(RE2::PartialMatch(text, pattern), ParseGoDuration(text).ok()) << text;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
