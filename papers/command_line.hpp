// What the subcommands of all papers do alike: they say lines, write files whole, and end at Ctrl-C.
#pragma once
#include <atomic>
#include <filesystem>
#include <string>

namespace kilochain::papers {

/// True after SIGINT or SIGTERM, once stop_at_signals was called. A second SIGINT ends the program at once.
extern std::atomic<bool> stop_requested;
void stop_at_signals();

/// A line on standard error.
void say(const std::string& line);

/// Replaces the file; returns its path. Error (output) when that fails.
std::string write(const std::filesystem::path& path, const std::string& text);

}  // namespace kilochain::papers
