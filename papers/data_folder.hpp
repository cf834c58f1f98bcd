// Where papers find their data sets.
#pragma once
#include <string>

namespace kilochain::papers {

struct DataFolder {
  std::string path;
  /// `given`, else data/public, else ../shared/data, whichever is there. Throws Error (data) when `given` is not.
  static DataFolder find(const std::string& given);
  /// Throws Error (data), naming scripts/fetch_data, when the file is missing.
  std::string file(const std::string& name) const;
};

}  // namespace kilochain::papers
