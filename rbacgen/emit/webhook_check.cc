#include "rbacgen/emit/webhook_check.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

Strings StringsOf(const Json::Value& list) {
  Strings strings;
  for (const Json::Value& item : list) strings.push_back(item.asString());
  return strings;
}

bool Has(const Strings& strings, std::string_view wanted) {
  return std::ranges::find(strings, wanted) != strings.end();
}

class Checker {
 public:
  explicit Checker(const Json::Value& webhook) : webhook_(webhook) {}

  Strings Taken() { return std::move(mistakes_); }

  Strings Run() {
    Name();
    ReviewVersions(webhook_["admissionReviewVersions"], "admissionReviewVersions");
    OneOf("failurePolicy", {"Fail", "Ignore"});
    OneOf("matchPolicy", {"Exact", "Equivalent"});
    OneOf("reinvocationPolicy", {"Never", "IfNeeded"});
    SideEffects();
    const Json::Value& timeout = webhook_["timeoutSeconds"];
    if (!timeout.isNull() && (timeout.asInt64() < 1 || timeout.asInt64() > 30)) {
      Mistake("timeoutSeconds must be between 1 and 30, got ", timeout.asInt64());
    }
    for (const Json::Value& rule : webhook_["rules"]) Rule(rule);
    ClientConfig(webhook_["clientConfig"]);
    for (const char* selector : {"namespaceSelector", "objectSelector"}) {
      for (const Json::Value& e : webhook_[selector]["matchExpressions"]) Expression(selector, e);
    }
    Conditions();
    return Taken();
  }

  void ReviewVersions(const Json::Value& list, std::string_view what) {
    const Strings versions = StringsOf(list);
    if (!Has(versions, "v1") && !Has(versions, "v1beta1")) {
      Mistake(what, " must include v1 or v1beta1, the versions that API servers send");
    }
    std::set<std::string> seen;
    for (const std::string& version : versions) {
      if (!CheckDnsLabel(version).ok()) {
        Mistake(what, " ", Quoted(version), " is not a valid version, such as v1");
      }
      if (!seen.insert(version).second) {
        Mistake(what, " contains ", Quoted(version), " twice");
      }
    }
  }

  void ClientConfig(const Json::Value& config) {
    const bool has_url = config.isMember("url");
    if (has_url == config.isMember("service")) {
      Mistake("clientConfig must have either url or service");
    } else if (has_url) {
      Url(config["url"].asString());
    } else {
      Service(config["service"]);
    }
  }

 private:
  template <class... Parts>
  void Mistake(const Parts&... parts) {
    mistakes_.push_back(StrCat(parts...));
  }

  void Name() {
    const std::string name = webhook_["name"].asString();
    if (!CheckDnsSubdomain(name).ok() || std::ranges::count(name, '.') < 2) {
      Mistake("name ", Quoted(name),
              " must be a domain name of at least three parts, such as pods.webhook.example.com");
    }
  }

  void OneOf(const char* field, const Strings& words) {
    const Json::Value& value = webhook_[field];
    if (value.isNull() || Has(words, value.asString())) return;
    Mistake(field, " ", Quoted(value.asString()), " must be one of ", absl::StrJoin(words, ", "));
  }

  void SideEffects() {
    const std::string effects = webhook_["sideEffects"].asString();
    if (effects == "None" || effects == "NoneOnDryRun") return;
    Mistake("sideEffects ", effects.empty() ? "is missing" : Quoted(effects),
            ": it must be None, or NoneOnDryRun if the webhook detects dry runs; the API server "
            "rejects other values");
  }

  // Checks a list in which "*" means all.
  void Stars(const Json::Value& rule, const char* field, const char* argument) {
    const Strings items = StringsOf(rule[field]);
    if (items.empty()) Mistake(argument, " is empty: the webhook would never be called");
    if (items.size() > 1 && Has(items, "*")) {
      Mistake(argument, " has \"*\" and other items: \"*\" covers all of them; remove the others");
    }
  }

  void Rule(const Json::Value& rule) {
    Stars(rule, "operations", "verbs");
    Stars(rule, "apiGroups", "groups");
    Stars(rule, "apiVersions", "versions");
    for (const std::string& operation : StringsOf(rule["operations"])) {
      if (!Has({"CREATE", "UPDATE", "DELETE", "CONNECT", "*"}, operation)) {
        Mistake("verb ", Quoted(operation), " must be one of create, update, delete, connect, *");
      }
    }
    if (const std::string scope = rule["scope"].asString();
        !scope.empty() && !Has({"Cluster", "Namespaced", "*"}, scope)) {
      Mistake("scope ", Quoted(scope), " must be one of Cluster, Namespaced, *");
    }
    for (const std::string& version : StringsOf(rule["apiVersions"])) {
      if (version.empty()) Mistake("versions has an empty item");
    }
    Resources(StringsOf(rule["resources"]));
  }

