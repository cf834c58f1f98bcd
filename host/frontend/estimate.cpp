#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/text.hpp"
#include "host/run/run.hpp"

namespace kilochain::cli {
namespace {

std::string right(std::string text, std::size_t width) { return fmt::format("{:>{}}", text, width); }

std::string total(const char* where, std::size_t bytes, std::size_t available) {
  return fmt::format("  {:<7} {} of {} available{}\n", where, right(bytes_text(bytes), 8), bytes_text(available),
                     bytes > available ? "  DOES NOT FIT" : "");
}

/// Keys: rows [{what, where, bytes}], bytes and available {host, device, disk}, seconds (or null), fits, advice.
nlohmann::json to_json(const Estimate& e) {
  const auto known = [](double seconds) { return seconds < 0 ? nlohmann::json(nullptr) : nlohmann::json(seconds); };
  nlohmann::json rows = nlohmann::json::array();
  for (const Estimate::Row& row : e.rows)
    rows.push_back({{"what", row.what}, {"where", row.where}, {"bytes", row.bytes}});
  return {{"rows", rows},
          {"bytes", {{"host", e.host_bytes}, {"device", e.device_bytes}, {"disk", e.disk_bytes}}},
          {"available", {{"host", e.host_available}, {"device", e.device_available}, {"disk", e.disk_available}}},
          {"least", {{"seconds", known(e.least_seconds)}, {"disk", e.least_disk}}},
          {"most", {{"seconds", known(e.most_seconds)}, {"disk", e.most_disk}}},
          {"seconds", known(e.seconds)},
          {"fits", e.fits},
          {"advice", e.advice}};
}

}  // namespace

std::string estimate_table(const Estimate& e) {
  std::vector<std::vector<std::string>> rows = {{"what", "where", "   bytes"}};
  for (const Estimate::Row& row : e.rows) rows.push_back({row.what, row.where, right(bytes_text(row.bytes), 8)});
  std::string out = columns(rows) + "total\n" + total("host", e.host_bytes, e.host_available);
  if (e.device_bytes > 0 || e.device_available > 0) out += total("device", e.device_bytes, e.device_available);
  if (e.disk_bytes > 0) out += total("disk", e.disk_bytes, e.disk_available);
  out += fmt::format("time    {}\n", e.seconds < 0 ? "not known beforehand" : "about " + seconds_text(e.seconds));
  if (e.most_seconds > e.least_seconds)
    out += fmt::format("        {} to {}: the length is automatic\n", seconds_text(e.least_seconds),
                       seconds_text(e.most_seconds));
  if (e.most_disk > e.least_disk)
    out += fmt::format("        and the file has {} to {}\n", bytes_text(e.least_disk), bytes_text(e.most_disk));
  for (const std::string& note : e.notes) out += "note: " + note + "\n";
  out += fmt::format("{}\n", e.fits ? "It fits." : "It does not fit.");
  if (!e.advice.empty()) out += e.advice + "\n";
  return out;
}

int estimate(const std::vector<std::string>& arguments) {
  const auto c = configuration_of("estimate", arguments);
  if (!c) return 0;
  const Estimate e = kilochain::estimate(c->options);
  if (c->json)
    fmt::print("{}\n", to_json(e).dump(2));
  else
    fmt::print("{}", estimate_table(e));
  return exit_code(e.fits ? ExitStatus::done : ExitStatus::usage);
}

}  // namespace kilochain::cli
