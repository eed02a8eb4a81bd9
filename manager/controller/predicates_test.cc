#include "manager/controller/predicates.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/controller/testing/objects.h"

namespace mandate {
namespace {

struct Row {
  const char* old;
  const char* current;
  bool generation, version, label, annotation;
};

TEST(PredicatesTest, Updates) {
  const Row rows[] = {
      {R"("name":"a","resourceVersion":"1","generation":1)",
       R"("name":"a","resourceVersion":"1","generation":1)", false, false, false, false},
      {R"("name":"a","resourceVersion":"1","generation":1)",
       R"("name":"a","resourceVersion":"2","generation":1)", false, true, false, false},
      {R"("name":"a","resourceVersion":"1","generation":1)",
       R"("name":"a","resourceVersion":"2","generation":2)", true, true, false, false},
      {R"("name":"a","resourceVersion":"1","generation":1,"labels":{"x":"1"})",
       R"("name":"a","resourceVersion":"2","generation":1,"labels":{"x":"2"})", false, true, true,
       false},
      {R"("name":"a","resourceVersion":"1","generation":1,"labels":{"x":"1"})",
       R"("name":"a","resourceVersion":"2","generation":1)", false, true, true, false},
      {R"("name":"a","resourceVersion":"1","generation":1)",
       R"("name":"a","resourceVersion":"2","generation":1,"annotations":{"x":"2"})", false, true,
       false, true},
      // A kind without generations.
      {R"("name":"a","resourceVersion":"1")", R"("name":"a","resourceVersion":"2")", true, true,
       false, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.current);
    const ObjectEvent event = Updated(RawWith(row.old), RawWith(row.current));
    EXPECT_EQ(GenerationChanged()(event), row.generation);
    EXPECT_EQ(ResourceVersionChanged()(event), row.version);
    EXPECT_EQ(LabelChanged()(event), row.label);
    EXPECT_EQ(AnnotationChanged()(event), row.annotation);
  }
}

TEST(PredicatesTest, LabelsMatchAlsoWhenTheyNoLongerDo) {
  const auto red = RawWith(R"("name":"a","labels":{"colour":"red"})");
  const auto blue = RawWith(R"("name":"a","labels":{"colour":"blue"})");
  const Predicate is_red = LabelsMatch(*LabelSelector::Parse("colour=red"));
  EXPECT_TRUE(is_red(Added(red)));
  EXPECT_FALSE(is_red(Added(blue)));
  EXPECT_TRUE(is_red(Deleted(red)));
  EXPECT_FALSE(is_red(Deleted(blue)));
  EXPECT_TRUE(is_red(Updated(red, blue)));
  EXPECT_TRUE(is_red(Updated(blue, red)));
  EXPECT_FALSE(is_red(Updated(blue, blue)));
}

TEST(PredicatesTest, AddsAndDeletesPass) {
  const auto object = RawWith(R"("name":"a","generation":1)");
  ObjectEvent update_without_old = Added(object);
  update_without_old.type = ObjectEvent::Type::kUpdate;
  for (const Predicate& predicate :
       {GenerationChanged(), ResourceVersionChanged(), LabelChanged(), AnnotationChanged()}) {
    EXPECT_TRUE(predicate(Added(object)));
    EXPECT_TRUE(predicate(Added(object, /*initial=*/true)));
    EXPECT_TRUE(predicate(Deleted(object)));
    EXPECT_TRUE(predicate(update_without_old));
  }
}

TEST(PredicatesTest, Combinations) {
  const ObjectEvent event = Added(RawWith(R"("name":"a")"));
  int asked = 0;
  const Predicate yes = [&](const ObjectEvent&) { return ++asked, true; };
  const Predicate no = [&](const ObjectEvent&) { return ++asked, false; };
  const struct {
    Predicate predicate;
    bool passes;
    int asked;
  } rows[] = {
      {AllOf({}), true, 0},
      {AllOf({yes, yes}), true, 2},
      {AllOf({yes, no, yes}), false, 2},
      {AnyOf({}), false, 0},
      {AnyOf({no, no}), false, 2},
      {AnyOf({no, yes, yes}), true, 2},
      {Not(yes), false, 1},
      {Not(no), true, 1},
      {AllOf({AnyOf({no, yes}), Not(no)}), true, 3},
  };
  for (const auto& row : rows) {
    asked = 0;
    EXPECT_EQ(row.predicate(event), row.passes);
    EXPECT_EQ(asked, row.asked);
  }
}

TEST(PredicatesTest, FuncsChooseByType) {
  const auto a = RawWith(R"("name":"a")");
  const auto b = RawWith(R"("name":"b")");
  const auto is_a = [](const RawObject& object) { return object.name() == "a"; };
  const Predicate predicate = PredicateFrom({
      .add = is_a,
      .update = [&](const RawObject& old,
                    const RawObject& current) { return is_a(old) && !is_a(current); },
      .remove = [&](const RawObject& object) { return !is_a(object); },
  });
  EXPECT_TRUE(predicate(Added(a)));
  EXPECT_FALSE(predicate(Added(b)));
  EXPECT_TRUE(predicate(Updated(a, b)));
  EXPECT_FALSE(predicate(Updated(b, a)));
  EXPECT_FALSE(predicate(Deleted(a)));
  EXPECT_TRUE(predicate(Deleted(b)));

  const Predicate empty = PredicateFrom({{}, {}, {}});
  EXPECT_TRUE(empty(Added(a)));
  EXPECT_TRUE(empty(Updated(a, b)));
  EXPECT_TRUE(empty(Deleted(a)));
}

}  // namespace
}  // namespace mandate
