#include "rbacgen/audit/instance_book.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AuditEvent OfInstances(const std::string& verb, std::vector<std::string> uids, int code = 200) {
  AuditEvent event;
  event.verb = verb;
  event.group = "operators.coreos.com";
  event.resource = "scopeinstances";
  event.code = code;
  event.body.is_list = verb == "list";
  event.body.uids = std::move(uids);
  return event;
}

AuditEvent Binding(const std::string& uid, int code = 201) {
  AuditEvent event;
  event.verb = "patch";
  event.resource = "rolebindings";
  event.ns = "foo";
  event.name = "b";
  event.code = code;
  event.body.instance_uid = uid;
  return event;
}

std::vector<std::string> Judged(const InstanceBook& book) {
  std::vector<std::string> found;
  book.Check([&](std::string text) { found.push_back(std::move(text)); });
  return found;
}

TEST(InstanceBook, FindsABindingWithoutAnInstance) {
  InstanceBook book;
  book.NoteInstance(OfInstances("list", {"u1"}));
  book.NoteBinding(Binding("u1"), "c");
  book.NoteBinding(Binding("u2"), "c");
  EXPECT_THAT(Judged(book), ElementsAre(AllOf(HasSubstr("c created rolebindings foo/b"),
                                              HasSubstr("with UID u2"))));
}

TEST(InstanceBook, IgnoresWritesWithoutEffect) {
  AuditEvent tried = OfInstances("create", {"u2"}, 201);
  tried.request_uri = "/apis/operators.coreos.com/v1alpha1/scopeinstances?dryRun=All";
  for (const AuditEvent& event : {tried, OfInstances("patch", {"u2"}, 409)}) {
    InstanceBook book;
    book.NoteInstance(OfInstances("list", {"u1"}));
    book.NoteInstance(event);
    book.NoteBinding(Binding("u2"), "c");
    EXPECT_THAT(Judged(book), SizeIs(1)) << event.verb;
  }
}

TEST(InstanceBook, ReportsNothingFromAnIncompleteLog) {
  struct Row {
    const char* name;
    std::vector<AuditEvent> instances;
    AuditEvent binding;
    size_t max;
  };
  AuditEvent selected = OfInstances("list", {"u1"});
  selected.request_uri = "/apis/operators.coreos.com/v1alpha1/scopeinstances?labelSelector=a";
  const Row rows[] = {
      {"no list of all", {OfInstances("create", {"u1"}, 201)}, Binding("u2"), 10},
      {"a list of some", {selected}, Binding("u2"), 10},
      {"a list that was refused", {OfInstances("list", {}, 403)}, Binding("u2"), 10},
      {"one made without a body",
       {OfInstances("list", {"u1"}), OfInstances("create", {}, 201)},
       Binding("u2"),
       10},
      {"more than are kept", {OfInstances("list", {"u1", "u2", "u3"})}, Binding("u3"), 2},
      {"a binding that was refused", {OfInstances("list", {"u1"})}, Binding("u2", 403), 10},
  };
  for (const Row& row : rows) {
    InstanceBook book(row.max);
    for (const AuditEvent& event : row.instances) book.NoteInstance(event);
    book.NoteBinding(row.binding, "c");
    EXPECT_THAT(Judged(book), IsEmpty()) << row.name;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
