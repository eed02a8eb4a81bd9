// Tests the bounds of the book; trace_theft_test.cc tests its findings.
#include "rbacgen/audit/token_book.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

AuditEvent Issue(const std::string& id, const std::string& account = "mm-a") {
  AuditEvent event;
  event.username = "system:serviceaccount:sys:mm";
  event.resource = "serviceaccounts";
  event.subresource = "token";
  event.ns = "sys";
  event.name = account;
  event.issued_credential_id = id;
  return event;
}

std::vector<std::string> KindsFound(const TokenBook& book) {
  std::vector<std::string> kinds;
  book.Check([&](const char* kind, const std::string&) { kinds.emplace_back(kind); });
  return kinds;
}

TEST(TokenBook, ReportsThatItsBoundIsReached) {
  TokenBook book({.ns = "sys", .base_name = "mm", .max_credentials = 2});
  for (const char* id : {"1", "2"}) book.NoteIssued(Issue(id));
  EXPECT_FALSE(book.issued_left_out());
  book.NoteIssued(Issue("2"));
  EXPECT_FALSE(book.issued_left_out()) << "it is known";
  book.NoteIssued(Issue("3"));
  EXPECT_TRUE(book.issued_left_out());
  EXPECT_EQ(book.unused(), 2);

  EXPECT_TRUE(book.NoteUse({}, "1", "a"));
  EXPECT_TRUE(book.NoteUse({}, "4", "a"));
  EXPECT_FALSE(book.NoteUse({}, "5", "a"));
  EXPECT_TRUE(book.NoteUse({}, "4", "a"));
  EXPECT_TRUE(book.used_left_out());
  EXPECT_EQ(book.Tokens().size(), 2u);
  EXPECT_TRUE(KindsFound(book).empty()) << "what issued 4 may have been left out";
}

TEST(TokenBook, KeepsOnlyTokensOfTheManagersAccounts) {
  TokenBook book({.ns = "sys", .base_name = "mm", .max_credentials = 1});
  book.NoteIssued(Issue("1", "default"));
  book.NoteIssued(Issue("2"));
  EXPECT_FALSE(book.issued_left_out());
  EXPECT_EQ(book.IssuedTo(), std::set<std::string>{"sys/mm-a"});
  EXPECT_TRUE(book.NoteUse({}, "9", "a"));
  EXPECT_EQ(KindsFound(book), std::vector<std::string>{"token-origin"});
}

}  // namespace
}  // namespace mandate::rbacgen
