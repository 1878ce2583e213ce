// Every failure code at every gate: the verdict is the one that docs/fleet.md states.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "mote/fleet/agent/trial.h"
#include "mote/fleet/agent/verdict.h"

namespace mote::fleet::agent {
namespace {

constexpr int kLastCode = MOTE_NOT_BOUND;

std::string trimmed(std::string s) {
  const size_t begin = s.find_first_not_of(" `"), end = s.find_last_not_of(" `");
  return begin == std::string::npos ? "" : s.substr(begin, end - begin + 1);
}

// First cell of each row of the documented table -> the others.
std::map<std::string, std::vector<std::string>> documented() {
  std::ifstream in(std::string(MOTE_SOURCE_DIR) + "/docs/fleet.md");
  std::map<std::string, std::vector<std::string>> out;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find("| code |") == 0) inside = true;
    else if (line.empty()) inside = false;
    if (!inside || line[0] != '|') continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(trimmed(cell));
    std::istringstream codes(cells[0]);  // several codes may share a row
    for (std::string code; std::getline(codes, code, ',');) out[trimmed(code)] = {cells.begin() + 1, cells.end()};
  }
  return out;
}

GoldenReport report_of(int code, bool opened) {
  GoldenReport r;
  r.code = static_cast<mote_code>(code);
  r.opened = opened;
  r.failure = code == MOTE_OK ? "" : "why";
  r.outputs = code == MOTE_OK ? 1 : 0;
  return r;
}

TEST(Gates, EveryCodeAtEveryGateIsAsDocumented) {
  const auto table = documented();
  ASSERT_GE(table.size(), 19u);
  const auto stated = [&](const std::string& code, Gate gate, bool opened) {
    const auto row = table.find(code);
    if (row == table.end() || row->second.size() < 4) return "no row for " + code;
    return row->second[(gate == Gate::kProbe ? 0u : 2u) + (opened ? 1u : 0u)];
  };
  for (int code = MOTE_INVALID_ARGUMENT; code <= 255; ++code) {
    const std::string name = code <= kLastCode ? mote_code_name(static_cast<mote_code>(code)) : "Unknown";
    for (const Gate gate : {Gate::kProbe, Gate::kTrial}) {
      for (const bool opened : {false, true}) {
        const Verdict v = verdict(gate, report_of(code, opened), false);
        EXPECT_EQ(name_of(v), stated(name, gate, opened)) << name << (opened ? " running" : " opening");
        EXPECT_NE(v, Verdict::kPass) << name;
        EXPECT_NE(v, Verdict::kApplication) << name;
      }
    }
  }
}

TEST(Gates, OnlyWhatWasDeclaredIsLeftToTheApplication) {
  for (int code = MOTE_OK; code <= 255; ++code) {
    for (const Gate gate : {Gate::kProbe, Gate::kTrial}) {
      GoldenReport r = report_of(code, false);
      r.op = "acme::blend";
      r.failure = "cannot open: backend missing: 'npu'";
      package::Requirements needs;
      needs.ops = {"mote::relu", "acme::blend"};
      needs.backends = {"cpu", "npu"};
      const bool may = code == MOTE_UNSUPPORTED || code == MOTE_BACKEND;
      EXPECT_EQ(lacks_declared(r, declared_parts(needs, {"npu"}, {"acme::blend"})), may) << code;
      for (const Declared& none : {declared_parts(needs, {}, {}), declared_parts({}, {"npu"}, {"acme::blend"}),
                                   declared_parts(needs, {"gpu"}, {"acme::bland", "mote::relu"})}) {
        EXPECT_FALSE(lacks_declared(r, none)) << code;
        if (code != MOTE_OK) {
          EXPECT_NE(verdict(gate, r, lacks_declared(r, none)), Verdict::kPass) << code;
          EXPECT_NE(verdict(gate, r, lacks_declared(r, none)), Verdict::kApplication) << code;
        }
      }
      r.opened = true;  // nothing can turn out to be missing later
      EXPECT_FALSE(lacks_declared(r, declared_parts(needs, {"npu"}, {"acme::blend"}))) << code;
      if (may) {
        EXPECT_EQ(verdict(gate, report_of(code, false), true), Verdict::kApplication);
      }
    }
  }
}

TEST(Gates, ExamplesThatAreRightWrongOrNotThere) {
  for (const Gate gate : {Gate::kProbe, Gate::kTrial}) {
    GoldenReport r = report_of(MOTE_OK, true);
    EXPECT_EQ(verdict(gate, r, false), Verdict::kPass);
    r.failure = "output y is not what it must be";
    EXPECT_EQ(verdict(gate, r, false), Verdict::kFail);
    r.failure.clear();
    r.outputs = 0;
    EXPECT_EQ(verdict(gate, r, false), Verdict::kApplication);
  }
}

// Golden examples that were not run, or could not be, never make a gate good by themselves.
TEST(Gates, WithoutAJudgementTheTrialIsUndecided) {
  std::string why;
  for (const uint64_t runs : {uint64_t{0}, uint64_t{19}, uint64_t{20}}) {
    for (const bool confirmed : {false, true}) {
      for (const Golden golden : {Golden::kNotRun, Golden::kPassed, Golden::kApplication}) {
        Observations seen;
        seen.starts = 1;
        seen.runs = runs;
        seen.golden = golden;
        const bool decided = golden == Golden::kPassed || (golden == Golden::kApplication && (runs >= 20 || confirmed));
        EXPECT_EQ(judge({}, seen, confirmed, &why), decided ? store::Health::kGood : store::Health::kUndecided)
            << runs << confirmed << static_cast<int>(golden);
      }
    }
  }
}

}  // namespace
}  // namespace mote::fleet::agent
