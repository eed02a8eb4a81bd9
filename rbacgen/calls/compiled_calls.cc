// <elf.h> has the layout. Reading it takes only two bounded loops; libelf would be one more library
// for a tool that should run anywhere.
#include "rbacgen/calls/compiled_calls.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "manager/client/call_note.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

constexpr unsigned char kByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// nullopt if the part is not entirely within `bytes`.
std::optional<std::string_view> Part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

template <class T>
std::optional<T> At(std::string_view bytes, uint64_t offset) {
  const auto part = Part(bytes, offset, sizeof(T));
  if (!part) return std::nullopt;
  T value;
  std::memcpy(&value, part->data(), sizeof(T));
  return value;
}

absl::Status Damaged(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("damaged ELF file: ", what));
}

// The contents of all sections with call notes; an object file has one for each compiled part.
absl::StatusOr<std::vector<std::string_view>> NoteSections(std::string_view elf) {
  const auto header = At<Elf64_Ehdr>(elf, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return absl::InvalidArgumentError("not an ELF file");
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != kByteOrder) {
    return absl::InvalidArgumentError(
        "the ELF file is for another architecture; give a binary for this one");
  }
  std::vector<std::string_view> found;
  if (header->e_shoff == 0) return found;
  if (header->e_shentsize != sizeof(Elf64_Shdr))
    return Damaged("the size of section headers is wrong");
  const auto section = [&](uint64_t index) {
    // If the number of sections is too large for the file header, the first section header has it.
    return index > UINT32_MAX ? std::nullopt
                              : At<Elf64_Shdr>(elf, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto first = section(0);
  if (!first) return Damaged("the table of sections is incomplete");
  const uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  const auto names =
      section(header->e_shstrndx == SHN_XINDEX ? first->sh_link : header->e_shstrndx);
  const auto strings =
      names ? Part(elf, names->sh_offset, names->sh_size) : std::optional<std::string_view>();
  if (!strings) return Damaged("the names of sections are missing");
  for (uint64_t i = 0; i < count; ++i) {
    const auto s = section(i);
    if (!s) return Damaged("the table of sections is incomplete");
    if (s->sh_type != SHT_NOTE || s->sh_name > strings->size()) continue;
    const std::string_view name = strings->substr(s->sh_name);
    if (name.substr(0, name.find('\0')) != kCallNoteSection) continue;
    const auto content = Part(elf, s->sh_offset, s->sh_size);
    if (!content) return Damaged("the section of calls is incomplete");
    found.push_back(*content);
  }
  return found;
}

absl::StatusOr<CompiledCall> ParseText(std::string_view text) {
  CompiledCall call;
  for (std::string* part :
       {&call.component, &call.verb, &call.group, &call.resource, &call.subresource}) {
    const size_t end = text.find('\0');
    if (end == text.npos) return Damaged("a record of a call ends early");
    *part = std::string(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  if (call.component.empty() || call.verb.empty() || call.resource.empty()) {
    return Damaged("a record of a call is incomplete");
  }
  return call;
}

absl::Status ParseNotes(std::string_view section, std::vector<CompiledCall>* calls) {
  const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  while (!section.empty()) {
    const auto header = At<Elf64_Nhdr>(section, 0);
    if (!header) return Damaged("a note ends early");
    const uint64_t text_at = sizeof(Elf64_Nhdr) + padded(header->n_namesz);
    const auto owner = Part(section, sizeof(Elf64_Nhdr), header->n_namesz);
    const auto text = Part(section, text_at, header->n_descsz);
    if (!owner || !text) return Damaged("a note ends early");
    if (*owner == kCallNoteOwner && header->n_type == kCallNoteType) {
      ASSIGN_OR_RETURN(CompiledCall call, ParseText(*text));
      calls->push_back(std::move(call));
    }
    section.remove_prefix(std::min<uint64_t>(section.size(), text_at + padded(header->n_descsz)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<CompiledCall>> ParseCompiledCalls(std::string_view elf) {
  ASSIGN_OR_RETURN(const std::vector<std::string_view> sections, NoteSections(elf));
  std::vector<CompiledCall> calls;
  for (std::string_view section : sections) RETURN_IF_ERROR(ParseNotes(section, &calls));
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

absl::StatusOr<std::vector<CompiledCall>> ReadCompiledCalls(const std::string& path) {
  const auto with_path = [&](const absl::Status& status) {
    return absl::Status(status.code(), StrCat(path, ": ", AsStd(status.message())));
  };
  const auto elf = ReadWholeFile(path);
  if (!elf.ok()) return with_path(elf.status());
  auto calls = ParseCompiledCalls(*elf);
  if (!calls.ok()) return with_path(calls.status());
  return calls;
}

}  // namespace mandate::rbacgen
