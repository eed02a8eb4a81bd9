#include "manager/controller/event_mapper.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "manager/controller/testing/event_mapper_fixture.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

TEST_F(EventMapperTest, WakesTheStrandOnce) {
  Create({Of(kThing)});
  EXPECT_FALSE(mapper_->busy());
  EXPECT_TRUE(mapper_->OnEvent(0, Added(Thing("a"))));
  EXPECT_FALSE(mapper_->OnEvent(0, Added(Thing("b"))));
  EXPECT_FALSE(mapper_->OnListed(0));
  EXPECT_FALSE(mapper_->Resync());
  EXPECT_FALSE(mapper_->OnQueueHasRoom());
  EXPECT_TRUE(mapper_->busy());
  EXPECT_EQ(mapper_->waiting(), 3u);
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"}));
  EXPECT_FALSE(mapper_->busy());
  EXPECT_EQ(mapper_->waiting(), 0u);
  EXPECT_TRUE(mapper_->OnListed(0));
  RunSlices();
  EXPECT_TRUE(mapper_->Resync());
  RunSlices();
  EXPECT_TRUE(mapper_->OnQueueHasRoom());
}

TEST_F(EventMapperTest, ASliceEndsAfterAMillisecond) {
  Create({Of(kThing, [this](const ObjectEvent&) {
    EXPECT_TRUE(mapper_->mapping());
    clock_.AdvanceTo(clock_.TimeNow() + absl::Microseconds(600));
  })});
  AddAll({"a", "b", "c"});
  EXPECT_TRUE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"}));
  EXPECT_FALSE(mapper_->mapping());
  EXPECT_TRUE(mapper_->busy());
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), Names{"c"});
}

TEST_F(EventMapperTest, ASliceEndsAfterSoManyEvents) {
  Create({Of(kThing)});
  for (int i = 0; i < 300; ++i) (void)mapper_->OnEvent(0, Added(Thing(StrCat("a", i))));
  EXPECT_TRUE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped().size(), 256u);
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped().size(), 44u);
}

TEST_F(EventMapperTest, ASliceSeesEventsThatComeDuringIt) {
  Create({Of(kThing, [this](const ObjectEvent& event) {
    if (event.object->name() == "a") {
      EXPECT_FALSE(mapper_->OnEvent(0, Added(Thing("b"))));
    }
  })});
  (void)mapper_->OnEvent(0, Added(Thing("a")));
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"}));
}

TEST_F(EventMapperTest, ReportsMappedInitialListsOnce) {
  Create({Of(kThing), Of(kOther)});
  (void)mapper_->OnListed(0);
  (void)mapper_->OnListed(0);
  EXPECT_FALSE(mapper_->RunSlice().listed);
  (void)mapper_->OnEvent(1, Added(Thing("a"), /*initial=*/true));
  (void)mapper_->OnListed(1);
  EXPECT_TRUE(mapper_->RunSlice().listed);
  EXPECT_EQ(TakeMapped(), Names{"a"});
  (void)mapper_->OnListed(0);
  (void)mapper_->OnListed(1);
  EXPECT_FALSE(mapper_->RunSlice().listed);
}

TEST_F(EventMapperTest, NewsGoBeforeInitialListsAndResyncs) {
  Create({Of(kThing)});
  (void)mapper_->OnEvent(0, Added(Thing("initial"), /*initial=*/true));
  (void)mapper_->OnEvent(0, Updated(Thing("resync", 7), Thing("resync", 7)));
  (void)mapper_->OnEvent(0, Updated(Thing("update", 7), Thing("update", 8)));
  (void)mapper_->OnEvent(0, Added(Thing("added")));
  (void)mapper_->OnEvent(0, Deleted(Thing("deleted")));
  RunSlices();
  EXPECT_EQ(TakeQueued(), (Names{"update", "added", "deleted", "initial", "resync"}));
}

TEST_F(EventMapperTest, ChangesOfTheReconciledObjectGoFirst) {
  Source reconciled = Of(kThing);
  reconciled.is_primary = true;
  Create({reconciled, Of(kOther)});
  (void)mapper_->OnEvent(1, Updated(Thing("other", 7), Thing("other", 8)));
  (void)mapper_->OnEvent(0, Added(Thing("added")));
  (void)mapper_->OnEvent(0, Updated(Thing("resync", 7), Thing("resync", 7)));
  (void)mapper_->OnEvent(0, Updated(Thing("edited", 7), Thing("edited", 8)));
  (void)mapper_->OnEvent(0, Deleted(Thing("deleted")));
  RunSlices();
  EXPECT_EQ(TakeQueued(), (Names{"added", "edited", "deleted", "resync", "other"}))
      << "the fourth one is of a lower priority";
}

