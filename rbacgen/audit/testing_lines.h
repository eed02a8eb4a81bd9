// Lines of audit logs, for the tests of this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/audit/trace.h"

namespace mandate::rbacgen {

inline constexpr char kBase[] = "system:serviceaccount:mandate-system:mandate-manager";
inline constexpr char kBaseAgent[] = "mandate-manager/1 (linux/amd64)";

// One line of a log; a test sets the members that matter to it.
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
  std::string time = "2026-11-21T00:00:00Z";
  std::string from = "";  // the client's address
  std::string pod = "";   // the pod to which the token is bound; its UID is uid-POD
  std::string body = "";  // the members of bodies: R"("requestObject":{…},)"
};

// The line as it is in the log.
inline std::string Text(const Line& l) {
  static int next_id = 0;
  const std::string user =
      l.user.empty()
          ? "{}"
          : StrCat(
                R"({"username":")", l.user, R"(","groups":[")", l.groups, R"("])",
                l.credential.empty()
                    ? ""
                    : StrCat(R"(,"extra":{"authentication.kubernetes.io/credential-id":[")",
                             l.credential, R"("])",
                             l.pod.empty()
                                 ? ""
                                 : StrCat(R"(,"authentication.kubernetes.io/pod-name":[")", l.pod,
                                          R"("],"authentication.kubernetes.io/pod-uid":["uid-)",
                                          l.pod, R"("])"),
                             "}"),
                "}");
  return StrCat(
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":")",
      l.id.empty() ? StrCat("id-", next_id++) : l.id, R"(","stage":")", l.stage,
      R"(","requestURI":"/uri?q=1","verb":")", l.verb, R"(","user":)", user,
      l.impersonated.empty()
          ? ""
          : StrCat(R"(,"impersonatedUser":{"username":")", l.impersonated, R"("})"),
      l.from.empty() ? "" : StrCat(R"(,"sourceIPs":["203.0.113.9",")", l.from, R"("])"),
      R"(,"userAgent":")", l.agent, "\"",
      l.resource.empty() ? ""
                         : StrCat(R"(,"objectRef":{"resource":")", l.resource, R"(","apiGroup":")",
                                  l.group, R"(","subresource":")", l.subresource,
                                  R"(","namespace":")", l.ns, R"(","name":")", l.name, R"("})"),
      R"(,"responseStatus":{"message":")", l.message, R"(","code":)", l.code, "},", l.body,
      R"("requestReceivedTimestamp":")", l.time, "\"",
      l.issued.empty()
          ? ""
          : StrCat(R"(,"annotations":{"authentication.kubernetes.io/issued-credential-id":")",
                   l.issued, R"("})"),
      "}");
}

// Base's TokenRequest for a component; its response has the credential id.
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

// A request of base for one object.
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

inline std::vector<std::string> Texts(const TraceReport& report) {
  std::vector<std::string> texts;
  for (const TraceFinding& finding : report.findings) texts.push_back(finding.text);
  return texts;
}

inline std::vector<std::string> FindingsOf(const std::vector<Line>& lines,
                                           const TraceOptions& options = {}) {
  return Texts(TraceOf(lines, options));
}

// `line` with one member changed.
template <class T>
Line With(T Line::*member, T value, Line line = {}) {
  line.*member = std::move(value);
  return line;
}

}  // namespace mandate::rbacgen
