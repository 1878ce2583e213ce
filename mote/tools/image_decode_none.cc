// For builds without libjpeg and libpng.

#include "mote/tools/image.h"

namespace mote::tools {

bool decode_image(const std::vector<uint8_t>&, int32_t, Pixels*, std::string* error) {
  *error = "this build reads no images: it was made without libjpeg and libpng; give the tensor with --input";
  return false;
}

}  // namespace mote::tools
