#include "testing/rbac_fidelity/server.h"

#include <utility>

#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "k8s.io/apimachinery/pkg/runtime/generated.pb.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::fidelity {
namespace {

namespace authorization = k8s::io::api::authorization::v1;
using k8s::io::apimachinery::pkg::runtime::Unknown;

constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kMagic("k8s\0", 4);
constexpr char kRbac[] = "/apis/rbac.authorization.k8s.io/v1";
constexpr int kMarkerPolls = 5000;

std::string Wrap(const std::string& api_version, const std::string& kind,
                 const google::protobuf::Message& message) {
  Unknown envelope;
  envelope.mutable_typemeta()->set_apiversion(api_version);
  envelope.mutable_typemeta()->set_kind(kind);
  envelope.set_raw(message.SerializeAsString());
  return StrCat(kMagic, envelope.SerializeAsString());
}

absl::Status Unwrap(const HttpResponse& response, google::protobuf::Message& message) {
  Unknown envelope;
  if (response.status / 100 != 2 || !response.body.starts_with(kMagic) ||
      !envelope.ParseFromString(response.body.substr(kMagic.size())) ||
      !message.ParseFromString(envelope.raw())) {
    return absl::InternalError(
        StrCat("the server answered ", response.status, ": ", response.body.substr(0, 500)));
  }
  return absl::OkStatus();
}

HttpRequest Post(std::string target, std::string body) {
  return {.method = "POST",
          .target = std::move(target),
          .body = std::move(body),
          .content_type = kProtobuf,
          .accept = kProtobuf,
          .impersonate = ""};
}

// Role and ClusterRole, RoleBinding and ClusterRoleBinding differ only in what they are called.
template <class Object>
HttpRequest PostRbac(const std::string& kind, const std::string& plural, const Object& object) {
  std::string target = kRbac;
  if constexpr (requires { object.ns; }) StrAppend(&target, "/namespaces/", object.ns);
  return Post(StrCat(target, "/", plural),
              Wrap("rbac.authorization.k8s.io/v1", kind, rbac::ToProto(object)));
}

std::vector<HttpRequest> Posts(const rbac::Policy& policy) {
  std::vector<HttpRequest> posts;
  for (const auto& o : policy.cluster_roles) {
    posts.push_back(PostRbac("ClusterRole", "clusterroles", o));
  }
  for (const auto& o : policy.roles) posts.push_back(PostRbac("Role", "roles", o));
  for (const auto& o : policy.cluster_role_bindings) {
    posts.push_back(PostRbac("ClusterRoleBinding", "clusterrolebindings", o));
  }
  for (const auto& o : policy.role_bindings) {
    posts.push_back(PostRbac("RoleBinding", "rolebindings", o));
  }
  return posts;
}

absl::Status Create(HttpClient& http, const std::vector<HttpRequest>& posts) {
  ASSIGN_OR_RETURN(const std::vector<HttpResponse> responses, http.Send(posts));
  for (size_t i = 0; i < posts.size(); ++i) {
    if (responses[i].status != 201 && responses[i].status != 409) {
      return absl::InternalError(StrCat("POST ", posts[i].target, ": the server answered ",
                                        responses[i].status, ": ",
                                        responses[i].body.substr(0, 500)));
    }
  }
  return absl::OkStatus();
}

authorization::SubjectAccessReview ReviewOf(const Question& question) {
  authorization::SubjectAccessReview review;
  auto& spec = *review.mutable_spec();
  spec.set_user(question.user.name);
  for (const std::string& group : question.user.groups) spec.add_groups(group);
  const rbac::Attributes& r = question.request;
  if (!r.is_resource_request) {
    spec.mutable_nonresourceattributes()->set_verb(r.verb);
    spec.mutable_nonresourceattributes()->set_path(r.path);
    return review;
  }
  auto& attributes = *spec.mutable_resourceattributes();
  attributes.set_verb(r.verb);
  attributes.set_group(r.api_group);
  attributes.set_version(r.api_version);
  attributes.set_resource(r.resource);
  attributes.set_subresource(r.subresource);
  attributes.set_namespace_(r.ns);
  attributes.set_name(r.name);
  if (!question.field_selector.empty()) {
    attributes.mutable_fieldselector()->set_rawselector(question.field_selector);
  }
  return review;
}

template <class List, class Object>
absl::Status ListInto(HttpClient& http, const std::string& plural, std::vector<Object>& objects) {
  ASSIGN_OR_RETURN(const HttpResponse response, http.Send({.target = StrCat(kRbac, "/", plural),
                                                           .body = "",
                                                           .content_type = "",
                                                           .accept = kProtobuf,
                                                           .impersonate = ""}));
  List list;
  RETURN_IF_ERROR(Unwrap(response, list));
  for (const auto& item : list.items()) objects.push_back(rbac::FromProto(item));
  return absl::OkStatus();
}

// Labels the parts, and makes the role that selects that label.
absl::Status Aggregate(HttpClient& http, const World& world) {
  const std::string label = StrCat("\"", world.aggregate, "\":\"part\"");
  const std::string roles = StrCat(kRbac, "/clusterroles");
  for (const std::string& part : world.aggregate_parts) {
    ASSIGN_OR_RETURN(const HttpResponse labelled,
                     http.Send({.method = "PATCH",
                                .target = StrCat(roles, "/", part),
                                .body = StrCat(R"({"metadata":{"labels":{)", label, "}}}"),
                                .content_type = "application/merge-patch+json",
                                .accept = "application/json",
                                .impersonate = ""}));
    if (labelled.status != 200) return absl::InternalError(labelled.body);
  }
  const std::string role =
      StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":)",
             R"({"name":")", world.aggregate, R"("},"rules":[],"aggregationRule":)",
             R"({"clusterRoleSelectors":[{"matchLabels":{)", label, "}}]}}");
  RETURN_IF_ERROR(Create(http, {{.method = "POST",
                                 .target = roles,
                                 .body = role,
                                 .content_type = "application/json",
                                 .accept = "application/json",
                                 .impersonate = ""}}));
  for (int i = 0; i < kMarkerPolls; ++i) {
    ASSIGN_OR_RETURN(const rbac::Policy policy, ListPolicy(http));
    for (const rbac::ClusterRole& got : policy.cluster_roles) {
      if (got.name == world.aggregate && !got.rules.empty()) return absl::OkStatus();
    }
  }
  return absl::UnavailableError("no controller completed the aggregated role");
}

}  // namespace

