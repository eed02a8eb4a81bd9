#include "manager/rbac/list_params.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

TEST(ListParamsTest, Watch) {
  for (const char* on :
       {"watch=true", "watch=1", "watch=", "watch", "watch=yes", "watch=TRUE", "watch=2",
        "watch=%31", "limit=x&watch=true", "watch=1&watch=0", "watch=no&labelSelector=,"}) {
    EXPECT_TRUE(ParseListParams(on).watch) << on;
  }
  for (const char* off :
       {"", "watch=false", "watch=0", "watch=False", "watch=FALSE", "Watch=1", "watch=0&watch=1",
        "watch=1;x=2", "watch=%zz", "watc=1", "&&=1", "limit=x&watch=0"}) {
    EXPECT_FALSE(ParseListParams(off).watch) << off;
  }
}

TEST(ListParamsTest, Name) {
  struct Case {
    std::string query;
    std::optional<std::string> name;
  };
  const Case cases[] = {
      {"fieldSelector=metadata.name=x", "x"},
      {"fieldSelector=metadata.name==x", "x"},
      {"fieldSelector=metadata.name%3Dx", "x"},
      {"fieldSelector=metadata.name=", ""},
      {"fieldSelector=metadata.name!=x", std::nullopt},
      {"fieldSelector=metadata.namespace=x", std::nullopt},
      {"fieldSelector=spec.nodeName=n,metadata.name=x", "x"},
      {"fieldSelector=metadata.name=x,,", "x"},
      {"fieldSelector=metadata.name=b,metadata.name=a", "a"},
      {"fieldSelector=metadata.name=a,metadata.name==b", "b"},
      {"fieldSelector=metadata.name=a&fieldSelector=metadata.name=b", "a"},
      {"fieldSelector=foo&fieldSelector=metadata.name=b", std::nullopt},
      {"fieldSelector=metadata.name=x,foo", std::nullopt},
      {"fieldSelector=metadata.name=a=b", std::nullopt},
      {"fieldSelector=metadata.name=x,spec.nodeName=a=b", std::nullopt},
      {"fieldSelector=metadata.name=x,zone!=a=b", std::nullopt},
      {R"(fieldSelector=metadata.name=a\b,metadata.name=x)", std::nullopt},
      {R"(fieldSelector=metadata.name=a\=b)", "a=b"},
      {R"(fieldSelector=metadata.name=a\,b)", "a,b"},
      {R"(fieldSelector=metadata.name=a\\)", R"(a\)"},
      {R"(fieldSelector=metadata.name=a\b)", std::nullopt},
      {R"(fieldSelector=metadata.name=a\)", std::nullopt},
      {"fieldSelector=+metadata.name=x", std::nullopt},
      {"fieldSelector=metadata.name=x+", "x "},
      {"fieldSelector=", std::nullopt},
      {"", std::nullopt},
      // What makes the server forget every parameter.
      {"fieldSelector=metadata.name=x&labelSelector=a%3Db", "x"},
      {"fieldSelector=metadata.name=x&labelSelector=,", std::nullopt},
      {"fieldSelector=metadata.name=x&limit=500", "x"},
      {"fieldSelector=metadata.name=x&limit=-1", "x"},
      {"fieldSelector=metadata.name=x&limit=%2B1", "x"},
      {"fieldSelector=metadata.name=x&limit=%2B-1", std::nullopt},
      {"fieldSelector=metadata.name=x&limit=", std::nullopt},
      {"fieldSelector=metadata.name=x&limit=1.5", std::nullopt},
      {"fieldSelector=metadata.name=x&limit=%201", std::nullopt},
      {"fieldSelector=metadata.name=x&timeoutSeconds=abc", std::nullopt},
      {"fieldSelector=metadata.name=x&timeoutSeconds=9223372036854775808", std::nullopt},
      {"fieldSelector=metadata.name=x&timeoutSeconds=9223372036854775807", "x"},
      {"fieldSelector=metadata.name=x&resourceVersion=abc&unknown=,", "x"},
      {"fieldSelector=metadata.name=x&watch=maybe&allowWatchBookmarks=maybe", "x"},
  };
  for (const Case& c : cases) EXPECT_EQ(ParseListParams(c.query).name, c.name) << c.query;
}

}  // namespace
}  // namespace mandate::rbac
