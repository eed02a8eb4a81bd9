#include "controllers/ensure_owned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "controllers/testing_component.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using testing::HasSubstr;

// Records what it is to ensure, and returns `status`, or the object as a server would.
struct RecordingClient {
  absl::StatusOr<ConfigMap> Ensure(const CallContext&, ConfigMap desired,
                                   const ConfigMap* observed) {
    calls.push_back({desired, observed == nullptr ? std::nullopt : std::optional(*observed)});
    if (!status.ok()) return status;
    const bool as_desired = observed != nullptr && observed->data_size() == desired.data_size();
    if (as_desired) return *observed;
    desired.mutable_metadata()->set_resourceversion("new");
    return desired;
  }

  absl::Status status;

  struct Call {
    ConfigMap desired;
    std::optional<ConfigMap> observed;
  };
  std::vector<Call> calls = {};
};

class EnsureOwnedTest : public ComponentTest {
 protected:
  EnsureOwnedTest() {
    owner_.mutable_metadata()->set_namespace_("foo");
    owner_.mutable_metadata()->set_name("owner");
    owner_.mutable_metadata()->set_uid("uid-of-owner");
    demand_ = view_.Demand({KindOf<ConfigMap>::value, "", ""}, nullptr);
    loop_.RunReady();
  }

  static ConfigMap Desired() {
    ConfigMap desired;
    desired.mutable_metadata()->set_namespace_("foo");
    desired.mutable_metadata()->set_name("a");
    (*desired.mutable_data())["k"] = "v";
    return desired;
  }
  absl::Status Ensure() {
    return EnsureOwned(NonBlockingContext(), component_, client_, owner_, Desired(), &operation_)
        .status();
  }

  std::unique_ptr<DemandHandle> demand_;
  RecordingClient client_;
  ConfigMap owner_;
  OperationResult operation_ = OperationResult::kUnchanged;
};

TEST_F(EnsureOwnedTest, AnAbsentObjectIsMadeWithItsOwner) {
  ASSERT_EQ(Ensure(), absl::OkStatus());
  ASSERT_EQ(client_.calls.size(), 1u);
  EXPECT_FALSE(client_.calls[0].observed.has_value());
  EXPECT_TRUE(IsControlledBy(client_.calls[0].desired.metadata(), "uid-of-owner"));
  EXPECT_EQ(client_.calls[0].desired.data().at("k"), "v");
  EXPECT_EQ(operation_, OperationResult::kCreated);
}

TEST_F(EnsureOwnedTest, AFailureIsNoOperation) {
  client_.status = absl::AlreadyExistsError("taken");
  EXPECT_TRUE(absl::IsAlreadyExists(Ensure()));
  EXPECT_EQ(operation_, OperationResult::kUnchanged);
  // Of an object that exists, too.
  ConfigMap present = Desired();
  present.mutable_data()->clear();
  SetControllerReference(owner_, &present);
  view_.Put(present);
  client_.status = absl::AbortedError("conflict");
  EXPECT_TRUE(absl::IsAborted(Ensure()));
  EXPECT_EQ(operation_, OperationResult::kUnchanged);
}

TEST_F(EnsureOwnedTest, AnObjectOfTheOwnerIsTheObservedOne) {
  ConfigMap present = Desired();
  present.mutable_data()->clear();
  SetControllerReference(owner_, &present);
  view_.Put(present);
  ASSERT_EQ(Ensure(), absl::OkStatus());
  ASSERT_EQ(client_.calls.size(), 1u);
  ASSERT_TRUE(client_.calls[0].observed.has_value());
  EXPECT_TRUE(client_.calls[0].observed->data().empty());
  EXPECT_EQ(operation_, OperationResult::kUpdated);
  (*present.mutable_data())["k"] = "v";
  view_.Put(present);
  ASSERT_EQ(Ensure(), absl::OkStatus());
  EXPECT_EQ(operation_, OperationResult::kUnchanged);
  EXPECT_TRUE(EnsureOwned(NonBlockingContext(), component_, client_, owner_, Desired()).ok());
}

TEST_F(EnsureOwnedTest, AForeignObjectIsNotChanged) {
  view_.Put(Desired());
  const absl::Status foreign = Ensure();
  EXPECT_EQ(foreign.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(foreign.message()),
              HasSubstr("ConfigMap foo/a exists, and its controller is not the ConfigMap owner"));
  // A deleted predecessor of the name.
  ConfigMap predecessor = owner_;
  predecessor.mutable_metadata()->set_uid("uid-of-predecessor");
  ConfigMap present = Desired();
  SetControllerReference(predecessor, &present);
  view_.Put(present);
  EXPECT_EQ(Ensure().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(client_.calls.empty());
}

// Unknown is not absent.
TEST_F(EnsureOwnedTest, AnObjectThatCannotBeReadIsNotWritten) {
  view_.SetState(KindOf<ConfigMap>::value, DemandState::kForbidden,
                 absl::PermissionDeniedError("no"));
  EXPECT_EQ(Ensure().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(client_.calls.empty());
}

}  // namespace
}  // namespace mandate