absl::Status Load(HttpClient& http, const World& world) {
  std::vector<HttpRequest> namespaces;
  for (const std::string& ns : world.words.namespaces) {
    namespaces.push_back(
        {.method = "POST",
         .target = "/api/v1/namespaces",
         .body =
             StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", ns, "\"}}"),
         .content_type = "application/json",
         .accept = "application/json",
         .impersonate = ""});
  }
  RETURN_IF_ERROR(Create(http, namespaces));
  RETURN_IF_ERROR(Create(http, Posts(world.policy)));
  return Aggregate(http, world);
}

absl::Status AwaitAuthorizer(HttpClient& http, const World& world) {
  const std::string& ns = world.words.namespaces.front();
  const std::string name = ns + "-marker";
  rbac::Rule rule;
  rule.verbs = {"get"};
  rule.api_groups = {"marker"};
  rule.resources = {"markers"};
  const std::vector<rbac::Subject> who{
      {.kind = "User", .api_group = rbac::kRbacGroup, .name = name, .ns = ""}};
  rbac::Policy markers;
  markers.cluster_roles = {{name, {rule}}};
  markers.cluster_role_bindings = {{name, {.kind = "ClusterRole", .name = name}, who}};
  rule.resources = {"local-markers"};
  markers.roles = {{ns, name, {rule}}};
  markers.role_bindings = {{ns, name, {.kind = "Role", .name = name}, who}};
  RETURN_IF_ERROR(Create(http, Posts(markers)));

  std::vector<Question> asked(2);
  for (Question& q : asked) {
    q.user = {name, {}};
    q.request.verb = "get";
    q.request.api_group = "marker";
    q.request.resource = "markers";
  }
  asked[1].request.resource = "local-markers";
  asked[1].request.ns = ns;
  for (int i = 0; i < kMarkerPolls; ++i) {
    ASSIGN_OR_RETURN(const std::vector<Answer> answers, Review(http, asked));
    if (answers[0].allowed && answers[1].allowed) return absl::OkStatus();
  }
  return absl::UnavailableError("the server's authorizer never saw the marker objects");
}

