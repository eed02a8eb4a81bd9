#include "hack/e2e/webhooks/parcel_converter.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ParcelConverter, ConvertsWeights) {
  const struct {
    const char* weight;
    int64_t grams;
    const char* back;
  } rows[] = {{"12g", 12, "12g"}, {"3kg", 3000, "3kg"}, {"2000g", 2000, "2kg"}, {"0g", 0, "0kg"}};
  for (const auto& row : rows) {
    e2e::v1beta1::Parcel old, back;
    e2e::v1::Parcel hub;
    old.mutable_spec()->set_weight(row.weight);
    old.mutable_spec()->set_to("x");
    ASSERT_TRUE(ParcelConverter().ToHub(old, hub).ok()) << row.weight;
    EXPECT_EQ(hub.spec().grams(), row.grams);
    EXPECT_EQ(hub.spec().to(), "x");
    ASSERT_TRUE(ParcelConverter().FromHub(hub, back).ok());
    EXPECT_EQ(back.spec().weight(), row.back);
    EXPECT_EQ(back.spec().to(), "x");
  }
}

TEST(ParcelConverter, KeepsAMissingWeightAndRejectsAnInvalidOne) {
  e2e::v1beta1::Parcel old;
  e2e::v1::Parcel hub;
  EXPECT_TRUE(ParcelConverter().ToHub(old, hub).ok());
  EXPECT_FALSE(hub.spec().has_grams());
  for (const char* weight : {"", "heavy", "12", "1.5kg", "kg"}) {
    old.mutable_spec()->set_weight(weight);
    EXPECT_TRUE(absl::IsInvalidArgument(ParcelConverter().ToHub(old, hub))) << weight;
  }
}

}  // namespace
}  // namespace mandate
