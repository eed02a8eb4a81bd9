#include "manager/transport/curl_support.h"

#include <curl/curl.h>

#include <string>

#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(CurlSupport, KnowsTheTestedVersionsOnly) {
  struct Row {
    uint32_t version;
    const char* text;
    bool tested;
  };
  for (const Row& row : {Row{0x075700, "7.87.0", false}, Row{0x075800, "7.88.0", false},
                         Row{0x075801, "7.88.1", true}, Row{0x080000, "8.0.0", false},
                         Row{0x080e01, "8.14.1", false}}) {
    EXPECT_EQ(CurlSupport{row.version}.tested(), row.tested) << row.text;
    EXPECT_EQ(CurlVersionText(row.version), row.text);
  }
}

TEST(CurlSupport, AsksTheLibraryItself) {
  const std::string here = CurlVersionText(CurlVersionHere());
  EXPECT_EQ(std::string(curl_version()).rfind("libcurl/" + here, 0), 0u) << here;
}

// The other tests of this room show that the conclusions hold with this library. After an update, a
// failing row of theirs tells which one does not.
TEST(CurlSupport, TheseTestsRunOnATestedVersion) {
  EXPECT_TRUE(CurlSupport{CurlVersionHere()}.tested())
      << CurlVersionText(CurlVersionHere())
      << ": if every other test of this room passes with it, extend the range in curl_support.h";
}

}  // namespace
}  // namespace mandate
