#include "manager/tracing/curl_poster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/executor.h"
#include "manager/core/testing/must.h"
#include "manager/serving/http_server.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class CurlPosterTest : public testing::Test {
 protected:
  ~CurlPosterTest() override {
    loop_->Stop();
    for (auto& answer : unanswered_) answer({});
  }

  static std::string File(const std::string& name, const std::string& content) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path) << content;
    return path;
  }
  void Start(const std::string& url, const std::string& ca_file = "") {
    Latch done;
    loop_->Post([&] {
      poster_ = Must(CurlPoster::Create({.loop = loop_.get(),
                                         .url = url,
                                         .ca_file = ca_file,
                                         .user_agent = "test/1",
                                         .connect_timeout = absl::Minutes(5),
                                         .max_answer_bytes = 1000}));
      done.Set();
    });
    done.Wait();
  }
  // Posts and waits.
  absl::StatusOr<OtlpAnswer> Post(const std::string& body,
                                  absl::Duration timeout = absl::Minutes(5)) {
    absl::StatusOr<OtlpAnswer> result;
    Latch done;
    loop_->Post([&] {
      poster_->Post(body, timeout, [&](absl::StatusOr<OtlpAnswer> answer) {
        result = std::move(answer);
        done.Set();
      });
    });
    done.Wait();
    return result;
  }
  // A plain server that hands each request to `serve`.
  std::unique_ptr<HttpServer> Serve(
      std::function<void(PostedRequest, std::function<void(ServedResponse)>)> serve) {
    return Must(HttpServer::Create({.address = "127.0.0.1:0",
                                    .posts = {{"/v1/traces", {.handle = std::move(serve)}}},
                                    .metrics = &metrics_}));
  }
  std::unique_ptr<HttpServer> ServeNothing() {
    return Serve([this](PostedRequest, std::function<void(ServedResponse)> answer) {
      unanswered_.push_back(std::move(answer));
      asked_.Set();
    });
  }
  static std::string UrlOf(const HttpServer& server) {
    return "http://" + server.address() + "/v1/traces";
  }
  std::unique_ptr<H2Server> ServeTls(ServerHandler handler) {
    return Must(H2Server::Create({.ca = &ca_, .http2 = false}, std::move(handler)));
  }

  Metrics metrics_;
  TestCa ca_;
  std::unique_ptr<EventLoop> loop_ = Must(EventLoop::Create());
  std::vector<std::function<void(ServedResponse)>> unanswered_;
  Latch asked_;
  std::unique_ptr<CurlPoster> poster_;
};

TEST_F(CurlPosterTest, PostsOnOneConnection) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("https_proxy", "http://127.0.0.1:1", 1);
  setenv("all_proxy", "http://127.0.0.1:1", 1);
  std::vector<ServerRequest> requests;
  const auto server = ServeTls([&](std::shared_ptr<ServerStream> stream) {
    requests.push_back(stream->request());
    stream->Respond(200, "{\"partialSuccess\":{}}");
  });
  Start(server->url() + "/v1/traces", File("ca.pem", ca_.certificate_pem()));
  const std::string large(2 << 20, 'x');  // libcurl would ask for leave to send it
  for (const std::string& body : {std::string("{}"), large}) {
    const auto answer = Post(body);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->code, 200);
    EXPECT_EQ(answer->body, "{\"partialSuccess\":{}}");
    EXPECT_EQ(answer->retry_after, std::nullopt);
  }
  EXPECT_EQ(server->stats().accepted, 1u);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/v1/traces");
  EXPECT_EQ(requests[0].body, "{}");
  EXPECT_EQ(requests[0].Header("content-type"), "application/json");
  EXPECT_EQ(requests[0].Header("user-agent"), "test/1");
  EXPECT_THAT(requests[0].Header("authorization"), IsEmpty());
  EXPECT_EQ(requests[1].body, large);
  EXPECT_THAT(requests[1].Header("expect"), IsEmpty());
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy"}) unsetenv(name);
}

