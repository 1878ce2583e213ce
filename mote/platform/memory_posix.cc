#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "mote/platform/memory.h"

namespace mote {
namespace {

constexpr size_t kHugePage = 2u << 20;
constexpr size_t kNearlyHuge = kHugePage / 8 * 5;  // so many bytes get a huge page too: entering small ones would take up to a millisecond

#if defined(__linux__) && defined(MADV_POPULATE_WRITE) && defined(MADV_HUGEPAGE)
// The first run shall not pay for a fault of every page: what fills huge pages gets those, the rest, less than one, is entered here and
// now.
void enter_pages(void* memory, size_t bytes) noexcept {
  constexpr uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) / kPage * kPage;
  if (end <= begin) return;
  const size_t huge = (end - begin) / kHugePage * kHugePage, rest = end - begin - huge;
  if (huge > 0) (void)madvise(reinterpret_cast<void*>(begin), huge, MADV_HUGEPAGE);
  if (rest > 0) (void)madvise(reinterpret_cast<void*>(begin + huge), rest, MADV_POPULATE_WRITE);
}
#else
void enter_pages(void*, size_t) noexcept {}
#endif

}  // namespace

void* host_allocate(size_t bytes, size_t alignment) noexcept {
  void* p = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  if (bytes % kHugePage >= kNearlyHuge) bytes = (bytes / kHugePage + 1) * kHugePage;
  if (bytes >= kHugePage && alignment < kHugePage) alignment = kHugePage;
  if (posix_memalign(&p, alignment, bytes > 0 ? bytes : 1) != 0) return nullptr;
  enter_pages(p, bytes);
  return p;
}

void host_release(void* memory) noexcept { free(memory); }

}  // namespace mote
