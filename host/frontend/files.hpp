// Folders and files that commands write whole.
#pragma once
#include <filesystem>
#include <string>

namespace kilochain::cli {

/// Makes the folder of an --output, where it is not there yet. Throws Error (usage).
void make_folder(const std::filesystem::path& path);
/// Replaces the file. Throws Error (output).
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace kilochain::cli
