#include "rbacgen/emit/chart/fields_cel.h"

#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

// hack/chart_test tests the expressions on an API server.
TEST(OnlyFieldsChangedCel, ComparesEachKeyOfBothObjects) {
  EXPECT_EQ(OnlyFieldsChangedCel({"a"}),
            "[dyn(object)].all(is, [dyn(oldObject)].all(was, "
            "is.all(key0, key0 in [\"a\"] || key0 in was && (key0 in [\"metadata\"] || "
            "is[key0] == was[key0])) && was.all(key0, key0 in [\"a\"] || key0 in is) && "
            "(!(\"metadata\" in was) || is[\"metadata\"].all(key0, key0 in [\"generation\", "
            "\"managedFields\", \"resourceVersion\"] || key0 in was[\"metadata\"] && "
            "(is[\"metadata\"][key0] == was[\"metadata\"][key0])) && was[\"metadata\"].all(key0, "
            "key0 in [\"generation\", \"managedFields\", \"resourceVersion\"] || "
            "key0 in is[\"metadata\"]))))");
}

TEST(OnlyFieldsChangedCel, ComparesItemsOfListsByIndex) {
  const std::string cel = OnlyFieldsChangedCel({"l[*].a.b", "l[*].c"});
  for (const char* part : {
           "is[\"l\"].size() == was[\"l\"].size() && was[\"l\"].all(was0, "
           "was[\"l\"].exists_one(twin0, twin0 == was0) && "
           "[is[\"l\"][was[\"l\"].indexOf(was0)]].all(is0, is0.all(key1, key1 in [\"c\"] || ",
           "(!(\"a\" in was0) || is0[\"a\"].all(key1, key1 in [\"b\"] || key1 in was0[\"a\"] && ",
       }) {
    EXPECT_NE(cel.find(part), cel.npos) << part << "\nin " << cel;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
