#include "host/frontend/progress_printer.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "host/frontend/text.hpp"

namespace kilochain::cli {

std::string progress_text(const Progress& p) {
  std::string line = fmt::format("{:<8} {}", p.phase, p.done);
  if (p.total > 0) line += fmt::format("/{} {:3.0f} %", p.total, 100.0 * p.done / p.total);
  if (p.iterations_per_second > 0) line += "  " + figure(p.iterations_per_second, 3) + " it/s";
  // An automatic warm-up may end at its next look, or at its limit; scouts are fewer than chains, and quicker.
  double latest = p.seconds_left >= 0 ? p.seconds_left : INFINITY;
  if (p.done > 0 && p.iterations_per_second > 0 && p.waits_for.find("scouts") == std::string::npos)
    latest = std::min(latest, std::max(0.0, (most_automatic_warmup - p.done) / p.iterations_per_second));
  if (p.total == 0 && std::isfinite(latest)) line += "  ETA up to " + seconds_text(latest);
  if (p.eta_seconds >= 0) line += "  ETA " + seconds_text(p.eta_seconds);
  line += fmt::format("  accept {:.3f}", p.acceptance_rate);
  if (std::isfinite(p.rhat_max)) line += fmt::format("  R-hat {:.3f}", p.rhat_max);
  if (std::isfinite(p.ess_min)) line += fmt::format("  ESS {:.0f}", p.ess_min);
  if (p.quarantined > 0) line += fmt::format("  quarantined {}", p.quarantined);
  if (!p.waits_for.empty()) line += "  " + p.waits_for;
  return line;
}

ProgressPrinter::ProgressPrinter(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

void ProgressPrinter::operator()(const Progress& progress) { line(progress.phase, progress_text(progress)); }

void ProgressPrinter::line(const std::string& phase, const std::string& text) {
  const Clock::time_point now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(3000);
  if (phase == phase_ && now - last_ < pause) return;
  phase_ = phase;
  last_ = now;
  std::string line = text;
  if (terminal_) {
    winsize size{};
    if (ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && line.size() >= size.ws_col)
      line.resize(size.ws_col - 1u);
    std::fprintf(out_, "\r%s\033[K", line.c_str());
    drawn_ = true;
  } else {
    std::fprintf(out_, "%s\n", line.c_str());
  }
  std::fflush(out_);
}

void ProgressPrinter::finish() {
  if (drawn_) std::fputs("\r\033[K", out_);
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace kilochain::cli