TEST_F(CurlPosterTest, ReadsCodesAndRetryAfter) {
  const struct {
    int code;
    HttpHeaders headers;
    std::optional<absl::Duration> retry_after;
  } rows[] = {
      {200, {}, std::nullopt},
      {429, {{"retry-after", "7"}}, absl::Seconds(7)},
      {503, {{"Retry-After", "0"}}, absl::ZeroDuration()},
      {503, {{"retry-after", "Fri, 01 Jan 1999 00:00:00 GMT"}}, absl::ZeroDuration()},
      {503, {{"retry-after", "soon"}}, std::nullopt},
      {400, {}, std::nullopt},
      // Not followed.
      {302, {{"location", "/other"}}, std::nullopt},
      {307, {{"location", "/other"}}, std::nullopt},
  };
  std::atomic<size_t> at = 0;
  std::atomic<size_t> requests = 0;
  const auto server = ServeTls([&](std::shared_ptr<ServerStream> stream) {
    ++requests;
    stream->Respond(rows[at].code, "text", rows[at].headers);
  });
  Start(server->url(), File("ca.pem", ca_.certificate_pem()));
  for (const auto& row : rows) {
    const auto answer = Post("{}");
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->code, row.code);
    EXPECT_EQ(answer->retry_after, row.retry_after) << at.load();
    EXPECT_EQ(answer->body, "text");
    EXPECT_EQ(requests, ++at);
  }
}

TEST_F(CurlPosterTest, AnswersAreBounded) {
  const struct {
    std::string body;
    HttpHeaders headers;
    bool ok;
  } rows[] = {
      {std::string(1000, 'x'), {}, true},
      {std::string(1001, 'x'), {}, false},
      {"x", {{"long", std::string(700, 'x')}}, true},
      {"x", {{"long", std::string(1000, 'x')}}, false},
  };
  std::atomic<size_t> at = 0;
  const auto server = ServeTls([&](std::shared_ptr<ServerStream> stream) {
    stream->Respond(200, rows[at].body, rows[at].headers);
  });
  Start(server->url(), File("ca.pem", ca_.certificate_pem()));
  for (const auto& row : rows) {
    const auto answer = Post("{}");
    EXPECT_EQ(answer.ok(), row.ok) << at.load() << answer.status();
    if (!row.ok) {
      EXPECT_TRUE(absl::IsOutOfRange(answer.status())) << answer.status();
      EXPECT_THAT(std::string(answer.status().message()),
                  HasSubstr("answers with more than 1000 bytes; check"));
    }
    ++at;
  }
}

TEST_F(CurlPosterTest, VerifiesTheServer) {
  const auto server =
      ServeTls([](std::shared_ptr<ServerStream> stream) { stream->Respond(200, "{}"); });
  const std::string localhost = "https://localhost:" + std::to_string(server->port());
  const std::string ca = File("ca.pem", ca_.certificate_pem());
  const std::string other = File("other.pem", TestCa("other").certificate_pem());
  const struct {
    std::string url;
    std::string ca_file;
    bool ok;
  } rows[] = {
      {server->url(), ca, true},
      {localhost, ca, true},
      {server->url(), other, false},
      {server->url(), "", false},  // the system's authorities
  };
  for (const auto& row : rows) {
    Start(row.url, row.ca_file);
    const auto answer = Post("{}");
    EXPECT_EQ(answer.ok(), row.ok) << answer.status();
    if (row.ok) continue;
    EXPECT_TRUE(absl::IsUnavailable(answer.status()));
    EXPECT_THAT(std::string(answer.status().message()), HasSubstr("check that the CA file has"));
  }
  server->SetCertificate(ca_.IssueServer({"DNS:elsewhere"}));
  Start(server->url(), ca);
  EXPECT_TRUE(absl::IsUnavailable(Post("{}").status()));
}

