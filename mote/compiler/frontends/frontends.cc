#include "mote/compiler/frontends/frontend.h"

namespace mote::frontends {

#define MOTE_FRONTEND(folder)      \
  namespace folder {               \
  extern const Frontend kFrontend; \
  }
#include "mote/compiler/frontends/frontends.def"
#undef MOTE_FRONTEND

namespace {

const Frontend* const kAll[] = {
#define MOTE_FRONTEND(folder) &folder::kFrontend,
#include "mote/compiler/frontends/frontends.def"
#undef MOTE_FRONTEND
};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

const Frontend* find_frontend(const Source& source) {
  for (const Frontend* f : kAll)
    if (f->recognises != nullptr && f->recognises(source)) return f;
  for (const Frontend* f : kAll)
    if (ends_with(source.path, f->extensions)) return f;
  for (const Frontend* f : kAll)
    if (f->resembles != nullptr && f->resembles(source)) return f;
  return nullptr;
}

}  // namespace mote::frontends
