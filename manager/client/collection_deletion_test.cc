// On the double, whose answers are rows of testing/conformance (delete.yaml, partial.yaml).
#include "manager/client/collection_deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/testing/double_fixture.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using corev1::Namespace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kScope = {.component = "scope", .rules = kRules};

class CollectionDeletionTest : public DoubleFixture {
 protected:
  CollectionDeletionTest() { Connect(rest_); }

  void Store(std::string_view name, std::string_view metadata = "") {
    const absl::Status stored = server_.core().Load(StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")", name,
        "\"", metadata, "}}"));
    ASSERT_TRUE(stored.ok()) << stored;
  }
  // m1000, m1001, …
  void StoreMany(int count) {
    for (int i = 0; i < count; ++i) Store(StrCat("m", 1000 + i));
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const ConfigMap& map : Must(client_.List<ConfigMap>(context_, {.ns = "default"})).items) {
      names.push_back(map.metadata().name());
    }
    return names;
  }
  size_t Deletes() const { return rest_.Count("DELETE "); }

  FakeRestClient rest_{loop_, "scope"};
  Client<kScope> client_ = *Client<kScope>::Create(rest_);
};

TEST_F(CollectionDeletionTest, DeletesTheSelectedObjects) {
  Store("a", R"(,"labels":{"l":"1"})");
  Store("b", R"(,"labels":{"l":"2"})");
  Store("c", R"(,"labels":{"l":"1"})");
  EXPECT_EQ(
      Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default", .label_selector = "l=1"})),
      2u);
  EXPECT_THAT(Names(), ElementsAre("b"));
  Store("d");
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(
                context_, {.ns = "default", .field_selector = "metadata.name=d"})),
            1u);
  EXPECT_THAT(Names(), ElementsAre("b"));
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"})), 1u);
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"})), 0u);
}

TEST_F(CollectionDeletionTest, SendsOneRequestForEachPage) {
  StoreMany(1001);
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"})), 1001u);
  EXPECT_EQ(Deletes(), 3u);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(CollectionDeletionTest, ObjectsThatAreCreatedMeanwhileStay) {
  StoreMany(501);
  before_ = [this](const RestRequest& request) {
    if (QueryOf(request.target, "continue").empty() || request.method != "DELETE") return;
    Store("m9999");
  };
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"})), 501u);
  EXPECT_THAT(Names(), ElementsAre("m9999"));
}

TEST_F(CollectionDeletionTest, GoesOnWhenThePagesHaveExpired) {
  StoreMany(1001);
  int compactions = 0;
  before_ = [&](const RestRequest& request) {
    if (request.method != "DELETE" || QueryOf(request.target, "continue").empty()) return;
    if (compactions++ == 0) server_.core().store().Compact(server_.core().store().revision());
  };
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"})), 1001u);
  EXPECT_EQ(Deletes(), 4u) << "one of them is answered with 410";
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(CollectionDeletionTest, StopsWhenTheNextPositionHasExpiredToo) {
  rest_.Handle([&](const RestRequest& request) {
    if (QueryOf(request.target, "continue").empty()) {
      return FakeRestClient::Json(200, R"({"metadata":{"continue":"t0"},"items":[]})");
    }
    return FakeRestClient::Json(410, R"({"kind":"Status","reason":"Expired","code":410,
        "metadata":{"continue":"t1"}})");
  });
  const auto deleted = client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"});
  EXPECT_TRUE(IsGone(deleted.status())) << deleted.status();
  EXPECT_EQ(Deletes(), 3u);
}

TEST_F(CollectionDeletionTest, ObjectsWithFinalizersAreMarked) {
  Store("a", R"(,"finalizers":["example.com/f"])");
  EXPECT_EQ(Must(client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"})), 1u);
  const ConfigMap left = Must(client_.Get<ConfigMap>(context_, {"default", "a"}));
  EXPECT_TRUE(left.metadata().has_deletiontimestamp());
  EXPECT_TRUE(rest_.own_writes().Pending(KindOf<ConfigMap>::value, "default", "").empty())
      << "a cached read would wait until the finalizer is removed";
}

TEST_F(CollectionDeletionTest, HasAPropagation) {
  Store("a");
  ASSERT_TRUE(client_
                  .DeleteAllOf<ConfigMap>(
                      context_, {.ns = "default", .propagation = DeletionPropagation::kOrphan})
                  .ok());
  std::string body;
  rest_.Handle([&](const RestRequest& request) {
    body = request.body;
    return FakeRestClient::Json(200, R"({"items":[]})");
  });
  ASSERT_TRUE(client_
                  .DeleteAllOf<ConfigMap>(
                      context_, {.ns = "default", .propagation = DeletionPropagation::kOrphan})
                  .ok());
  EXPECT_EQ(body, R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan"})");
}

TEST_F(CollectionDeletionTest, ANamespacedKindNeedsANamespace) {
  const auto deleted = client_.DeleteAllOf<ConfigMap>(context_, {.label_selector = "l=1"});
  EXPECT_EQ(deleted.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(deleted.status().message()), HasSubstr("configmaps has no namespace"));
  EXPECT_EQ(Deletes(), 0u);
  EXPECT_EQ(Must(client_.DeleteAllOf<Namespace>(context_, {.label_selector = "none=such"})), 0u);
}

TEST_F(CollectionDeletionTest, AnInvalidAnswerIsAnError) {
  rest_.Handle([](const RestRequest&) { return FakeRestClient::Json(200, "<html>"); });
  const auto deleted = client_.DeleteAllOf<ConfigMap>(context_, {.ns = "default"});
  EXPECT_EQ(deleted.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(deleted.status().message()), HasSubstr("some of them may remain"));
}

}  // namespace
}  // namespace mandate