TEST_F(EventMapperTest, WakesAWorkerForEachRequest) {
  Create({Of(kThing)});
  AddAllAndRun({"a"});
  EXPECT_EQ(pool_.posted(), 1u);
  AddAllAndRun({"b", "c"});
  EXPECT_EQ(pool_.posted(), 3u);
}

TEST_F(EventMapperTest, WakesAWorkerForEachRequestOfAnEvent) {
  Create({{{kThing, "", ""},
           [](const ObjectEvent&, std::vector<Request>& requests) {
             for (const char* name : {"a", "b"}) requests.push_back({{"default", name}});
             return absl::OkStatus();
           },
           {}}});
  AddAllAndRun({"of both"});
  EXPECT_EQ(pool_.posted(), 2u);
}

// The event with one request wakes only one worker, which is too few for the requests before it.
TEST_F(EventMapperTest, WakesAWorkerForEachRequestOfASlice) {
  Create({{{kThing, "", ""},
           [](const ObjectEvent& event, std::vector<Request>& requests) {
             requests.push_back({event.object->Key()});
             if (event.object->name() == "a") requests.push_back({{"default", "of a"}});
             return absl::OkStatus();
           },
           {}}});
  AddAllAndRun({"a", "b"});
  EXPECT_EQ(pool_.posted(), 3u);
}

TEST_F(EventMapperTest, AllPredicatesMustPass) {
  Source source = Of(kThing);
  source.predicates = {[](const ObjectEvent& event) { return event.object->name() != "a"; },
                       [](const ObjectEvent& event) { return event.object->name() != "b"; }};
  Create({source});
  AddAllAndRun({"a", "b", "c"});
  EXPECT_EQ(TakeQueued(), Names{"c"});
  EXPECT_EQ(metrics_.event_errors.Value(), 0);
}

TEST_F(EventMapperTest, AnErrorOfAHandlerConcernsOneEvent) {
  Source roles{{KindOf<rbacv1::Role>::value, "", ""},
               EnqueueMapped<rbacv1::Role>([](const rbacv1::Role& role) {
                 return std::vector<Request>{{{"default", role.metadata().name()}}};
               }),
               {}};
  Create({Of(kThing,
             [](const ObjectEvent& event) {
               if (event.object->name() == "a") throw std::runtime_error("scripted");
               if (event.object->name() == "b") throw 7;
             }),
          roles});
  AddAll({"a", "b", "c"});
  const auto bad =
      ParseRawObject(R"({"metadata":{"name":"undecodable"},"rules":7})", Encoding::kJson);
  ASSERT_TRUE(bad.ok());
  (void)mapper_->OnEvent(1, Added(*bad));
  (void)mapper_->OnEvent(1, Added(RawWith(R"("name":"good")")));
  RunSlices();
  EXPECT_EQ(TakeQueued(), (Names{"a", "b", "c", "good"})) << "the appended requests count";
  EXPECT_EQ(metrics_.event_errors.Value(), 3);
  EXPECT_EQ(log_->Count("An event cannot be mapped"), 3);
  EXPECT_EQ(log_->Count("threw: scripted"), 1);
  EXPECT_EQ(log_->Count("threw: an exception of unknown type"), 1);
  EXPECT_EQ(log_->Count("name=undecodable"), 1);
}

TEST_F(EventMapperTest, NothingIsMappedAfterItIsClosed) {
  Create({Of(kThing, [this](const ObjectEvent&) { mapper_->Close(); })});
  Put(kThing, {"a", "b"});
  AddAll({"x", "y"});
  (void)mapper_->Resync();
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), Names{"x"});
  EXPECT_EQ(mapper_->waiting(), 0u);
  (void)mapper_->OnEvent(0, Added(Thing("z")));
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), Names{});
}

TEST_F(EventMapperTest, CloseDropsWaitingEvents) {
  Create({Of(kThing)});
  (void)mapper_->OnEvent(0, Added(Thing("x")));
  mapper_->Close();
  EXPECT_EQ(mapper_->waiting(), 0u);
}

}  // namespace
}  // namespace mandate
