// What a binary may ask of an API server, written into the binary: each typed call that was
// compiled leaves an ELF note, which rbacgen/calls reads.
//
// The section ".note.mandate.calls" holds notes (System V ABI, "Note Section"), one after another,
// in the byte order of the machine:
//
//   bytes  what
//   4      8: the size of the owner
//   4      224: the size of the text
//   4      1: the type, kCallNoteType
//   8      the owner: "Mandate", NUL
//   224    the text: component ("*" is each), verb, group ("" is core), resource and subresource
//          ("" is none), each ended by a NUL; NULs up to the end
//
// A call that stands in several places can leave several equal notes. So do the kinds that a
// controller is built to watch (controller/builder_for.h), and events, which the runtime writes for
// each component. What is known only at run time leaves none: demands of a DemandSpec, requests by
// RestClient.
#ifndef MANAGER_CLIENT_CALL_NOTE_H_
#define MANAGER_CLIENT_CALL_NOTE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mandate {

inline constexpr std::string_view kCallNoteSection = ".note.mandate.calls";
inline constexpr std::string_view kCallNoteOwner{"Mandate\0", 8};
inline constexpr uint32_t kCallNoteType = 1;
inline constexpr size_t kCallNoteText = 224;

}  // namespace mandate

#endif  // MANAGER_CLIENT_CALL_NOTE_H_
