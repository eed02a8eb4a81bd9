// Leaves the note of a typed call in the binary (call_note.h).
//
// The assembler writes the note, because GCC ignores the section attribute of templates. It is a
// note because linkers keep notes, whatever else they remove.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "manager/client/call_note.h"
#include "manager/client/permission.h"
#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/marker.h"

namespace mandate {

// A note's text, negated, as the assembler reads it: with %n both compilers print a constant of 64
// bits. A text that is too long is an error by the bounds of the array.
using CallNoteWords = std::array<uint64_t, kCallNoteText / 8>;
constexpr CallNoteWords CallNoteOf(std::string_view component, std::string_view verb,
                                   std::string_view group, std::string_view resource,
                                   std::string_view subresource) {
  std::array<char, kCallNoteText> text = {};
  size_t size = 0;
  for (std::string_view part : {component, verb, group, resource, subresource}) {
    for (const char c : part) text[size++] = c;
    text[size++] = '\0';
  }
  auto words = std::bit_cast<CallNoteWords>(text);
  for (uint64_t& word : words) word = -word;
  return words;
}

// Leaves the note where it is compiled. Does nothing at run time.
template <CallNoteWords w>
[[gnu::always_inline]] inline void LeaveCallNote() {
  asm volatile(
      ".pushsection .note.mandate.calls,\"a\",%%note\n"
      ".balign 4\n"
      ".long 8, 224, 1\n"
      ".asciz \"Mandate\"\n"
      ".quad %n0, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9\n"
      ".quad %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17, %n18, %n19\n"
      ".quad %n20, %n21, %n22, %n23, %n24, %n25, %n26, %n27\n"
      ".popsection"
      :
      : "i"(w[0]), "i"(w[1]), "i"(w[2]), "i"(w[3]), "i"(w[4]), "i"(w[5]), "i"(w[6]), "i"(w[7]),
        "i"(w[8]), "i"(w[9]), "i"(w[10]), "i"(w[11]), "i"(w[12]), "i"(w[13]), "i"(w[14]),
        "i"(w[15]), "i"(w[16]), "i"(w[17]), "i"(w[18]), "i"(w[19]), "i"(w[20]), "i"(w[21]),
        "i"(w[22]), "i"(w[23]), "i"(w[24]), "i"(w[25]), "i"(w[26]), "i"(w[27]));
}

namespace call_record_internal {

#ifdef __clang__
// Clang 15 and older print the characters of a template argument as numbers. They print literals as
// text in a call that is not a constant expression, so that the error has the marker there.
template <class T>
bool IsDeclared();
template <class T>
constexpr bool MissingMarker(auto... /*words*/) {
  return IsDeclared<T>();
}

constexpr std::string_view Literal(std::string_view word) {
  for (std::string_view known :
       {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
        "list;watch", "binding", "eviction", "log", "scale", "status", "token", ""}) {
    if (word == known) return known;
  }
  return "?";
}
#endif

// Does not compile where the mandate lacks the verbs. GCC needs no words here: the call's result
// is a MISSING_MARKER (permission.h).
template <const rbac::Mandate& kMandate, Watchable T, FixedString kVerbs, FixedString kSubresource,
          rbac::MarkerReach kReach = rbac::MarkerReach::kCluster>
constexpr void RefuseUndeclared() {
#ifdef __clang__
  constexpr KindInfo kKind = KindOf<T>::value;
  static_assert(MissingMarker<T>(
      "component", kMandate.component, "verb", Literal(kVerbs.view()), "kind", kKind.kind, "marker",
      rbac::MarkerStart(kReach), kKind.group.empty() ? std::string_view("core") : kKind.group,
      ",resources=", kKind.plural, kSubresource.view().empty() ? "" : "/",
      Literal(kSubresource.view()), ",verbs=", Literal(kVerbs.view()), rbac::MarkerEnd(kReach)));
#endif
}

}  // namespace call_record_internal

// Leaves the record of one typed call where it is compiled. Does nothing at run time.
template <const rbac::Mandate& kMandate, Watchable T, FixedString kVerb,
          FixedString kSubresource = "">
[[gnu::always_inline]] inline void RecordCall() {
  constexpr KindInfo kKind = KindOf<T>::value;
  if constexpr (MandateDeclares<kMandate, T, kVerb, kSubresource>) {
    LeaveCallNote<CallNoteOf(kMandate.component, kVerb.view(), kKind.group, kKind.plural,
                             kSubresource.view())>();
  } else {
    call_record_internal::RefuseUndeclared<kMandate, T, kVerb, kSubresource>();
  }
}

}  // namespace mandate
