// A build without OpenSSL or libcurl has no `mote package`, `mote repo` and `mote fleet`.

#include "mote/tools/commands.h"

namespace mote::tools {

void add_package(CLI::App&, Context&) {}
void add_fleet(CLI::App&, Context&) {}
void add_repo(CLI::App&, Context&) {}

}  // namespace mote::tools
