#include "papers/command_line.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "kernels/device/error.hpp"

namespace kilochain::papers {

std::atomic<bool> stop_requested{false};

namespace {

void on_signal(int) {
  stop_requested = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void stop_at_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

std::string write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  require(file.good(), ExitStatus::output, path.string() + ": cannot be written", fmt::format("{} bytes", text.size()),
          "Is there room, and may you write there?");
  return path.string();
}

}  // namespace kilochain::papers
