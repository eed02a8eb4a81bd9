#include "manager/tracing/otlp_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

// The span of the specification's examples/trace.json, with the component and as a client's.
FinishedSpan ExampleSpan() {
  return {.trace_id = {0x5b, 0x8e, 0xff, 0xf7, 0x98, 0x03, 0x81, 0x03, 0xd2, 0x69, 0xb6, 0x33, 0x81,
                       0x3f, 0xc6, 0x0c},
          .span_id = {0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, 0x74},
          .parent_id = {0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, 0x73},
          .component = "my.component",
          .name = "I'm a client span",
          .kind = SpanKind::kClient,
          .start = absl::FromUnixNanos(1544712660000000000),
          .end = absl::FromUnixNanos(1544712661000000000),
          .attributes = {{"my.span.attr", "some value"}}};
}

// The first span of the request, or null.
Json::Value OnlySpan(const FinishedSpan& span) {
  const auto json = ParseJson(OtlpTraceRequest({.service_name = "s"}, {&span, 1}));
  return json.ok() ? (*json)["resourceSpans"][0]["scopeSpans"][0]["spans"][0] : Json::Value();
}

TEST(OtlpJsonTest, WritesTheSpecificationsExample) {
  FinishedSpan failed = ExampleSpan();
  failed.parent_id = {};
  failed.kind = SpanKind::kInternal;
  failed.attributes = {{"count", std::numeric_limits<int64_t>::max()}};
  failed.dropped_attributes = 3;
  failed.error = absl::StatusCode::kPermissionDenied;
  failed.error_message = "denied";
  const std::vector<FinishedSpan> spans = {ExampleSpan(), failed};
  const OtlpResource resource{.service_name = "my.service",
                              .service_version = "1.0.0",
                              .service_instance_id = "pod-1",
                              .namespace_name = "system"};
  EXPECT_EQ(
      OtlpTraceRequest(resource, spans),
      R"({"resourceSpans":[{"resource":{"attributes":[)"
      R"({"key":"service.name","value":{"stringValue":"my.service"}},)"
      R"({"key":"service.version","value":{"stringValue":"1.0.0"}},)"
      R"({"key":"service.instance.id","value":{"stringValue":"pod-1"}},)"
      R"({"key":"k8s.namespace.name","value":{"stringValue":"system"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"mandate","version":"1.0.0"},"spans":[)"
      R"({"attributes":[{"key":"mandate.component","value":{"stringValue":"my.component"}},)"
      R"({"key":"my.span.attr","value":{"stringValue":"some value"}}],)"
      R"("endTimeUnixNano":"1544712661000000000","kind":3,"name":"I'm a client span",)"
      R"("parentSpanId":"eee19b7ec3c1b173","spanId":"eee19b7ec3c1b174",)"
      R"("startTimeUnixNano":"1544712660000000000","traceId":"5b8efff798038103d269b633813fc60c"},)"
      R"({"attributes":[{"key":"mandate.component","value":{"stringValue":"my.component"}},)"
      R"({"key":"count","value":{"intValue":"9223372036854775807"}},)"
      R"({"key":"error.type","value":{"stringValue":"PERMISSION_DENIED"}}],)"
      R"("droppedAttributesCount":3,)"
      R"("endTimeUnixNano":"1544712661000000000","kind":1,"name":"I'm a client span",)"
      R"("spanId":"eee19b7ec3c1b174","startTimeUnixNano":"1544712660000000000",)"
      R"("status":{"code":2,"message":"denied"},"traceId":"5b8efff798038103d269b633813fc60c"}]}]}]})");
}

TEST(OtlpJsonTest, OmitsWhatIsEmpty) {
  EXPECT_EQ(OtlpTraceRequest({.service_name = "s"}, {}), R"({"resourceSpans":[]})");
  const FinishedSpan nothing;
  EXPECT_EQ(OtlpTraceRequest({}, {&nothing, 1}),
            R"({"resourceSpans":[{"resource":{"attributes":[]},)"
            R"("scopeSpans":[{"scope":{"name":"mandate"},"spans":[)"
            R"({"attributes":[{"key":"mandate.component","value":{"stringValue":""}}],)"
            R"("endTimeUnixNano":"0","kind":1,"name":"","spanId":"0000000000000000",)"
            R"("startTimeUnixNano":"0","traceId":"00000000000000000000000000000000"}]}]}]})");
  FinishedSpan failed;
  failed.error = absl::StatusCode::kInternal;
  EXPECT_EQ(WriteJson(OnlySpan(failed)["status"]), R"({"code":2})");
}

TEST(OtlpJsonTest, EscapesText) {
  FinishedSpan span = ExampleSpan();
  span.name = "\"\\/\n\t\x01 \xe2\x82\xac";
  span.attributes = {{"k\"", std::string("a\0b", 3)}, {"empty", ""}, {"zero", int64_t{0}}};
  const std::string text = OtlpTraceRequest({}, {&span, 1});
  EXPECT_NE(text.find(R"("name":"\"\\/\n\t\u0001 €")"), text.npos) << text;
  const Json::Value json = OnlySpan(span);
  EXPECT_EQ(json["name"].asString(), span.name);
  EXPECT_EQ(json["attributes"][1]["key"].asString(), "k\"");
  EXPECT_EQ(json["attributes"][1]["value"]["stringValue"].asString(), std::string("a\0b", 3));
  EXPECT_EQ(json["attributes"][2]["value"]["stringValue"].asString(), "");
  EXPECT_EQ(json["attributes"][3]["value"]["intValue"].asString(), "0");
}

TEST(OtlpJsonTest, TheNamesOfAttributesAreUnique) {
  FinishedSpan span = ExampleSpan();
  span.attributes = {{"mandate.component", "forged"}, {"error.type", "mine"}};
  EXPECT_EQ(WriteJson(OnlySpan(span)["attributes"]),
            R"([{"key":"mandate.component","value":{"stringValue":"my.component"}},)"
            R"({"key":"error.type","value":{"stringValue":"mine"}}])");
  span.error = absl::StatusCode::kNotFound;
  EXPECT_EQ(WriteJson(OnlySpan(span)["attributes"]),
            R"([{"key":"mandate.component","value":{"stringValue":"my.component"}},)"
            R"({"key":"error.type","value":{"stringValue":"NOT_FOUND"}}])");
}

TEST(OtlpJsonTest, ReadsResponses) {
  const struct {
    const char* body;
    int64_t rejected;
    const char* message;
  } rows[] = {
      {"", 0, ""},
      {"{}", 0, ""},
      {R"({"partialSuccess":{}})", 0, ""},
      {R"({"partialSuccess":null})", 0, ""},
      {R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}})", 3, "too old"},
      {R"({"partialSuccess":{"rejectedSpans":3}})", 3, ""},
      {R"({"partialSuccess":{"errorMessage":"use gzip"},"unknown":[1]})", 0, "use gzip"},
  };
  for (const auto& row : rows) {
    const auto response = ParseOtlpTraceResponse(row.body);
    ASSERT_TRUE(response.ok()) << row.body << response.status();
    EXPECT_EQ(response->rejected_spans, row.rejected) << row.body;
    EXPECT_EQ(response->error_message, row.message) << row.body;
  }
  for (const char* body : {"x", "[]", "\"\"", R"({"partialSuccess":{"rejectedSpans":"many"}})",
                           R"({"partialSuccess":{"rejectedSpans":1.5}})", "{} {}"}) {
    EXPECT_EQ(ParseOtlpTraceResponse(body).status().code(), absl::StatusCode::kInvalidArgument)
        << body;
  }
}

}  // namespace
}  // namespace mandate
