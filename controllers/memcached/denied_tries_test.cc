// Denied Memcacheds of a namespace share a budget of tries: those that are no longer denied, or no
// longer wanted, take nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/memcached/testing_cluster.h"
#include "manager/core/strings.h"

namespace mandate::memcached {
namespace {

using testing::HasSubstr;

constexpr char kCollection[] = "/apis/cache.example.com/v1alpha1/namespaces/allowed-one/memcacheds";
constexpr int kMany = 100;  // their tries take 20 s

class DeniedTriesTest : public testing::Test {
 protected:
  DeniedTriesTest() {
    cluster_.Start();
    cluster_.Settle();
    cluster_.TakeVerb("create");
  }
  // Each is denied. `metadata`: more of it, after a comma.
  void CreateMany(const std::string& metadata = "") {
    for (int i = 0; i < kMany; ++i) {
      ASSERT_EQ(cluster_.Send("POST", kCollection,
                              StrCat(R"({"apiVersion":"cache.example.com/v1alpha1","kind":)",
                                     R"("Memcached","metadata":{"name":"m)", i, "\"", metadata,
                                     R"(},"spec":{"size":1}})")),
                201);
    }
    cluster_.Settle();
  }
  void DeleteMany() {
    for (int i = 0; i < kMany; ++i) {
      ASSERT_EQ(cluster_.Send("DELETE", StrCat(kCollection, "/m", i), ""), 200);
    }
    cluster_.Settle();
  }
  // Another one is denied, and then permitted: it is tried at once, as if it were alone.
  void ExpectAQuickTry() {
    cluster_.Create("allowed-one", 1);
    cluster_.Settle();
    EXPECT_THAT(cluster_.State("allowed-one"), HasSubstr("Failed: Not permitted to create"));
    cluster_.TakeVerb("");
    cluster_.RunFor(absl::Seconds(8));
    EXPECT_THAT(cluster_.State("allowed-one"), HasSubstr("Succeeded: "));
  }

  MemcachedCluster cluster_;
};

TEST_F(DeniedTriesTest, DeletedOnesTakeNothing) {
  CreateMany();
  DeleteMany();
  ExpectAQuickTry();
}

TEST_F(DeniedTriesTest, DeletedOnesThatAForeignFinalizerHoldsTakeNothing) {
  CreateMany(R"(,"finalizers":["example.com/hold"])");
  DeleteMany();
  ExpectAQuickTry();
}

TEST_F(DeniedTriesTest, WrittenOnesTakeNothing) {
  CreateMany();
  cluster_.TakeVerb("");
  cluster_.RunFor(absl::Minutes(2));
  cluster_.TakeVerb("create");
  ExpectAQuickTry();
}

}  // namespace
}  // namespace mandate::memcached
