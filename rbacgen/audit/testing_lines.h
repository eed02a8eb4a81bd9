// Lines of audit logs, for this room's tests.
#ifndef RBACGEN_AUDIT_TESTING_LINES_H_
#define RBACGEN_AUDIT_TESTING_LINES_H_

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/audit/trace.h"

namespace mandate::rbacgen {

inline constexpr char kBase[] = "system:serviceaccount:mandate-system:mandate-manager";
inline constexpr char kBaseAgent[] = "mandate-manager/1 (linux/amd64)";

// One line of a log, with what a test wants to differ.
struct Line {
  std::string id = "";  // empty: a new one
  std::string stage = "ResponseComplete";
  std::string verb = "list";
  std::string user = "system:serviceaccount:mandate-system:mandate-manager-a";
  std::string agent = "mandate-manager/1 (linux/amd64) a";
  std::string credential = "JTI=a1";
  std::string group = "apps";
  std::string resource = "deployments";
  std::string subresource = "";
  std::string ns = "mandate-system";
  std::string name = "";
  std::string groups = "system:authenticated";
  std::string impersonated = "";
  std::string issued = "";
  std::string message = "";
  int code = 200;
};

// As the log has it.
inline std::string Text(const Line& l) {
  static int next_id = 0;
  const std::string user =
      l.user.empty()
          ? "{}"
          : StrCat(R"({"username":")", l.user, R"(","groups":[")", l.groups, R"("])",
                   l.credential.empty()
                       ? ""
                       : StrCat(R"(,"extra":{"authentication.kubernetes.io/credential-id":[")",
                                l.credential, R"("]})"),
                   "}");
  return StrCat(
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":")",
      l.id.empty() ? StrCat("id-", next_id++) : l.id, R"(","stage":")", l.stage,
      R"(","requestURI":"/uri?q=1","verb":")", l.verb, R"(","user":)", user,
      l.impersonated.empty()
          ? ""
          : StrCat(R"(,"impersonatedUser":{"username":")", l.impersonated, R"("})"),
      R"(,"userAgent":")", l.agent, "\"",
      l.resource.empty() ? ""
                         : StrCat(R"(,"objectRef":{"resource":")", l.resource, R"(","apiGroup":")",
                                  l.group, R"(","subresource":")", l.subresource,
                                  R"(","namespace":")", l.ns, R"(","name":")", l.name, R"("})"),
      R"(,"responseStatus":{"message":")", l.message, R"(","code":)", l.code,
      R"(},"requestReceivedTimestamp":"2026-11-21T00:00:00Z")",
      l.issued.empty()
          ? ""
          : StrCat(R"(,"annotations":{"authentication.kubernetes.io/issued-credential-id":")",
                   l.issued, R"("})"),
      "}");
}

// The TokenRequest of base for a component that issued the credential id.
inline Line Mint(const std::string& component, const std::string& id) {
  Line l;
  l.user = kBase;
  l.agent = kBaseAgent;
  l.credential = "JTI=base";
  l.verb = "create";
  l.group = "";
  l.resource = "serviceaccounts";
  l.subresource = "token";
  l.name = "mandate-manager-" + component;
  l.issued = id;
  l.code = 201;
  return l;
}

// What base does to one object.
inline Line ByBase(const std::string& verb, const std::string& group, const std::string& resource,
                   const std::string& name) {
  Line l = Mint("a", "");
  l.verb = verb;
  l.group = group;
  l.resource = resource;
  l.subresource = "";
  l.name = name;
  return l;
}

inline TraceReport TraceOf(const std::vector<Line>& lines, const TraceOptions& options = {}) {
  Trace trace(options);
  for (const Line& l : lines) EXPECT_TRUE(trace.Add(Text(l)).ok());
  return trace.Finish();
}

// Line() with one member changed.
template <class T>
Line With(T Line::*member, T value, Line line = {}) {
  line.*member = std::move(value);
  return line;
}

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_TESTING_LINES_H_
