// Rows of text, aligned in columns.
#pragma once

#include <string>
#include <vector>

namespace mandate::rbacgen {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  // With `colour`, titles are bold.
  Table(std::vector<Column> columns, bool colour);

  // `cells` has one cell for each column. `highlight` colours the row's last cell red.
  void Add(std::vector<std::string> cells, bool highlight = false);
  std::string Write() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool highlight;
  };

  std::vector<Column> columns_;
  bool colour_;
  std::vector<Row> rows_;
};

}  // namespace mandate::rbacgen
