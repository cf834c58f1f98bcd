// The rows as tables for people: on the terminal, and as a page of the documentation.
// Rows are JSON as to_json(RowResult) makes them, so that those of an earlier run can stand beside new ones.
#pragma once
#include "kernels/choices.hpp"
#include "papers/reproduction.hpp"

namespace kilochain::titsias2019 {

/// Lines of one table: ours, the published figures, the authors' code run again, and ours over the published.
papers::Rows table_cells(const std::vector<nlohmann::json>& rows);
/// Which rows agree and which do not, with the reason; judged anew, whatever the rows say of themselves: a line each.
std::vector<std::string> verdicts(const std::vector<nlohmann::json>& rows);

struct Page {
  std::string command;
  Precision real = Precision::double_precision;
  std::vector<nlohmann::json> rows;  ///< with "date" and "commit" each
  std::vector<std::string> missing;  ///< rows of the paper that have not been run
  std::vector<int> figures;          ///< those whose data lie beside the page
  std::string stem;                  ///< of the pictures' file names
};
std::string markdown(const Page& page);

}  // namespace kilochain::titsias2019
