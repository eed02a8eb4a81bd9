#include "rbacgen/report/table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "manager/core/printable.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[31m", kPlain = "\x1b[0m";

size_t Width(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

Table::Table(std::vector<Column> columns, bool colour)
    : columns_(std::move(columns)), colour_(colour) {}

void Table::Add(std::vector<std::string> cells, bool highlight) {
  cells.resize(columns_.size());
  // Control characters from a log must not reach the terminal.
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back({std::move(cells), highlight});
}

std::string Table::Write() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(Width(column.title));
  for (const Row& row : rows_) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], Width(row.cells[i]));
  }
  std::string out;
  const auto line = [&](const auto& cell, std::string_view style, size_t styled_from) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& value = cell(i);
      const std::string blanks(widths[i] - Width(value), ' ');
      const bool right = columns_[i].align == Align::kRight;
      if (right) text += blanks;
      const bool styled = colour_ && !style.empty() && i >= styled_from;
      if (styled) text += style;
      text += value;
      if (styled) text += kPlain;
      if (!right) text += blanks;
      text += "  ";
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  };
  line([&](size_t i) -> const std::string& { return columns_[i].title; }, kBold, 0);
  for (const Row& row : rows_) {
    line([&](size_t i) -> const std::string& { return row.cells[i]; },
         row.highlight ? kRed : std::string_view(), columns_.size() - 1);
  }
  return out;
}

}  // namespace mandate::rbacgen
