// A file of draws as one page for a browser: figures as JSON inside page.html, which draws them.
// Nothing is loaded from elsewhere. Looked at closely: the log density and the worst parameters.
// Sizes do not grow with the chains: 400 rows of a map, the farthest chains and an even choice of the others;
// 2 000 rows of the table; 300 divergences. About 0.3 MB for 100 parameters. Memory: as diagnose.
// The worst parameters are read once more. The same file gives the same page.
#pragma once
#include "host/report/diagnosis.hpp"

namespace kilochain {

/// The text of the page.
std::string page_of(const std::string& path, const Diagnosis& diagnosis);

/// page.html, which the build puts into the program.
extern const char* const page_text;

}  // namespace kilochain
