#include "testing/conformance/explore/normalise.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/explore/difference.h"

namespace mandate::conformance::explore {
namespace {

Response Json(int code, std::string body) {
  return {.code = code, .headers = {{"content-type", "application/json"}}, .body = std::move(body)};
}

std::string Map(const std::string& uid, int version, const std::string& time) {
  return StrCat(R"({"kind":"ConfigMap","metadata":{"name":"a","uid":")", uid,
                R"(","resourceVersion":")", version, R"(","creationTimestamp":")", time, R"("}})");
}

TEST(SaidTest, TwoServersSayTheSameInTheirOwnWords) {
  Said real("x1-2"), ours("x1-2");
  const auto first = real.Answer(Json(201, Map("u-1", 17, "2026-01-01T00:00:00Z")));
  EXPECT_EQ(first, ours.Answer(Json(201, Map("u-9", 3, "2026-01-02T00:00:00Z"))));
  EXPECT_EQ(real.Fill("/x/@{ns}?rv=@{rv:a}&uid=@{uid:a}"), "/x/x1-2?rv=17&uid=u-1");
  EXPECT_EQ(ours.Fill("@{rv:a}"), "3");
  EXPECT_EQ(ours.Fill("@{rv:unseen}@{continue}"), "11");
  EXPECT_EQ(real.newest(), "17");
}

// Values that differ on one server must stay different.
TEST(SaidTest, KeepsWhatDiffers) {
  Said real("ns"), ours("ns");
  real.Answer(Json(201, Map("u-1", 17, "2026-01-01T00:00:00Z")));
  ours.Answer(Json(201, Map("u-9", 3, "2026-01-01T00:00:00Z")));
  // An update that changes the resourceVersion, and one that does not.
  EXPECT_NE(real.Answer(Json(200, Map("u-1", 18, "2026-01-01T00:00:00Z"))),
            ours.Answer(Json(200, Map("u-9", 3, "2026-01-01T00:00:00Z"))));
  // An object that was recreated.
  EXPECT_NE(real.Answer(Json(200, Map("u-1", 18, "2026-01-01T00:00:00Z"))),
            ours.Answer(Json(200, Map("u-10", 4, "2026-01-01T00:00:00Z"))));
  EXPECT_NE(real.Answer(Json(200, "{}")), ours.Answer(Json(201, "{}")));
  EXPECT_NE(real.Answer(Json(409, R"({"kind":"Status","reason":"Conflict"})")),
            ours.Answer(Json(409, R"({"kind":"Status"})")));
}

TEST(SaidTest, OfPreconditionsAndCausesOnlyWhatDiffersCounts) {
  Said real("ns"), ours("ns");
  const auto refusal = [](int version, const char* in_record, const char* causes) {
    return Json(409, StrCat(R"({"kind":"Status","details":{"causes":[)", causes,
                            R"(]},"message":"the ResourceVersion in the precondition ()", version,
                            ") does not match the ResourceVersion in ", in_record, R"x( (9)"})x"));
  };
  constexpr char kOnce[] = R"({"field":"a"},{"field":"b"})";
  constexpr char kTwice[] = R"({"field":"a"},{"field":"b"},{"field":"a"})";
  EXPECT_EQ(real.Answer(refusal(17, "record", kTwice)), ours.Answer(refusal(3, "record", kOnce)));
  EXPECT_NE(real.Answer(refusal(17, "record", kOnce)), ours.Answer(refusal(3, "store", kOnce)));
  EXPECT_NE(real.Answer(refusal(17, "record", R"({"field":"b"})")),
            ours.Answer(refusal(17, "record", kOnce)));
}

