#include "manager/core/secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "manager/core/log.h"

namespace mandate {
namespace {

static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);
static_assert(std::is_nothrow_move_constructible_v<Secret>);
static_assert(std::is_nothrow_move_assignable_v<Secret>);
// There is no implicit conversion to or from a secret.
static_assert(!std::is_convertible_v<std::string, Secret>);
static_assert(!std::is_convertible_v<const Secret&, std::string>);
static_assert(!std::is_convertible_v<const Secret&, std::string_view>);
static_assert(!std::is_constructible_v<LogValue, const Secret&>);

// The first is stored in the string itself, the second on the heap.
const std::string kValues[] = {"short", std::string(200, 't')};

// `data` is storage that still belongs to its owner. It is read through volatile, because the
// compiler assumes that the content is dead.
bool IsZeroed(const void* data, size_t size) {
  const auto* bytes = static_cast<const volatile char*>(data);
  return std::all_of(bytes, bytes + size, [](char c) { return c == 0; });
}

TEST(SecretTest, KeepsItsValue) {
  for (const std::string& value : kValues) {
    const Secret secret(value);
    EXPECT_EQ(secret.Reveal(), value);
    EXPECT_EQ(secret.size(), value.size());
    EXPECT_FALSE(secret.empty());
  }
  EXPECT_TRUE(Secret("").empty());
  EXPECT_EQ(Secret(std::string("a\0b", 3)).size(), 3u);
}

TEST(SecretTest, TheMovedFromIsWiped) {
  for (const std::string& value : kValues) {
    Secret from(value);
    const char* const before = from.Reveal().data();
    const Secret to(std::move(from));
    EXPECT_EQ(to.Reveal(), value);
    EXPECT_TRUE(from.empty());
    EXPECT_TRUE(IsZeroed(before, value.size())) << value;
  }
}

TEST(SecretTest, AssignmentWipesBothSides) {
  for (const std::string& value : kValues) {
    Secret to(std::string(300, 'o'));
    const char* const old = to.Reveal().data();
    Secret from(value);
    const char* const before = from.Reveal().data();
    to = std::move(from);
    EXPECT_EQ(to.Reveal(), value);
    EXPECT_TRUE(from.empty());
    EXPECT_TRUE(IsZeroed(before, value.size())) << value;
    // The new value reuses the old one's storage.
    ASSERT_EQ(to.Reveal().data(), old);
    EXPECT_TRUE(IsZeroed(old + value.size(), 300 - value.size()));
  }
}

TEST(SecretTest, AssignmentToItselfKeepsIt) {
  Secret secret("token");
  Secret& alias = secret;
  secret = std::move(alias);
  EXPECT_EQ(secret.Reveal(), "token");
}

TEST(SecretTest, DestructionWipes) {
  alignas(Secret) unsigned char storage[sizeof(Secret)] = {};
  auto* secret = new (storage) Secret("fourteen bytes");
  const auto* const value = reinterpret_cast<const unsigned char*>(secret->Reveal().data());
  ASSERT_TRUE(value >= storage && value < storage + sizeof storage) << "not in the string itself";
  secret->~Secret();
  EXPECT_TRUE(IsZeroed(value, std::string_view("fourteen bytes").size()));
}

TEST(SecretTest, Equality) {
  const struct {
    std::string a;
    std::string b;
    bool equal;
  } rows[] = {
      {"", "", true},
      {"token", "token", true},
      {"token", "tokem", false},  // the last
      {"token", "uoken", false},  // the first
      {"token", "toke", false},
      {"toke", "token", false},
      {"", "t", false},
      {std::string("a\0b", 3), std::string("a\0c", 3), false},
      {"a\x80", "a\x81", false},
      {"ab", "ba", false},  // the differences do not cancel out
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Secret(row.a) == Secret(row.b), row.equal) << row.a << " and " << row.b;
    EXPECT_EQ(Secret(row.a) != Secret(row.b), !row.equal) << row.a << " and " << row.b;
  }
}

}  // namespace
}  // namespace mandate
