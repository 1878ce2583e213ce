#pragma once

#include <string>

#include "mote/tools/image.h"

namespace mote::tools {

// What to warn of where the metadata does not say how images are prepared; "" where it does.
std::string image_doubt(const MetadataOf& metadata);

}  // namespace mote::tools
