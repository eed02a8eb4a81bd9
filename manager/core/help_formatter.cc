#include "manager/core/help_formatter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kLeft = 30;  // where descriptions begin

// Columns of UTF-8 text without wide characters.
size_t WidthOf(std::string_view text) {
  size_t width = 0;
  for (const unsigned char c : text) width += (c & 0xC0) != 0x80;
  return width;
}

// Adds the words to `row`, in lines of kColumns that begin at the column `left`.
std::string Wrapped(std::string row, std::string_view text, size_t left) {
  size_t width = left;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (width > left && width + 1 + WidthOf(word) > kColumns) {
      row += "\n" + std::string(left, ' ');
      width = left;
    } else if (width > left) {
      row += ' ';
      ++width;
    }
    StrAppend(&row, word);
    width += WidthOf(word);
  }
  return row + "\n";
}

std::string Row(const std::string& left, std::string_view text) {
  std::string row = "  " + left;
  size_t width = WidthOf(row);
  if (width + 2 > kLeft) {
    row += "\n";
    width = 0;
  }
  row.append(kLeft - width, ' ');
  return Wrapped(std::move(row), text, kLeft);
}

// "a,b" as "a, b".
std::string Listed(std::string_view text) {
  return absl::StrReplaceAll(AsAbsl(text), {{",", ", "}});
}

// "TEXT:{a,b}" as "one of a, b", and "UINT in [1 - 9]" as "1 to 9".
std::string Allowed(std::string_view type) {
  if (const size_t open = type.find('{'); open != type.npos) {
    return "one of " + Listed(type.substr(open + 1, type.find('}') - open - 1));
  }
  if (const size_t open = type.find('['); open != type.npos) {
    return absl::StrReplaceAll(AsAbsl(type.substr(open + 1, type.find(']') - open - 1)),
                               {{" - ", " to "}});
  }
  return "";
}

// "[a,b]" as "a, b".
std::string Default(std::string_view text) {
  return text.starts_with('[') ? Listed(text.substr(1, text.size() - 2)) : std::string(text);
}

// The type if it is a name such as "HOST:PORT". Otherwise "VALUE", because CLI11's own names are
// types of C++.
std::string_view Placeholder(std::string_view type) {
  constexpr std::string_view kOwn[] = {"", "TEXT", "INT", "UINT", "FLOAT", "BOOLEAN"};
  const bool name = type.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ:") == type.npos;
  return name && !std::ranges::count(kOwn, type.substr(0, type.find(':'))) ? type : "VALUE";
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string left = make_option_name(option, is_positional);
  std::vector<std::string> notes;
  if (option->get_items_expected_max() != 0) {  // not a flag without a value
    if (!is_positional) StrAppend(&left, " ", Placeholder(option->get_type_name()));
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) left += "…";
    if (const std::string allowed = Allowed(option->get_type_name()); !allowed.empty()) {
      notes.push_back(allowed);
    }
    if (const std::string standard = Default(option->get_default_str()); !standard.empty()) {
      notes.push_back("default: " + standard);
    }
    if (option->get_required()) notes.push_back("required");
  }
  std::string text = option->get_description();
  if (!notes.empty()) StrAppend(&text, " (", absl::StrJoin(notes, "; "), ")");
  return Row(left, text);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return Row(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return Wrapped("", app->get_description(), 0);
}

}  // namespace mandate
