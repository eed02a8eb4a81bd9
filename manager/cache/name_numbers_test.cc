#include "manager/cache/name_numbers.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(NameNumbersTest, ANameHasOneNumberWhileItIsInUse) {
  NameNumbers numbers;
  const uint32_t foo = numbers.Use("foo");
  const uint32_t bar = numbers.Use("bar");
  EXPECT_NE(foo, bar);
  EXPECT_EQ(numbers.Use("foo"), foo);
  EXPECT_EQ(numbers.NameOf(foo), "foo");
  EXPECT_EQ(numbers.NameOf(bar), "bar");

  numbers.Release(foo);
  EXPECT_EQ(numbers.NameOf(foo), "foo") << "another use goes on";
  EXPECT_EQ(numbers.Use("foo"), foo);
  EXPECT_EQ(numbers.size(), 2u);
}

TEST(NameNumbersTest, AFreeNumberIsGivenAgain) {
  NameNumbers numbers;
  const uint32_t foo = numbers.Use("foo");
  const uint32_t bar = numbers.Use("bar");
  numbers.Release(foo);
  EXPECT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers.Use("baz"), foo);
  EXPECT_EQ(numbers.NameOf(foo), "baz");
  EXPECT_EQ(numbers.NameOf(bar), "bar");
  EXPECT_NE(numbers.Use("foo"), foo);
}

}  // namespace
}  // namespace mandate
