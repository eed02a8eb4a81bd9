// Random kinds for a real API server (rbacgen/field_names_cluster_test).
//
// usage: random_kinds write DIR FIRST COUNT KUBERNETES_PROTOS
//        random_kinds check DIR FIRST COUNT KUBERNETES_PROTOS
//
// write: for each seed from FIRST, writes the definition to DIR/SEED.crd.yaml, and an object as the
// codec writes it to DIR/SEED.json. check: reads the server's response in DIR/SEED.read.json with
// the codec and compares it with the same object; prints a line for each that differs, and exits
// with 1.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "google/protobuf/util/message_differencer.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/emit/crd/testing/random_object.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

absl::StatusOr<std::unique_ptr<LoadedKind>> Load(const std::string& folder, uint64_t seed,
                                                 const std::string& protos) {
  return LoadedKind::Load(MakeRandomKind(seed), folder, {".", protos});
}

absl::StatusOr<std::unique_ptr<Message>> Made(LoadedKind& kind, uint64_t seed) {
  auto message = kind.New();
  RETURN_IF_ERROR(kind.FromJson(WriteJson(MakeRandomObject(kind.kind(), seed)), *message));
  return message;
}

absl::Status Write(const std::string& folder, uint64_t seed, const std::string& protos) {
  ASSIGN_OR_RETURN(const auto kind, Load(folder, seed, protos));
  ASSIGN_OR_RETURN(const auto message, Made(*kind, seed));
  ASSIGN_OR_RETURN(const std::string json, kind->ToJson(*message));
  RETURN_IF_ERROR(WriteWholeFile(StrCat(folder, "/", seed, ".crd.yaml"), kind->definition().text));
  return WriteWholeFile(StrCat(folder, "/", seed, ".json"), json);
}

absl::Status Check(const std::string& folder, uint64_t seed, const std::string& protos) {
  ASSIGN_OR_RETURN(const auto kind, Load(folder, seed, protos));
  ASSIGN_OR_RETURN(const auto expected, Made(*kind, seed));
  ASSIGN_OR_RETURN(const std::string json, ReadWholeFile(StrCat(folder, "/", seed, ".read.json")));
  const auto read = kind->New();
  RETURN_IF_ERROR(kind->FromJson(json, *read));
  MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  // The server adds fields to metadata.
  differencer.IgnoreField(expected->GetDescriptor()->FindFieldByName("metadata"));
  if (differencer.Compare(*expected, *read)) return absl::OkStatus();
  return absl::DataLossError(report);
}

int Main(int argc, char** argv) {
  const std::string_view verb = argc == 6 ? argv[1] : "";
  if (verb != "write" && verb != "check") {
    std::cerr << "usage: random_kinds write|check DIR FIRST COUNT KUBERNETES_PROTOS\n";
    return 2;
  }
  const uint64_t first = std::strtoull(argv[3], nullptr, 10);
  const uint64_t count = std::strtoull(argv[4], nullptr, 10);
  int failed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const absl::Status status =
        verb == "write" ? Write(argv[2], seed, argv[5]) : Check(argv[2], seed, argv[5]);
    if (status.ok()) continue;
    std::cout << seed << ": " << status.message() << "\n";
    failed = 1;
  }
  return failed;
}

}  // namespace
}  // namespace mandate::rbacgen

int main(int argc, char** argv) { return mandate::rbacgen::Main(argc, argv); }