TEST_F(CurlPosterTest, TheCaFileMayChange) {
  const auto server =
      ServeTls([](std::shared_ptr<ServerStream> stream) { stream->Respond(200, "{}"); });
  const std::string path = File("changing.pem", ca_.certificate_pem());
  Start(server->url(), path);
  EXPECT_TRUE(Post("{}").ok());
  const TestCa next("next");
  server->SetCertificate(next.IssueServer({"IP:127.0.0.1"}));
  server->CloseConnections();
  EXPECT_TRUE(absl::IsUnavailable(Post("{}").status()));
  File("changing.pem", "half a file");
  const auto unreadable = Post("{}");
  EXPECT_TRUE(absl::IsUnavailable(unreadable.status()));
  EXPECT_THAT(std::string(unreadable.status().message()), HasSubstr("has no certificate"));
  File("changing.pem", next.certificate_pem());
  const auto answer = Post("{}");
  EXPECT_TRUE(answer.ok()) << answer.status();
}

TEST_F(CurlPosterTest, RejectsACaFileWithoutCertificates) {
  const struct {
    std::string path;
    absl::StatusCode code;
    const char* why;
  } rows[] = {
      {testing::TempDir() + "/missing.pem", absl::StatusCode::kNotFound, "cannot be read"},
      {File("empty.pem", ""), absl::StatusCode::kInvalidArgument, "give a file with PEM"},
      {File("text.pem", "text"), absl::StatusCode::kInvalidArgument, "has no certificate"},
  };
  for (const auto& row : rows) {
    const auto poster =
        CurlPoster::Create({.loop = loop_.get(), .url = "https://collector", .ca_file = row.path});
    EXPECT_EQ(poster.status().code(), row.code) << poster.status();
    EXPECT_THAT(std::string(poster.status().message()), HasSubstr(row.why));
  }
}

TEST_F(CurlPosterTest, WorksWithoutTlsOnLoopback) {
  const auto server = Serve([](PostedRequest request, std::function<void(ServedResponse)> answer) {
    answer({.code = request.body == "{}" ? 200 : 400, .body = request.content_type});
  });
  Start(UrlOf(*server));
  const auto answer = Post("{}");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->code, 200);
  EXPECT_EQ(answer->body, "application/json");
}

TEST_F(CurlPosterTest, ARefusedConnectionMayBeRetried) {
  auto server = ServeNothing();
  Start(UrlOf(*server));
  server.reset();
  const auto answer = Post("{}");
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_THAT(std::string(answer.status().message()),
              HasSubstr("check that an OpenTelemetry collector receives OTLP over HTTP"));
}

TEST_F(CurlPosterTest, ACollectorThatClosesMayBeRetried) {
  const auto server = ServeTls([](std::shared_ptr<ServerStream> stream) { stream->Reset(0); });
  Start(server->url(), File("ca.pem", ca_.certificate_pem()));
  EXPECT_TRUE(absl::IsUnavailable(Post("{}").status()));
}

TEST_F(CurlPosterTest, AHangingCollectorTimesOut) {
  const auto server = ServeNothing();
  Start(UrlOf(*server));
  const auto answer = Post("{}", absl::Milliseconds(20));
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
}

TEST_F(CurlPosterTest, ACancelledPostIsNotReported) {
  const auto server = ServeNothing();
  Start(UrlOf(*server));
  bool done = false;
  loop_->Post([&] {
    poster_->Post("{}", absl::Seconds(60), [&](const absl::StatusOr<OtlpAnswer>&) { done = true; });
  });
  asked_.Wait();
  Latch cancelled;
  loop_->Post([&] {
    poster_->Cancel();
    poster_->Cancel();
    cancelled.Set();
  });
  cancelled.Wait();
  EXPECT_FALSE(done);
  // It can be used again, and be destroyed while it posts.
  EXPECT_TRUE(absl::IsUnavailable(Post("{}", absl::Milliseconds(20)).status()));
  Latch posted;
  loop_->Post([&] {
    poster_->Post("{}", absl::Seconds(60), [&](const absl::StatusOr<OtlpAnswer>&) { done = true; });
    posted.Set();
  });
  posted.Wait();
  loop_->Stop();
  poster_ = nullptr;
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace mandate
