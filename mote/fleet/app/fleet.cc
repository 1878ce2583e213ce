#include "mote/fleet/app/fleet.h"

#include <cstring>

#include "mote/fleet/app/active.h"

namespace {

using mote::fleet::app::Active;

void say(const char* text, char* why, size_t why_bytes) {
  if (why == nullptr || why_bytes == 0) return;
  const size_t n = std::min(std::strlen(text), why_bytes - 1);
  std::memcpy(why, text, n);
  why[n] = '\0';
}

}  // namespace

// The handle: a model with the thread that may watch it. `used` keeps the thread's polls and the application's calls apart.
struct mote_fleet {
  mote_fleet(const char* dir, const char* id) : files(dir), active(files, clock, dir, id) {}

  mote::fleet::SystemFiles files;
  mote::fleet::SystemClock clock;
  Active active;
  std::mutex used;

  std::thread watcher;
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;

  void watch(uint32_t period_ms, mote_fleet_swap_fn swap, void* context) {
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex);
        if (changed.wait_for(lock, std::chrono::milliseconds(period_ms), [&] { return stop; })) return;
      }
      if (mote_fleet_poll(this) != 1) continue;
      mote_fleet* next = mote_fleet_open(active.dir().c_str(), active.id().c_str(), nullptr, 0);
      if (next == nullptr) continue;
      (void)mote_fleet_watch(next, period_ms, swap, context);
      swap(context, next);  // may close this handle
      return;
    }
  }
};

namespace {

// 0, or -1 for what goes wrong: an application has its own work to do.
template <class Work>
int attempt(mote_fleet* model, Work work) {
  try {
    const std::lock_guard<std::mutex> lock(model->used);
    return work();
  } catch (const std::exception&) {
    return -1;
  }
}

}  // namespace

extern "C" {

mote_fleet* mote_fleet_open(const char* dir, const char* id, char* why, size_t why_bytes) {
  try {
    return new mote_fleet(dir, id);
  } catch (const std::exception& e) {
    say(e.what(), why, why_bytes);
    return nullptr;
  }
}

const void* mote_fleet_program(const mote_fleet* model, size_t* out_bytes) {
  if (out_bytes != nullptr) *out_bytes = model->active.program().size();
  return model->active.program().data();
}

const char* mote_fleet_version(const mote_fleet* model) { return model->active.version().c_str(); }
int mote_fleet_in_trial(const mote_fleet* model) { return model->active.in_trial() ? 1 : 0; }
void mote_fleet_ran(mote_fleet* model, uint64_t microseconds) { model->active.ran(microseconds); }

int mote_fleet_confirm(mote_fleet* model) {
  return attempt(model, [&] { return model->active.confirm(), 0; });
}

int mote_fleet_give_up(mote_fleet* model, const char* reason) {
  return attempt(model, [&] { return model->active.give_up(reason != nullptr ? reason : ""), 0; });
}

int mote_fleet_poll(mote_fleet* model) {
  return attempt(model, [&] { return model->active.poll() ? 1 : 0; });
}

int mote_fleet_watch(mote_fleet* model, uint32_t period_ms, mote_fleet_swap_fn swap, void* context) {
  if (model->watcher.joinable() || swap == nullptr || period_ms == 0) return -1;
  try {
    model->watcher = std::thread([=] { model->watch(period_ms, swap, context); });
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

void mote_fleet_close(mote_fleet* model) {
  if (model == nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(model->mutex);
    model->stop = true;
  }
  model->changed.notify_all();
  // In the callback the watching thread itself closes its handle: it touches nothing of it afterwards.
  if (model->watcher.joinable()) {
    if (model->watcher.get_id() == std::this_thread::get_id()) model->watcher.detach();
    else model->watcher.join();
  }
  (void)attempt(model, [&] { return model->active.close(), 0; });
  delete model;
}

}  // extern "C"