  void Resources(const Strings& resources) {
    if (resources.empty()) Mistake("resources is empty: the webhook would never be called");
    for (const std::string& resource : resources) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(resource, absl::MaxSplits('/', 1));
      const auto& [name, subresource] = parts;
      const bool is_sub = resource.find('/') != std::string::npos;
      if (name.empty() || (is_sub && subresource.empty())) {
        Mistake("resources has ", Quoted(resource), ", which has an empty part");
      }
      if (resource == "*/*" && resources.size() > 1) {
        Mistake(
            "resources has \"*/*\" and other items: \"*/*\" covers all of them; remove the others");
      }
      if (!is_sub && name != "*" && Has(resources, "*")) {
        Mistake("resources has \"*\" and ", Quoted(resource), ", which the first covers");
      }
      if (is_sub && subresource != "*" && Has(resources, name + "/*")) {
        Mistake("resources has \"", name, "/*\" and ", Quoted(resource),
                ", which the first covers");
      }
      if (is_sub && name != "*" && Has(resources, "*/" + subresource)) {
        Mistake("resources has \"*/", subresource, "\" and ", Quoted(resource),
                ", which the first covers");
      }
    }
  }

  void Url(const std::string& url) {
    constexpr std::string_view kHttps = "https://";
    const std::string_view rest = std::string_view(url).substr(std::min(kHttps.size(), url.size()));
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!url.starts_with(kHttps) || host.empty() || host.starts_with(':')) {
      Mistake("url ", Quoted(url), " must be https://host[:port]/path");
    } else if (url.find_first_of("?#") != std::string::npos || host.find('@') != host.npos) {
      Mistake("url ", Quoted(url), " must not have a user, ? or #");
    }
  }

  void Service(const Json::Value& service) {
    const std::string path = service["path"].asString();
    const Strings steps = absl::StrSplit(path, '/');
    if (!path.starts_with('/')) {
      Mistake("path ", Quoted(path), " must begin with /");
    } else if (path != "/") {
      for (size_t i = 1; i < steps.size(); ++i) {
        const bool is_trailing = i + 1 == steps.size() && i > 1 && steps[i].empty();
        if (is_trailing || CheckDnsSubdomain(steps[i]).ok()) continue;
        Mistake("path ", Quoted(path), ": ", Quoted(steps[i]),
                " must consist of lower-case letters, digits, \"-\" and \".\"");
      }
    }
    const Json::Value& port = service["port"];
    if (!port.isNull() && (port.asInt64() < 1 || port.asInt64() > 65535)) {
      Mistake("port must be between 1 and 65535, got ", port.asInt64());
    }
    for (const char* field : {"name", "namespace"}) {
      if (service[field].asString().empty()) Mistake("the service has no ", field);
    }
  }

  void Expression(const char* selector, const Json::Value& expression) {
    const std::string op = expression["operator"].asString();
    const bool has_values = !expression["values"].empty();
    if (expression["key"].asString().empty()) Mistake(selector, ": an expression has no key");
    if (op == "In" || op == "NotIn") {
      if (!has_values) Mistake(selector, ": ", op, " needs values");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (has_values) Mistake(selector, ": ", op, " takes no values");
    } else {
      Mistake(selector, ": operator ", Quoted(op),
              " must be one of In, NotIn, Exists, DoesNotExist");
    }
  }

  void Conditions() {
    // Names cannot repeat, because a patch merges conditions by name (MergeByName()).
    const Json::Value& conditions = webhook_["matchConditions"];
    for (const Json::Value& condition : conditions) {
      const std::string name = condition["name"].asString();
      if (name.empty()) Mistake("a match condition has no name");
      if (condition["expression"].asString().empty()) {
        Mistake("match condition ", Quoted(name), " has no expression");
      }
    }
    if (conditions.size() > 64) Mistake("more than 64 match conditions");
  }

  const Json::Value& webhook_;
  Strings mistakes_;
};

}  // namespace

Strings CheckWebhook(const Json::Value& webhook) { return Checker(webhook).Run(); }

Strings CheckClientConfig(const Json::Value& config) {
  Checker checker(config);
  checker.ClientConfig(config);
  return checker.Taken();
}

Strings CheckReviewVersions(const Json::Value& versions, std::string_view what) {
  Checker checker(versions);
  checker.ReviewVersions(versions, what);
  return checker.Taken();
}

std::string CheckConfigurationName(const std::string& name) {
  const absl::Status valid = CheckDnsSubdomain(name);
  return valid.ok() ? "" : StrCat("name: ", AsStd(valid.message()));
}

}  // namespace mandate::rbacgen
