// Takes the place of the allocator in stress_fenced: blocks end at a page that nobody may touch, and what was freed stays out of reach. So
// accesses past the end and after the end are seen in code that no sanitizer compiled: optimised kernels, libraries, what a driver
// compiles. Linux, glibc.

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* __libc_realloc(void* block, size_t size);
void __libc_free(void* block);
}

namespace {

constexpr size_t kPage = 4096, kArena = size_t{1} << 40, kPages = kArena / kPage;
constexpr size_t kSmall = 80;  // of operator new: smaller blocks are no tensors
constexpr uint8_t kFill = 0xc5;
constexpr size_t kMostLive = 12000;  // the system allows a process 65530 ranges of pages; beyond, blocks are ordinary (a driver's compiler)

// Of a block, at the number of its first page.
struct Block {
  uint32_t pages;
  uint32_t size;
  uint64_t data;
};

uint8_t* arena;
Block* blocks;
std::atomic<size_t> next_page{0}, live{0};

void set_up() {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  arena = static_cast<uint8_t*>(mmap(nullptr, kArena, PROT_NONE, flags, -1, 0));
  blocks = static_cast<Block*>(mmap(nullptr, kPages * sizeof(Block), PROT_READ | PROT_WRITE, flags, -1, 0));
  if (arena == MAP_FAILED || blocks == MAP_FAILED) std::abort();
}
// Before main, and before any other thread.
struct SetUp {
  SetUp() {
    if (arena == nullptr) set_up();
  }
} early;

[[noreturn]] void give_up(const char* what) {
  if (write(2, what, std::strlen(what)) < 0) _exit(3);
  std::abort();
}

void* take(size_t size, size_t alignment) {
  if (arena == nullptr) set_up();
  const size_t pages = (size + kPage - 1) / kPage + (size == 0 ? 1 : 0), gap = alignment > kPage ? alignment / kPage : 0;
  if (size > UINT32_MAX - kPage) return nullptr;
  if (live.fetch_add(1) >= kMostLive) {
    live.fetch_sub(1);
    return __libc_memalign(alignment, size);
  }
  const size_t first = next_page.fetch_add(pages + gap + 1);
  if (first + pages + gap + 1 >= kPages) give_up("fenced_memory: the address space is used up\n");
  uint8_t* begin = arena + first * kPage;
  uint8_t* end = begin + (pages + gap) * kPage;
  auto at = (reinterpret_cast<uintptr_t>(end) - size) / alignment * alignment;
  auto* data = reinterpret_cast<uint8_t*>(at);
  // Whole pages around the block; those in front of them, of large alignments, stay closed.
  uint8_t* from = reinterpret_cast<uint8_t*>(at / kPage * kPage);
  uint8_t* to = from + (static_cast<size_t>(data - from) + (size > 0 ? size : 1) + kPage - 1) / kPage * kPage;
  if (mprotect(from, static_cast<size_t>(to - from), PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::memset(data + size, kFill, static_cast<size_t>(to - data) - size);
  Block& b = blocks[static_cast<size_t>(from - arena) / kPage];
  b = {static_cast<uint32_t>((to - from) / static_cast<ptrdiff_t>(kPage)), static_cast<uint32_t>(size), at};
  return data;
}

bool is_fenced(const void* block) {
  return arena != nullptr && static_cast<const uint8_t*>(block) >= arena && static_cast<const uint8_t*>(block) < arena + kArena;
}

size_t first_page(const void* block) { return static_cast<size_t>(static_cast<const uint8_t*>(block) - arena) / kPage; }

void give_back(void* block) {
  const size_t first = first_page(block);
  Block& b = blocks[first];
  if (b.pages == 0 || b.data != reinterpret_cast<uintptr_t>(block)) give_up("fenced_memory: freed twice, or never allocated\n");
  const uint8_t* end = arena + (first + b.pages) * kPage;
  for (const uint8_t* p = static_cast<uint8_t*>(block) + b.size; p < end; ++p)
    if (*p != kFill) give_up("fenced_memory: written past the end of a block\n");
  const size_t bytes = b.pages * kPage;
  b = {};
  live.fetch_sub(1);
  madvise(arena + first * kPage, bytes, MADV_DONTNEED);
  mprotect(arena + first * kPage, bytes, PROT_NONE);
}

}  // namespace

extern "C" {
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = take(size, alignment);
  return *out != nullptr ? 0 : ENOMEM;
}
void* aligned_alloc(size_t alignment, size_t size) { return take(size, alignment); }
void free(void* block) {
  if (is_fenced(block)) give_back(block);
  else __libc_free(block);
}
void* realloc(void* block, size_t size) {
  if (!is_fenced(block)) return __libc_realloc(block, size);
  void* moved = __libc_malloc(size);
  const size_t old = blocks[first_page(block)].size;
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, old < size ? old : size);
  give_back(block);
  return moved;
}
}

void* operator new(size_t size) {
  void* p = size >= kSmall ? take(size, 16) : __libc_malloc(size > 0 ? size : 1);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* block) noexcept { free(block); }
void operator delete[](void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }
void operator delete[](void* block, size_t) noexcept { free(block); }
