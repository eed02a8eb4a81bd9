// Text from users and servers, made safe to show on a terminal.
#ifndef CONTROLLERS_PRINTABLE_H_
#define CONTROLLERS_PRINTABLE_H_

#include <string>
#include <string_view>

namespace mandate {

// `text` with control characters (C0, DEL, C1) and the characters that reorder text (such as
// U+202E) written as escapes: "\x1b", "\u202e". Other text stays as it is.
std::string Printable(std::string_view text);

}  // namespace mandate

#endif  // CONTROLLERS_PRINTABLE_H_
