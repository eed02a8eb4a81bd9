#include "testing/rbac_fidelity/server.h"

#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/object_codec.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::fidelity {
namespace {

namespace authorization = k8s::io::api::authorization::v1;

constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
constexpr char kJson[] = "application/json";
constexpr char kRbac[] = "/apis/rbac.authorization.k8s.io/v1";
constexpr int kMarkerPolls = 5000;

absl::Status WrongAnswer(const Request& request, const Response& response) {
  return absl::InternalError(StrCat(request.method, " ", request.target, ": the server answered ",
                                    response.code, ": ", response.body.substr(0, 500)));
}

Request Send(std::string method, std::string target, std::string type, std::string body) {
  Request request =
      NewRequest(std::move(method), std::move(target), type == kProtobuf ? kProtobuf : kJson);
  request.headers.emplace_back("Content-Type", std::move(type));
  request.body = std::move(body);
  request.has_body = true;
  return request;
}

template <class Object>
Request Post(std::string target, const Object& object) {
  return Send("POST", std::move(target), kProtobuf, *EncodeObject(object, Encoding::kProtobuf));
}

template <class Object>
void AddPosts(const std::vector<Object>& objects, std::vector<Request>& posts) {
  for (const Object& object : objects) {
    const auto proto = rbac::ToProto(object);
    std::string target = kRbac;
    if constexpr (requires { object.ns; }) StrAppend(&target, "/namespaces/", object.ns);
    posts.push_back(
        Post(StrCat(target, "/", KindOf<std::decay_t<decltype(proto)>>::value.plural), proto));
  }
}

std::vector<Request> Posts(const rbac::Policy& policy) {
  std::vector<Request> posts;
  AddPosts(policy.cluster_roles, posts);
  AddPosts(policy.roles, posts);
  AddPosts(policy.cluster_role_bindings, posts);
  AddPosts(policy.role_bindings, posts);
  return posts;
}

absl::Status Create(HttpClient& http, const std::vector<Request>& posts) {
  ASSIGN_OR_RETURN(const std::vector<Response> responses, http.SendAll(posts));
  for (size_t i = 0; i < posts.size(); ++i) {
    if (responses[i].code != 201 && responses[i].code != 409) {
      return WrongAnswer(posts[i], responses[i]);
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
  const Request request = NewRequest("GET", StrCat(kRbac, "/", plural), kProtobuf);
  ASSIGN_OR_RETURN(const Response response, http.Send(request));
  if (response.code != 200) return WrongAnswer(request, response);
  ASSIGN_OR_RETURN(const List list, DecodeObject<List>(response.body, Encoding::kProtobuf));
  for (const auto& item : list.items()) objects.push_back(rbac::FromProto(item));
  return absl::OkStatus();
}

// Labels the parts, and creates the role that selects this label.
absl::Status Aggregate(HttpClient& http, const World& world) {
  const std::string label = StrCat("\"", world.aggregate, "\":\"part\"");
  const std::string roles = StrCat(kRbac, "/clusterroles");
  for (const std::string& part : world.aggregate_parts) {
    const Request request = Send("PATCH", StrCat(roles, "/", part), "application/merge-patch+json",
                                 StrCat(R"({"metadata":{"labels":{)", label, "}}}"));
    ASSIGN_OR_RETURN(const Response response, http.Send(request));
    if (response.code != 200) return WrongAnswer(request, response);
  }
  const std::string role =
      StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":)",
             R"({"name":")", world.aggregate, R"("},"rules":[],"aggregationRule":)",
             R"({"clusterRoleSelectors":[{"matchLabels":{)", label, "}}]}}");
  RETURN_IF_ERROR(Create(http, {Send("POST", roles, kJson, role)}));
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
  std::vector<Request> namespaces;
  for (const std::string& ns : world.words.namespaces) {
    namespaces.push_back(
        Send("POST", "/api/v1/namespaces", kJson,
             StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", ns, "\"}}")));
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
  std::vector<Request> posts;
  for (const Question& question : questions) {
    posts.push_back(Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", ReviewOf(question)));
  }
  ASSIGN_OR_RETURN(const std::vector<Response> responses, http.SendAll(posts));
  std::vector<Answer> answers;
  for (size_t i = 0; i < responses.size(); ++i) {
    if (responses[i].code != 201) return WrongAnswer(posts[i], responses[i]);
    ASSIGN_OR_RETURN(const auto review, DecodeObject<authorization::SubjectAccessReview>(
                                            responses[i].body, Encoding::kProtobuf));
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
  std::vector<Request> posts;
  for (const GrantAttempt& a : attempts) {
    rbac::Policy one;
    const std::vector<rbac::Subject> nobody;
    if (a.is_binding() && a.ns.empty()) one.cluster_role_bindings = {{name, a.role_ref, nobody}};
    if (a.is_binding() && !a.ns.empty()) one.role_bindings = {{a.ns, name, a.role_ref, nobody}};
    if (!a.is_binding() && a.ns.empty()) one.cluster_roles = {{name, a.rules}};
    if (!a.is_binding() && !a.ns.empty()) one.roles = {{a.ns, name, a.rules}};
    Request& post = posts.emplace_back(Posts(one).front());
    post.target += "?dryRun=All";
    Impersonate(a.user, post);
  }
  ASSIGN_OR_RETURN(const std::vector<Response> responses, http.SendAll(posts, 8));
  std::vector<int> statuses;
  for (const Response& response : responses) statuses.push_back(response.code);
  return statuses;
}

}  // namespace mandate::fidelity
