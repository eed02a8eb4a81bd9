#include "controllers/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/testing_component.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::Service;
using testing::ElementsAre;
using testing::IsEmpty;

// Records each status that it is to apply, and returns `status`, or the object as a server would.
struct RecordingClient {
  absl::StatusOr<Service> ApplyStatus(const CallContext&, Service report) {
    writes.push_back(report);
    if (!status.ok()) return status;
    report.mutable_metadata()->set_resourceversion("new");
    return report;
  }

  absl::Status status;
  std::vector<Service> writes = {};
};

absl::Status NotFoundOf(const std::string& name) {
  ApiStatusProto gone;
  gone.set_code(404);
  gone.set_reason("NotFound");
  gone.mutable_details()->set_name(name);
  return StatusFromApi(gone);
}

// A Service has a status with conditions and another field.
class ReportTest : public ComponentTest {
 protected:
  ReportTest() {
    service_.mutable_metadata()->set_namespace_("foo");
    service_.mutable_metadata()->set_name("a");
    service_.mutable_metadata()->set_resourceversion("7");
  }

  static StatusOf<Service> StatusWith(const std::string& address) {
    StatusOf<Service> status;
    status.mutable_loadbalancer()->add_ingress()->set_ip(address);
    return status;
  }
  absl::Status Report(const StatusOf<Service>& status) {
    return ReportStatus(NonBlockingContext(), component_, client_, service_, status,
                        {{"Ready", true, "Fine", "all well"}}, {"Ready"});
  }
  std::vector<std::string> Events() const {
    std::vector<std::string> texts;
    for (const auto& event : events_.events()) texts.push_back(event.ToString());
    return texts;
  }

  RecordingClient client_;
  Service service_;
};

TEST_F(ReportTest, AStatusIsWrittenWhenAFieldOfItDiffers) {
  ASSERT_EQ(Report(StatusWith("10.0.0.1")), absl::OkStatus());
  ASSERT_EQ(client_.writes.size(), 1u);
  EXPECT_EQ(client_.writes[0].metadata().resourceversion(), "7");
  EXPECT_EQ(service_.metadata().resourceversion(), "new") << "the object is the server's answer";
  ASSERT_EQ(Report(StatusWith("10.0.0.1")), absl::OkStatus());
  EXPECT_EQ(client_.writes.size(), 1u) << "nothing has changed";
  ASSERT_EQ(Report(StatusWith("10.0.0.2")), absl::OkStatus());
  ASSERT_EQ(client_.writes.size(), 2u) << "the conditions are the same, and the address is not";
  EXPECT_EQ(client_.writes[1].status().loadbalancer().ingress(0).ip(), "10.0.0.2");
  ASSERT_EQ(Report({}), absl::OkStatus());
  EXPECT_EQ(client_.writes.size(), 3u) << "a field that is gone is removed";
  EXPECT_THAT(Events(), ElementsAre("Normal Fine Service foo/a: all well"));
}

// An event would report what the status does not have.
TEST_F(ReportTest, AFailedWriteIsNoTransition) {
  for (const absl::Status& failure :
       {absl::AbortedError("conflict"), absl::NotFoundError("a proxy"), NotFoundOf("b")}) {
    client_.status = failure;
    EXPECT_EQ(Report({}).code(), failure.code()) << failure;
    EXPECT_EQ(service_.metadata().resourceversion(), "7");
  }
  client_.status = NotFoundOf("a");
  EXPECT_EQ(Report({}), absl::OkStatus()) << "it was deleted";
  EXPECT_THAT(Events(), IsEmpty());
}

}  // namespace
}  // namespace mandate
