#include "rbacgen/calls/compiled_calls.h"

#include <elf.h>

#include <cstring>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

using Calls = std::vector<CompiledCall>;

constexpr char kFolder[] = "rbacgen/calls/testing/";

// The calls that sample_calls.cc and more_calls.cc instantiate, also if the linker drops their
// code.
const Calls kSample = {
    {"first", "delete", "rbac.authorization.k8s.io", "roles", ""},
    {"first", "get", "coordination.k8s.io", "leases", ""},
    {"first", "update", "coordination.k8s.io", "leases", ""},
    {"first", "update", "rbac.authorization.k8s.io", "clusterroles", "status"},
    {"second-of-two", "create", "rbac.authorization.k8s.io", "rolebindings", ""},
    {"second-of-two", "deletecollection", "rbac.authorization.k8s.io", "rolebindings", ""},
    {"second-of-two", "get", "coordination.k8s.io", "leases", ""},
    {"second-of-two", "get", "coordination.k8s.io", "leases", "scale"},
    {"second-of-two", "patch", "rbac.authorization.k8s.io", "rolebindings", ""},
};

std::string ToText(const Calls& calls) {
  std::string text;
  for (const CompiledCall& c : calls) {
    StrAppend(&text, c.component, " ", c.verb, " ", c.resource, ".", c.group, "/", c.subresource,
              "\n");
  }
  return text;
}

class BuiltBinary : public testing::TestWithParam<const char*> {};

TEST_P(BuiltBinary, HasANoteForEachCall) {
  const auto calls = ReadCompiledCalls(StrCat(kFolder, GetParam()));
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(ToText(*calls), ToText(kSample));
}

INSTANTIATE_TEST_SUITE_P(All, BuiltBinary,
                         testing::Values("sample_calls_gcc_O0", "sample_calls_gcc_O2",
                                         "sample_calls_gcc_O2_bfd", "sample_calls_gcc_O2_stripped",
                                         "sample_calls_clang_O2"),
                         [](const auto& info) {
                           return std::string(info.param + strlen("sample_calls_"));
                         });

TEST(CompiledCalls, AreEmptyWithoutTypedCalls) {
  const auto calls = ReadCompiledCalls("/proc/self/exe");
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(ToText(*calls), "");
}

TEST(CompiledCalls, RejectOtherFiles) {
  EXPECT_EQ(ReadCompiledCalls("/no/such/file").status().code(), absl::StatusCode::kUnavailable);
  const auto refused = [](std::string_view bytes, std::string_view because) {
    const absl::Status status = ParseCompiledCalls(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_NE(AsStd(status.message()).find(because), std::string_view::npos) << status;
  };
  refused("", "not an ELF file");
  refused("#!/bin/sh\nexit 0\n", "not an ELF file");
  std::string elf = *ReadWholeFile(StrCat(kFolder, "sample_calls_gcc_O2_bfd"));
  refused(elf.substr(0, sizeof(Elf64_Ehdr)), "damaged ELF file: the table of sections");
  elf[EI_CLASS] = ELFCLASS32;
  refused(elf, "another architecture");
}

// A truncated or changed file gives an error or a result, and no read goes beyond its end.
TEST(CompiledCalls, DamagedFilesAreErrors) {
  const std::string elf = *ReadWholeFile(StrCat(kFolder, "sample_calls_gcc_O2_bfd"));
  int errors = 0;
  for (size_t size = 0; size < elf.size(); size += 997) {
    // A copy of exactly this size, for AddressSanitizer.
    const std::vector<char> cut(elf.begin(), elf.begin() + static_cast<ptrdiff_t>(size));
    errors += !ParseCompiledCalls({cut.data(), cut.size()}).ok();
  }
  EXPECT_GT(errors, 10) << "the table of sections stands at the end";
  const size_t note = elf.find(std::string_view("Mandate\0second", 14));
  ASSERT_NE(note, std::string::npos);
  for (const uint32_t value : {0u, 1u, 7u, 1000u, 0xffffffffu}) {
    for (const size_t field : {note - 12, note - 8}) {
      std::string changed = elf;
      std::memcpy(changed.data() + field, &value, sizeof(value));
      (void)ParseCompiledCalls(changed);
    }
  }
  std::string empty = elf;
  std::memset(empty.data() + note + 8, 0, 224);
  EXPECT_FALSE(ParseCompiledCalls(empty).ok());
  std::string full = elf;
  std::memset(full.data() + note + 8, 'x', 224);
  EXPECT_FALSE(ParseCompiledCalls(full).ok());
}

}  // namespace
}  // namespace mandate::rbacgen