absl::StatusOr<rbac::Policy> ListPolicy(HttpClient& http) {
  rbac::Policy policy;
  RETURN_IF_ERROR(ListInto<rbac::v1::RoleList>(http, "roles", policy.roles));
  RETURN_IF_ERROR(ListInto<rbac::v1::ClusterRoleList>(http, "clusterroles", policy.cluster_roles));
  RETURN_IF_ERROR(ListInto<rbac::v1::RoleBindingList>(http, "rolebindings", policy.role_bindings));
  RETURN_IF_ERROR(ListInto<rbac::v1::ClusterRoleBindingList>(http, "clusterrolebindings",
                                                             policy.cluster_role_bindings));
  return policy;
}

absl::StatusOr<std::vector<Answer>> Review(HttpClient& http,
                                           const std::vector<Question>& questions) {
  std::vector<HttpRequest> posts;
  for (const Question& question : questions) {
    posts.push_back(
        Post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
             Wrap("authorization.k8s.io/v1", "SubjectAccessReview", ReviewOf(question))));
  }
  ASSIGN_OR_RETURN(const std::vector<HttpResponse> responses, http.Send(posts));
  std::vector<Answer> answers;
  for (size_t i = 0; i < responses.size(); ++i) {
    authorization::SubjectAccessReview review;
    if (const absl::Status s = Unwrap(responses[i], review); !s.ok()) {
      return absl::InternalError(StrCat(questions[i].ToString(), ": ", std::string(s.message())));
    }
    if (!review.status().evaluationerror().empty()) {
      return absl::InternalError(
          StrCat(questions[i].ToString(), ": ", review.status().evaluationerror()));
    }
    answers.push_back({review.status().allowed(), review.status().reason()});
  }
  return answers;
}

absl::StatusOr<std::vector<int>> TryGrants(HttpClient& http,
                                           const std::vector<GrantAttempt>& attempts) {
  const std::string name = "fid-attempt";
  std::vector<HttpRequest> posts;
  for (const GrantAttempt& a : attempts) {
    rbac::Policy one;
    const std::vector<rbac::Subject> nobody;
    if (a.is_binding() && a.ns.empty()) one.cluster_role_bindings = {{name, a.role_ref, nobody}};
    if (a.is_binding() && !a.ns.empty()) one.role_bindings = {{a.ns, name, a.role_ref, nobody}};
    if (!a.is_binding() && a.ns.empty()) one.cluster_roles = {{name, a.rules}};
    if (!a.is_binding() && !a.ns.empty()) one.roles = {{a.ns, name, a.rules}};
    HttpRequest& post = posts.emplace_back(Posts(one).front());
    post.target += "?dryRun=All";
    post.impersonate = a.user.name;
    post.groups = a.user.groups;
  }
  ASSIGN_OR_RETURN(const std::vector<HttpResponse> responses, http.Send(posts, 8));
  std::vector<int> statuses;
  for (const HttpResponse& response : responses) statuses.push_back(response.status);
  return statuses;
}

}  // namespace mandate::fidelity
