#include "papers/data_folder.hpp"

#include <filesystem>

#include "base/error.hpp"

namespace kilochain::papers {

DataFolder DataFolder::find(const std::string& given) {
  if (!given.empty()) {
    require(std::filesystem::is_directory(given), ExitStatus::data, given + ": no such folder", "--data-dir",
            "Fetch the data with scripts/fetch_data, or name the folder that holds them?");
    return {given};
  }
  for (const char* folder : {"data/public", "../shared/data"})
    if (std::filesystem::exists(std::filesystem::path(folder) / "ripley.csv")) return {folder};
  return {"data/public"};
}

std::string DataFolder::file(const std::string& name) const {
  const std::string whole = (std::filesystem::path(path) / name).string();
  require(std::filesystem::exists(whole), ExitStatus::data, whole + ": the data set is not here",
          "looked for in " + path,
          "Fetch it with scripts/fetch_data, or name the folder that holds it with --data-dir?");
  return whole;
}

}  // namespace kilochain::papers
