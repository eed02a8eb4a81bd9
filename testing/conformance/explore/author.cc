#include "testing/conformance/explore/author.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/explore/bodies.h"
#include "testing/conformance/explore/dice.h"
#include "testing/conformance/explore/patches.h"
#include "testing/conformance/explore/reviews.h"

namespace mandate::conformance::explore {
namespace {

class Author {
 public:
  explicit Author(uint64_t seed) : dice_(seed), focus_(PickResource(dice_)) {}

  std::vector<Step> Write() {
    steps_.push_back(
        {.method = "POST",
         .target = "/api/v1/namespaces",
         .body =
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"@{ns}","labels":{"seq":"@{ns}"}}})",
         .has_body = true,
         .content = "application/json"});
    for (size_t n = 6 + dice_.Below(10); n > 0; --n) Next();
    return std::move(steps_);
  }

 private:
  void Next() {
    const Resource& r = dice_.Chance(85) ? focus_ : PickResource(dice_);
    const size_t which = dice_.Below(100);
    if (which < 24) {
      Create(r);
    } else if (which < 34) {
      Get(r);
    } else if (which < 46) {
      List(r);
    } else if (which < 58) {
      Update(r);
    } else if (which < 72) {
      Patch(r);
    } else if (which < 81) {
      Delete(r);
    } else if (which < 84) {
      DeleteCollection(r);
    } else if (which < 91) {
      Watch(r);
    } else if (which < 95) {
      Review();
    } else if (which < 97) {
      Token();
    } else {
      Odd(r);
    }
  }

  std::string Collection(const Resource& r) {
    return r.namespaced ? StrCat(r.api, "/namespaces/@{ns}/", r.plural)
                        : StrCat(r.api, "/", r.plural);
  }
  std::string One(const Resource& r) { return StrCat(Collection(r), "/", PickName(r, dice_)); }

  // Adds the query parameter with a chance of `percent`.
  void Add(std::string& target, size_t percent, const std::string& parameter) {
    if (dice_.Chance(percent))
      StrAppend(&target, target.find('?') == std::string::npos ? "?" : "&", parameter);
  }
  void AddWriteOptions(std::string& target) {
    Add(target, 8, "dryRun=" + dice_.Pick({"All", "All", "None", "", "all"}));
    Add(target, 12, "fieldValidation=" + dice_.Pick({"Strict", "Warn", "Ignore", "Bad", ""}));
    Add(target, 12, "fieldManager=" + dice_.Pick({"m", "n", "", "bad%00", "m%C3%A9"}));
    Add(target, 2, "pretty=true");
    Add(target, 2, dice_.Pick({"unknown=1", "timeout=10s", "force=true", "dryRun=All&dryRun=All"}));
  }

  Step& Do(std::string method, std::string target) {
    Step step{.method = std::move(method), .target = std::move(target)};
    if (dice_.Chance(10)) step.as = dice_.Pick({"reader", "editor", "stranger", "nobody"});
    if (dice_.Chance(6)) {
      step.accept = dice_.Pick(
          {"application/vnd.kubernetes.protobuf", "text/plain", "*/*", "",
           "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;q=0.5,*/*;q=0.1",
           "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
           "application/vnd.kubernetes.protobuf,application/json", "application/json;charset=utf-8",
           "text/html,application/json;q=0.9", "application/json;pretty=1", "x"});
    }
    return steps_.emplace_back(std::move(step));
  }
  void Give(Step& step, const Json::Value& body, const std::string& content = "application/json") {
    step.body = WriteJson(body);
    step.has_body = true;
    step.content = content;
    if (dice_.Chance(3)) {
      step.body =
          dice_.Pick({"", "{", "[]", "null", "\"x\"", "1", "{}", "{} {}", "// c\n{}", "\xff",
                      "{\"kind\":\"ConfigMap\"}", "{\"apiVersion\":\"v1\",\"kind\":\"Status\"}",
                      "{\"METADATA\":{\"name\":\"a\"}}",
                      "{\"metadata\":{\"name\":\"@{ns}-a\",\"Labels\":{\"l\":\"1\"}}}",
                      "{\"metadata\":{\"name\":\"@{ns}\\u0000\"}}",
                      "{\"metadata\":{\"name\":\"@{ns}\\ud800\"}}"});
    }
    if (dice_.Chance(2)) {
      step.content =
          dice_.Pick({"text/plain", "", "application/json; charset=utf-8",
                      "application/vnd.kubernetes.protobuf", "application/x-www-form-urlencoded",
                      "application/JSON", "application/merge-patch+json", "bad"});
    }
  }

  void Create(const Resource& r) {
    Json::Value object = MakeObject(r, PickName(r, dice_), dice_);
    if (dice_.Chance(6)) {
      object["metadata"].removeMember("name");
      const std::string prefix = MakeGenerateName(dice_);
      object["metadata"]["generateName"] = r.namespaced ? prefix : StrCat("@{ns}-", prefix);
    }
    if (dice_.Chance(20)) Disturb(r, object, dice_);
    std::string target = Collection(r);
    AddWriteOptions(target);
    Give(Do("POST", target), object);
  }

  void Get(const Resource& r) {
    std::string target = One(r);
    Add(target, 12, "resourceVersion=" + dice_.Pick({"0", "@{rv:a}", "1", "x", "-1", ""}));
    Add(target, 3,
        dice_.Pick({"pretty=true", "pretty=1", "export=true", "resourceVersionMatch=Exact",
                    "limit=1", "labelSelector=l"}));
    Do("GET", target);
  }

  void AddSelectors(const Resource& r, std::string& target) {
    if (!r.namespaced) {
      Add(target, 100,
          "labelSelector=seq=@{ns}" +
              (dice_.Chance(30) ? "," + MakeLabelSelector(dice_) : std::string()));
    } else {
      Add(target, 25, "labelSelector=" + MakeLabelSelector(dice_));
    }
    Add(target, 12,
        "fieldSelector=" +
            dice_.Pick({"metadata.name=a", "metadata.name!=a", "metadata.namespace=@{ns}",
                        "metadata.name=a,metadata.name=b", "data.k=v", "metadata.name", "=",
                        "metadata.name==b", "type=Opaque", "metadata.name%20in%20(a)",
                        "metadata.labels.l=1", "spec.size=1",
                        "metadata.name=", "status.phase=Active", ","}));
  }

  void List(const Resource& r) {
    std::string target = Collection(r);
    const bool wide = r.namespaced && dice_.Chance(4);
    if (wide) target = StrCat(r.api, "/", r.plural, "?fieldSelector=metadata.namespace=@{ns}");
    AddSelectors(r, target);
    // Whether a page is the last one depends on all objects, including those of other sequences.
    Add(target, wide || !r.namespaced ? 0 : 25,
        "limit=" + dice_.Pick({"1", "2", "0", "1", "500", "-1", "x", ""}));
    if (dice_.Chance(12)) {
      Add(target, 100, "continue=" + dice_.Pick({"@{continue}", "@{continue}", "bad", "e30", ""}));
    }
    Add(target, 25,
        "resourceVersion=" +
            dice_.Pick({"0", "@{listrv}", "@{rv:a}", "@{rv0:a}", "1", "x", "", "00", "-1"}));
    Add(target, 18,
        "resourceVersionMatch=" +
            dice_.Pick({"Exact", "NotOlderThan", "Exact", "NotOlderThan", "Bad", ""}));
    Add(target, 2,
        dice_.Pick({"sendInitialEvents=true", "allowWatchBookmarks=true", "timeoutSeconds=1",
                    "watch=false", "pretty=true", "watch=0", "timeoutSeconds=x"}));
    Do("GET", target);
  }

  void Watch(const Resource& r) {
    std::string target =
        StrCat(Collection(r), "?watch=" + dice_.Pick({"true", "true", "1", "true"}));
    AddSelectors(r, target);
    Add(target, 50,
        "resourceVersion=" + dice_.Pick({"0", "@{listrv}", "@{rv:a}", "@{rv0:a}", "1", "x", ""}));
    if (dice_.Chance(35)) {
      Add(target, 80, "sendInitialEvents=" + dice_.Pick({"true", "true", "false", "1", "x", ""}));
      Add(target, 80,
          "resourceVersionMatch=" + dice_.Pick({"NotOlderThan", "NotOlderThan", "Exact", "Bad"}));
    }
    Add(target, 50, "allowWatchBookmarks=" + dice_.Pick({"true", "true", "false", "x"}));
    Add(target, 5, "limit=1");
    Add(target, 4, "continue=x");
    Add(target, 8, "timeoutSeconds=" + dice_.Pick({"300", "1", "0", "x"}));
    Step& step = Do("GET", target);
    step.watch = true;
    if (dice_.Chance(10)) step.accept = "application/vnd.kubernetes.protobuf";
  }

  void Update(const Resource& r) {
    const std::string name = PickName(r, dice_);
    Json::Value object = MakeObject(r, name, dice_);
    const std::string bare = name.substr(name.size() - 1);
    if (dice_.Chance(50))
      object["metadata"]["resourceVersion"] =
          StrCat("@{", dice_.Pick({"rv", "rv", "rv", "rv0"}), ":", bare, "}");
    if (dice_.Chance(10))
      object["metadata"]["uid"] = StrCat("@{uid:", dice_.Chance(80) ? bare : "b", "}");
    if (dice_.Chance(20)) Disturb(r, object, dice_);
    std::string target = StrCat(Collection(r), "/", name);
    if (dice_.Chance(r.status ? 25 : 3)) StrAppend(&target, "/status");
    AddWriteOptions(target);
    Give(Do("PUT", target), object);
  }

  void Patch(const Resource& r) {
    const std::string name = PickName(r, dice_);
    std::string target = StrCat(Collection(r), "/", name);
    if (dice_.Chance(r.status ? 20 : 3)) StrAppend(&target, "/status");
    AddWriteOptions(target);
    const size_t which = dice_.Below(100);
    if (which < 35) {
      const Json::Value patch = MakeMergePatch(r, dice_);
      Give(Do("PATCH", target), patch, "application/merge-patch+json");
    } else if (which < 65) {
      const Json::Value patch = MakeJsonPatch(dice_);
      Give(Do("PATCH", target), patch, "application/json-patch+json");
    } else if (which < 96) {
      Json::Value object = MakeObject(r, name, dice_);
      if (dice_.Chance(12)) Disturb(r, object, dice_);
      if (target.find("fieldManager") == std::string::npos)
        Add(target, 95, "fieldManager=" + dice_.Pick({"m", "m", "n"}));
      Add(target, 30, "force=" + dice_.Pick({"true", "true", "false", "x"}));
      Give(Do("PATCH", target), object, "application/apply-patch+yaml");
    } else {
      const Json::Value patch = MakeMergePatch(r, dice_);
      const std::string content = dice_.Pick(
          {"application/strategic-merge-patch+json", "application/json", "", "text/plain"});
      Give(Do("PATCH", target), patch, content);
    }
  }

  Json::Value DeleteOptions() {
    Json::Value options(Json::objectValue);
    if (dice_.Chance(60)) options["kind"] = "DeleteOptions";
    if (dice_.Chance(60)) options["apiVersion"] = dice_.Chance(80) ? "v1" : "meta.k8s.io/v1";
    if (dice_.Chance(35))
      options["preconditions"]["uid"] = dice_.Pick({"@{uid:a}", "@{uid:a}", "@{uid:b}", "x", ""});
    if (dice_.Chance(25))
      options["preconditions"]["resourceVersion"] = dice_.Pick({"@{rv:a}", "@{rv0:a}", "x", ""});
    if (dice_.Chance(35))
      options["propagationPolicy"] = dice_.Pick({"Background", "Background", "Bad", ""});
    if (dice_.Chance(15))
      options["gracePeriodSeconds"] = static_cast<int>(dice_.Below(3)) - (dice_.Chance(20) ? 2 : 0);
    if (dice_.Chance(6)) options["orphanDependents"] = false;
    if (dice_.Chance(6)) options["dryRun"].append(dice_.Pick({"All", "Bad"}));
    if (dice_.Chance(4)) options["unknown"] = 1;
    return options;
  }
  void AddDeleteOptions(std::string& target) {
    Add(target, 8, "propagationPolicy=" + dice_.Pick({"Background", "Bad", ""}));
    Add(target, 5, "gracePeriodSeconds=" + dice_.Pick({"0", "1", "-1", "x"}));
    Add(target, 5, "dryRun=" + dice_.Pick({"All", "Bad"}));
    Add(target, 3, "orphanDependents=" + dice_.Pick({"false", "0"}));
  }

  void Delete(const Resource& r) {
    // kube-controller-manager deletes the content of a namespace, and it is not part of the
    // comparison.
    if (std::string(r.plural) == "namespaces") return Get(r);
    std::string target = One(r);
    AddDeleteOptions(target);
    Step& step = Do("DELETE", target);
    if (dice_.Chance(50)) {
      const Json::Value options = DeleteOptions();
      Give(step, options);
    }
  }

  void DeleteCollection(const Resource& r) {
    if (std::string(r.plural) == "namespaces") return Delete(r);
    std::string target = Collection(r);
    if (!r.namespaced) {
      Add(target, 100, "labelSelector=seq=@{ns}");
    } else {
      AddSelectors(r, target);
    }
    AddDeleteOptions(target);
    Add(target, 10, "limit=" + dice_.Pick({"1", "x"}));
    Step& step = Do("DELETE", target);
    if (dice_.Chance(20)) {
      const Json::Value options = DeleteOptions();
      Give(step, options);
    }
  }

  void Review() {
    const ReviewRequest review = MakeReview(dice_);
    std::string target = review.target;
    Add(target, 4, "dryRun=All");
    Add(target, 4, "fieldValidation=Strict");
    Step& step = Do(dice_.Chance(96) ? "POST" : "GET", target);
    if (dice_.Chance(40)) step.as = dice_.Pick({"reader", "editor", "stranger", "nobody"});
    Give(step, review.body);
  }

  void Token() {
    const Json::Value body = MakeTokenRequest(dice_);
    std::string target = StrCat("/api/v1/namespaces/@{ns}/serviceaccounts/",
                                dice_.Pick({"a", "a", "b", "absent"}), "/token");
    Add(target, 5, "dryRun=All");
    Add(target, 5, "fieldValidation=Strict");
    if (dice_.Chance(60)) {
      Step& made = Do("POST", "/api/v1/namespaces/@{ns}/serviceaccounts");
      Json::Value account;
      account["apiVersion"] = "v1";
      account["kind"] = "ServiceAccount";
      account["metadata"]["name"] = "a";
      Give(made, account);
    }
    const std::string method = dice_.Chance(95) ? "POST" : "GET";
    Give(Do(method, target), body);
  }
  void Odd(const Resource& r) {
    const std::string method =
        dice_.Pick({"GET", "GET", "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "GET"});
    const std::string target =
        dice_.Pick({"/healthz",
                    "/livez",
                    "/readyz",
                    "/version",
                    "/api/v2",
                    "/apis/none.example.com",
                    "/apis/rbac.authorization.k8s.io",
                    "/apis/rbac.authorization.k8s.io/v1",
                    "/apis/rbac.authorization.k8s.io/v9",
                    "/apis/coordination.k8s.io/v1",
                    "/api/v1/namespaces/@{ns}/none",
                    "/api/v1/namespaces/@{ns}/none/a",
                    "/api/v1/namespaces/@{ns}/configmaps/a/none",
                    "/api/v1/namespaces/@{ns}/configmaps/a/none/more",
                    "/api/v1/configmaps/a",
                    "/nothing",
                    "/apis/explore.example.com",
                    "/apis/explore.example.com/v1",
                    "/apis/explore.example.com/v2/widgets",
                    "/api/v1/namespaces/absent/configmaps",
                    "/apis/explore.example.com/v1/namespaces/absent/widgets",
                    "/api/v1/namespaces/@{ns}/serviceaccounts/a/token",
                    "/api/v1/namespaces/@{ns}/configmaps/a%20b",
                    "/api/v1/namespaces/@{ns}/configmaps/a%2Fb",
                    "/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/clusterroles",
                    "/api/v1/namespaces/@{ns}/namespaces",
                    "/api/v1/namespaces/@{ns}/configmaps/",
                    "/apis/authorization.k8s.io/v1",
                    "/apis/authentication.k8s.io/v1"});
    Step& step = Do(method, target);
    if (dice_.Chance(20)) step.as = dice_.Pick({"reader", "editor", "stranger", "nobody"});
    if (method == "POST" || method == "PUT" || method == "PATCH") {
      const Json::Value object = MakeObject(r, "a", dice_);
      Give(step, object, method == "PATCH" ? "application/merge-patch+json" : "application/json");
    }
  }

  Dice dice_;
  const Resource& focus_;
  std::vector<Step> steps_;
};

}  // namespace

const std::vector<Identity>& Identities() {
  static const auto* const kAll = new std::vector<Identity>{
      {"reader",
       R"([{"apiGroups":["","explore.example.com"],"resources":["configmaps","widgets"],"verbs":["get","list","watch"]}])"},
      {"editor",
       R"([{"apiGroups":["","explore.example.com"],"resources":["configmaps","widgets"],"verbs":["*"]},
                     {"apiGroups":[""],"resources":["secrets"],"verbs":["get","update","delete"],"resourceNames":["a"]},
                     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create","patch"]},
                     {"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"],"verbs":["get","create","update","patch","delete"]},
                     {"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"verbs":["bind"],"resourceNames":["view"]}])"},
      {"stranger", ""},
  };
  return *kAll;
}

std::vector<Step> WriteSequence(uint64_t seed) { return Author(seed).Write(); }

}  // namespace mandate::conformance::explore
