// Where and when a page was made: a figure without these cannot be made again.
#pragma once
#include <string>

namespace kilochain::papers {

/// Processor, cores and system.
std::string machine();
/// 2026-01-31, in universal time.
std::string today();
/// The commit of the tree that a page is written into; "not known" outside one.
std::string commit_of(const std::string& folder);

}  // namespace kilochain::papers
