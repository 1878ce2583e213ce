#pragma once

#include "mote/compiler/program/records.h"

namespace mote::placement {

// Tells each delegate how many instructions behind it may run while its backend works: those that neither touch its outputs nor write to
// its inputs (mote/format/delegate.h). Records are complete but for the certificate.
void record_overlaps(program::ProgramRecords* records);

}  // namespace mote::placement