TEST(SaidTest, WhatTheServerTellsInAnyOrderIsSorted) {
  Said real("ns"), ours("ns");
  const auto invalid = [](const char* group, const char* first, const char* second) {
    return Json(422, StrCat(R"({"kind":"Status","details":{"group":")", group,
                            R"(","causes":[{"field":")", first, R"(","message":"m"},{"field":")",
                            second, R"(","message":"m"}]},"message":"it is invalid: [)", first,
                            ": m, ", second, R"(: m]"})"));
  };
  constexpr char kCustom[] = "explore.example.com";
  EXPECT_EQ(real.Answer(invalid(kCustom, "a", "b")), ours.Answer(invalid(kCustom, "b", "a")));
  EXPECT_NE(real.Answer(invalid(kCustom, "a", "b")), ours.Answer(invalid(kCustom, "b", "c")));
  EXPECT_NE(real.Answer(invalid("", "a", "b")), ours.Answer(invalid("", "b", "a")))
      << "built-in kinds have an order";
  const auto conflict = [](const char* causes) {
    return Json(409, StrCat(R"({"kind":"Status","details":{"causes":[)", causes, "]}}"));
  };
  constexpr char kX[] =
      R"({"reason":"FieldManagerConflict","message":"with x","field":".b"},{"reason":"FieldManagerConflict","message":"with x","field":".a"})";
  constexpr char kSwapped[] =
      R"({"reason":"FieldManagerConflict","message":"with x","field":".a"},{"reason":"FieldManagerConflict","message":"with x","field":".b"})";
  constexpr char kY[] = R"({"reason":"FieldManagerConflict","message":"with y","field":".c"})";
  EXPECT_EQ(real.Answer(conflict(StrCat(kX, ",", kY).c_str())),
            ours.Answer(conflict(StrCat(kY, ",", kX).c_str())));
  EXPECT_NE(real.Answer(conflict(kX)), ours.Answer(conflict(kSwapped)))
      << "the fields of one manager have an order";
}

TEST(SaidTest, OfTheBindingsThatAreAlwaysThereAnyAllows) {
  Said real("ns"), ours("ns");
  const auto allowed = [](const char* binding, const char* role, const char* group) {
    return Json(201,
                StrCat(R"({"kind":"SubjectAccessReview","status":{"allowed":true,)",
                       R"("reason":"RBAC: allowed by ClusterRoleBinding \")", binding,
                       R"(\" of ClusterRole \")", role, R"(\" to Group \")", group, R"(\""}})"));
  };
  constexpr char kDiscovery[] = "system:discovery", kPublic[] = "system:public-info-viewer";
  constexpr char kEverybody[] = "system:authenticated";
  const std::string first = real.Answer(allowed(kDiscovery, kDiscovery, kEverybody));
  EXPECT_EQ(first, ours.Answer(allowed(kPublic, kPublic, kEverybody)));
  EXPECT_NE(first, ours.Answer(allowed("view", "view", kEverybody)));
  EXPECT_NE(first, ours.Answer(allowed(kPublic, kPublic, "system:unauthenticated")));
}

TEST(SaidTest, EventsAreAnswersToo) {
  Said real("ns"), ours("ns");
  const auto event = [](Said& said, int version, const char* type) {
    return said.Event(*ParseJson(StrCat(R"({"type":")", type, R"(","object":)",
                                        Map("u", version, "2026-01-01T00:00:00Z"), "}")));
  };
  EXPECT_EQ(event(real, 5, "ADDED"), event(ours, 8, "ADDED"));
  EXPECT_NE(event(real, 6, "MODIFIED"), event(ours, 8, "MODIFIED"));
  EXPECT_NE(event(real, 6, "DELETED"), event(ours, 9, "MODIFIED"));
}

TEST(DifferenceTest, OnlyWordsOfWhatCannotBeReadAreForgiven) {
  const std::string real =
      "400\n{\"message\":\"error decoding patch: "
      "x\",\"reason\":\"BadRequest\",\"kind\":\"Status\"}";
  const std::string ours =
      "400\n{\"message\":\"error decoding patch: "
      "y\",\"reason\":\"BadRequest\",\"kind\":\"Status\"}";
  EXPECT_TRUE(IsWording(real, ours));
  EXPECT_FALSE(IsWording(real, "422" + ours.substr(3)));
  EXPECT_FALSE(IsWording(real, "400\n{\"reason\":\"Invalid\",\"kind\":\"Status\"}"));
  EXPECT_FALSE(IsWording("404\n{\"reason\":\"NotFound\",\"message\":\"a\",\"kind\":\"Status\"}",
                         "404\n{\"reason\":\"NotFound\",\"message\":\"b\",\"kind\":\"Status\"}"));
}

TEST(DifferenceTest, OneReasonHasOneSignature) {
  const auto signature = [](const char* name) {
    return Difference{.step = 1,
                      .request = StrCat("GET /api/v1/configmaps/", name),
                      .real = StrCat("404\n{\"kind\":\"Status\",\"message\":\"configmaps \\\"",
                                     name, "\\\" not found\",\"reason\":\"NotFound\"}"),
                      .ours = "200\n{}"}
        .Signature();
  };
  EXPECT_EQ(signature("a"), signature("b"));
}

}  // namespace
}  // namespace mandate::conformance::explore
