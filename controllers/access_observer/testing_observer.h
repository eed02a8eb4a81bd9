// An AccessObserver on fakes.
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "controllers/access_observer/access_observer.h"
#include "controllers/access_observer/held_roles.h"
#include "gtest/gtest.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/testing/controller_fixture.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/raw_object.h"
#include "manager/rbac/authorizer.h"

namespace mandate::access {

using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::Role;
using rbacv1::RoleBinding;

// The users of two components, and the hints for them.
class FakeHints : public AccessHints {
 public:
  explicit FakeHints(const Clock& clock) : clock_(clock), start_(clock.TimeNow()) {}

  std::vector<std::string> ComponentsOf(const std::vector<rbac::Subject>& subjects,
                                        std::string_view ns) const override {
    std::vector<std::string> components;
    for (const char* name : {"memcached", "bar"}) {
      const rbac::UserInfo user = rbac::ServiceAccountInfo("system", name);
      for (const rbac::Subject& subject : subjects) {
        if (!rbac::SubjectMatches(subject, user, ns)) continue;
        components.push_back(name);
        break;
      }
    }
    return components;
  }
  void RecheckAccess(std::string_view component, std::string_view ns) override {
    const int64_t ms = absl::ToInt64Milliseconds(clock_.TimeNow() - start_);
    times_[StrCat(component.empty() ? "all" : component, "@", ns.empty() ? "*" : ns)].push_back(
        ms / 10 * 10);
  }

  void RecheckAll(absl::Time until) override {
    reminders_.push_back(absl::ToInt64Milliseconds(until - start_) / 10 * 10);
    RecheckAccess("*", "");
  }

  // Counts the time from now on.
  void Restart() { start_ = clock_.TimeNow(); }
  // "COMPONENT@NAMESPACE:MILLISECONDS,…", since the last call.
  std::string Take() {
    std::string text;
    for (const auto& [whom, times] : std::exchange(times_, {})) {
      text += StrCat(text.empty() ? "" : " ", whom, ":", absl::StrJoin(times, ","));
    }
    return text;
  }
  // The `until` of each reminder, in milliseconds.
  std::vector<int64_t> TakeReminders() { return std::exchange(reminders_, {}); }
  const std::vector<int64_t>& times(const std::string& whom) { return times_[whom]; }

 private:
  const Clock& clock_;
  absl::Time start_;
  std::map<std::string, std::vector<int64_t>> times_;
  std::vector<int64_t> reminders_;
};

template <class Binding>
Binding Bind(const std::string& ns, const std::string& name, const std::string& role,
             const std::string& account, const std::string& role_kind = "ClusterRole") {
  Binding binding;
  if (!ns.empty()) binding.mutable_metadata()->set_namespace_(ns);
  binding.mutable_metadata()->set_name(name);
  binding.mutable_roleref()->set_kind(role_kind);
  binding.mutable_roleref()->set_name(role);
  auto& subject = *binding.add_subjects();
  subject.set_kind("ServiceAccount");
  subject.set_namespace_("system");
  subject.set_name(account);
  return binding;
}

class AccessObserverTest : public ControllerTest {
 protected:
  AccessObserverTest() : client_(loop_, "access-observer"), hints_(loop_.clock()) {}

  void StartObserver() {
    Start(MakeController(component_));
    loop_.RunFor(absl::Minutes(1));
    hints_.Restart();
    hints_.Take();
    hints_.TakeReminders();
  }
  std::string Hints() {
    loop_.RunFor(absl::Minutes(1));
    hints_.Restart();
    return hints_.Take();
  }

  void PutBinding(const RoleBinding& binding) {
    RoleBinding copy = binding;
    copy.mutable_metadata()->set_resourceversion(StrCat(++version_));
    cache_.Put(KindOf<BoundRole>::value,
               OnlyRole(Must(ParseRawObject(copy.SerializeAsString(), Encoding::kProtobuf))));
  }
  // A change of a role, of which the observer sees the metadata.
  template <class T>
  void PutRole(const std::string& ns, const std::string& name) {
    const std::string place = ns.empty() ? "" : StrCat(R"("namespace":")", ns, R"(",)");
    const auto object = ParseRawObject(
        StrCat(R"({"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{)",
               place, R"("name":")", name, R"(","uid":"u","resourceVersion":")", ++version_,
               R"("}})"),
        Encoding::kJson);
    ASSERT_TRUE(object.ok()) << object.status();
    cache_.Put(std::is_same_v<T, Role> ? KindOf<RolePlace>::value : KindOf<ClusterRolePlace>::value,
               OnlyPlace(*object));
  }

  int version_ = 1000;
  FakeRestClient client_;
  FakeEventRecorder events_;
  FakeHints hints_;
  Component component_{kAccessObserver, client_, events_, Runtime(), "system", &hints_};
};

}  // namespace mandate::access
