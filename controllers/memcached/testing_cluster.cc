#include "controllers/memcached/testing_cluster.h"

#include <gtest/gtest.h>

#include "controllers/memcached/reconciler.h"
#include "manager/core/strings.h"

namespace mandate::memcached {
namespace {

constexpr char kGroup[] = "cache.example.com";
constexpr char kRoles[] = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

}  // namespace

MemcachedCluster::MemcachedCluster(size_t max_watch_bytes)
    : OperatorCluster({kMemcached,
                       MakeController,
                       kGroup,
                       "controllers/memcached/v1alpha1/crd.yaml",
                       {"allowed-one", "allowed-two", "denied"},
                       max_watch_bytes}) {
  EXPECT_EQ(Send("POST", kRoles, NeedsRole(kNeedsRole)), 201);
  for (const char* ns : {"allowed-one", "allowed-two"}) Grant(ns);
}

void MemcachedCluster::TakeVerb(std::string_view verb) {
  EXPECT_EQ(Send("PATCH", StrCat(kRoles, "/", kNeedsRole), NeedsRole(kNeedsRole, verb)), 200);
}

namespace {

std::string MemcachedsIn(const std::string& ns) {
  return StrCat("/apis/cache.example.com/v1alpha1/namespaces/", ns, "/memcacheds");
}

}  // namespace

void MemcachedCluster::Create(const std::string& ns, int size) {
  EXPECT_EQ(
      Send("POST", MemcachedsIn(ns),
           StrCat(R"({"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached",)",
                  R"("metadata":{"name":")", NameIn(ns), R"("},"spec":{"size":)", size, "}}")),
      201);
}

void MemcachedCluster::Resize(const std::string& ns, int size) {
  EXPECT_EQ(Send("PATCH", StrCat(MemcachedsIn(ns), "/", NameIn(ns)),
                 StrCat(R"({"spec":{"size":)", size, "}}")),
            200);
}

void MemcachedCluster::Delete(const std::string& ns) {
  EXPECT_EQ(Send("DELETE", StrCat(MemcachedsIn(ns), "/", NameIn(ns)), ""), 200);
}

void MemcachedCluster::CreatePod(const std::string& ns, const std::string& name,
                                 const std::string& annotation) {
  EXPECT_EQ(Send("POST", StrCat("/api/v1/namespaces/", ns, "/pods"),
                 StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                        R"(","labels":{"memcachedLabel":"memcached-)", NameIn(ns),
                        R"("},"annotations":{"example.com/a":")", annotation,
                        R"("}},"spec":{"containers":[{"name":"a","image":"b"}]}})")),
            201);
}

Json::Value MemcachedCluster::Memcached(const std::string& ns) const {
  return Get(kGroup, "memcacheds", ns, NameIn(ns));
}

Json::Value MemcachedCluster::Deployment(const std::string& ns) const {
  return Get("apps", "deployments", ns, NameIn(ns));
}

std::string MemcachedCluster::State(const std::string& ns) const {
  const Json::Value state = Memcached(ns)["status"]["state"];
  if (state.isNull()) return "";
  return StrCat(state["status"].asString(), ": ", state["message"].asString());
}

std::vector<std::string> MemcachedCluster::Nodes(const std::string& ns) const {
  const Json::Value memcached = Memcached(ns);
  std::vector<std::string> nodes;
  for (const Json::Value& node : memcached["status"]["nodes"]) nodes.push_back(node.asString());
  return nodes;
}

}  // namespace mandate::memcached
