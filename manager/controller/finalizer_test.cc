#include "manager/controller/finalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using testing::ElementsAre;

constexpr char kOurs[] = "example.com/cleanup";

rbacv1::Role Read(const std::vector<std::string>& finalizers) {
  rbacv1::Role role;
  role.mutable_metadata()->set_namespace_("foo");
  role.mutable_metadata()->set_name("a");
  role.mutable_metadata()->set_resourceversion("7");
  for (const std::string& finalizer : finalizers)
    role.mutable_metadata()->add_finalizers(finalizer);
  return role;
}

// Records merge patches, and answers all of them with `answer`.
struct RecordingClient {
  template <class T>
  absl::StatusOr<T> Patch(const CallContext&, const ObjectKey& key, const mandate::Patch& patch) {
    patches.push_back(key.ToString() + " " + std::get<MergePatch>(patch).json());
    return answer;
  }

  absl::StatusOr<rbacv1::Role> answer = absl::UnknownError("no answer was set");
  std::vector<std::string> patches = {};
};

TEST(FinalizerTest, IsAddedAfterThoseOfOthers) {
  RecordingClient client{.answer = Read({"b.example.com/x", kOurs})};
  rbacv1::Role role = Read({"b.example.com/x"});
  EXPECT_FALSE(HasFinalizer(role, kOurs));
  ASSERT_TRUE(AddFinalizer({}, client, role, kOurs).ok());
  EXPECT_THAT(client.patches, ElementsAre(R"(foo/a {"metadata":{"finalizers":["b.example.com/x",)"
                                          R"("example.com/cleanup"],"resourceVersion":"7"}})"));
  EXPECT_TRUE(HasFinalizer(role, kOurs)) << "the object is the server's answer";
}

TEST(FinalizerTest, IsRemovedFromThoseOfOthers) {
  RecordingClient client{.answer = Read({"a.example.com/x", "b.example.com/x"})};
  rbacv1::Role role = Read({"a.example.com/x", kOurs, "b.example.com/x"});
  ASSERT_TRUE(RemoveFinalizer({}, client, role, kOurs).ok());
  EXPECT_THAT(client.patches, ElementsAre(R"(foo/a {"metadata":{"finalizers":["a.example.com/x",)"
                                          R"("b.example.com/x"],"resourceVersion":"7"}})"));
  EXPECT_FALSE(HasFinalizer(role, kOurs));
}

// An empty list removes the member: null would do the same, but [] is what the object then has.
TEST(FinalizerTest, TheLastOneLeavesAnEmptyList) {
  RecordingClient client{.answer = Read({})};
  rbacv1::Role role = Read({kOurs});
  ASSERT_TRUE(RemoveFinalizer({}, client, role, kOurs).ok());
  EXPECT_THAT(client.patches,
              ElementsAre(R"(foo/a {"metadata":{"finalizers":[],"resourceVersion":"7"}})"));
}

TEST(FinalizerTest, SendsNothingIfNothingChanges) {
  RecordingClient client;
  rbacv1::Role with = Read({kOurs}), without = Read({"example.com/cleanup2"});
  EXPECT_TRUE(AddFinalizer({}, client, with, kOurs).ok());
  EXPECT_TRUE(RemoveFinalizer({}, client, without, kOurs).ok());
  EXPECT_THAT(client.patches, ElementsAre());
}

// A second reconcile may run before the cache knows that the first one has let the object go.
TEST(FinalizerTest, IsRemovedFromAnObjectThatIsGone) {
  ApiStatusProto gone;
  gone.set_code(404);
  gone.set_reason("NotFound");
  gone.mutable_details()->set_name("a");
  RecordingClient client{.answer = StatusFromApi(gone)};
  rbacv1::Role role = Read({kOurs});
  EXPECT_TRUE(RemoveFinalizer({}, client, role, kOurs).ok());
  rbacv1::Role other = Read({});
  EXPECT_TRUE(IsNotFound(AddFinalizer({}, client, other, kOurs)));
  // Not of the API server, or about something else: an admission webhook chooses its code.
  ApiStatusProto foreign = gone;
  foreign.mutable_details()->set_name("b");
  for (const absl::Status& status : {absl::NotFoundError("a proxy"), StatusFromApi(foreign)}) {
    client.answer = status;
    EXPECT_TRUE(IsNotFound(RemoveFinalizer({}, client, role, kOurs))) << status;
  }
}

TEST(FinalizerTest, AFailureLeavesTheObjectAsItWasRead) {
  RecordingClient client{.answer = absl::AbortedError("conflict")};
  rbacv1::Role role = Read({});
  EXPECT_TRUE(absl::IsAborted(AddFinalizer({}, client, role, kOurs)));
  EXPECT_FALSE(HasFinalizer(role, kOurs));
  EXPECT_EQ(role.metadata().resourceversion(), "7");
  // An object that was not read has no version to compare.
  role.mutable_metadata()->clear_resourceversion();
  EXPECT_TRUE(absl::IsInvalidArgument(AddFinalizer({}, client, role, kOurs)));
}

}  // namespace
}  // namespace mandate
