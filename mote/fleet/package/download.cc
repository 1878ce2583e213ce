#include "mote/fleet/package/download.h"

#include <algorithm>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"

namespace mote::fleet::package {
namespace {

// The server has other bytes than were signed: no use in asking again at once.
class WrongContent : public Error {
 public:
  using Error::Error;
};

constexpr size_t kSizedPrefix = 16;

// The package so far: verified bytes on the medium, and the piece that is coming.
class Assembly {
 public:
  Assembly(Files& files, const DownloadRequest& request, const std::string& path) : files_(files), request_(request), path_(path) {
    const std::optional<uint64_t> size = files_.size(path_);
    if (!size || *size > request_.bytes) files_.create(path_);
    recall();
  }

  bool complete() const { return header_ && done_ == request_.bytes; }
  uint64_t done() const { return done_; }

  // Where the next bytes belong; bytes that are there already pass by.
  void begin(uint64_t offset) {
    if (offset > done_) throw Error(request_.url + ": the server skips bytes");
    at_ = offset;
    piece_.clear();
  }

  void add(std::string_view bytes) {
    const uint64_t known = std::min<uint64_t>(bytes.size(), done_ - std::min(done_, at_));
    at_ += bytes.size();
    bytes.remove_prefix(known);
    while (!bytes.empty()) {
      const uint64_t wanted = piece_bytes();
      if (wanted == 0) throw WrongContent(request_.url + ": longer than what was signed");
      const size_t take = std::min<uint64_t>(bytes.size(), wanted - piece_.size());
      piece_ += bytes.substr(0, take);
      bytes.remove_prefix(take);
      if (piece_.size() == piece_bytes()) finish_piece();
    }
  }

 private:
  // What a reader says against the server's bytes.
  template <class Work>
  auto as_signed(Work work) const {
    try {
      return work();
    } catch (const Error& e) {
      throw WrongContent(request_.url + ": " + e.what());
    }
  }

  // Length of the piece that starts at done_: the header (its first bytes tell how long it is), then chunks.
  uint64_t piece_bytes() const {
    if (header_) return std::min(kChunkBytes, request_.bytes - done_);
    return piece_.size() < kSizedPrefix ? kSizedPrefix : as_signed([&] { return header_bytes(piece_); });
  }

  bool accept_header(std::string_view bytes) {
    if (digest(bytes) != request_.header_sha256) return false;
    header_ = as_signed([&] { return parse_header(bytes); });
    if (header_->bytes + header_->manifest.payload_bytes != request_.bytes)
      throw WrongContent(request_.url + ": its header tells another length");
    return true;
  }

  bool accept(std::string_view bytes) {
    if (!header_) return accept_header(bytes);
    return chunk_matches(header_->manifest, (done_ - header_->bytes) / kChunkBytes, bytes);
  }

  void finish_piece() {
    if (!accept(piece_)) throw WrongContent(request_.url + ": the piece at byte " + std::to_string(done_) + " is not what was signed");
    files_.write(path_, done_, piece_);
    files_.sync(path_);
    done_ += piece_.size();
    piece_.clear();
  }

  // What an earlier run left.
  void recall() try {
    const std::string start = files_.read(path_, 0, kSizedPrefix);
    if (!is_package(start)) return;
    const std::string header = files_.read(path_, 0, header_bytes(start));
    if (!accept_header(header)) return;
    for (done_ = header.size(); done_ < request_.bytes;) {
      const std::string chunk = files_.read(path_, done_, piece_bytes());
      if (!accept(chunk)) return;
      done_ += chunk.size();
    }
  } catch (const WrongContent&) {
    throw;
  } catch (const IoError&) {
    throw;
  } catch (const Error&) {
    // Not the start of this package: it is written over.
  }

  Files& files_;
  const DownloadRequest& request_;
  const std::string path_;
  std::optional<Header> header_;
  uint64_t done_ = 0, at_ = 0;  // verified and written; position in the transfer
  std::string piece_;
};

}  // namespace

DownloadReport download(Fetcher& fetcher, Files& files, Clock& clock, const DownloadRequest& request, const std::string& path) {
  DownloadReport report;
  Assembly assembly(files, request, path);
  std::string etag;
  for (int idle = 0; !assembly.complete();) {
    FetchRequest get;
    get.url = request.url;
    get.offset = assembly.done();
    get.if_etag = etag;
    get.max_bytes = request.bytes;
    get.max_bytes_per_second = request.max_bytes_per_second;
    const uint64_t before = assembly.done();
    ++report.attempts;
    const Fetcher::Sink sink = {[&](const FetchReply& reply) {
                                  etag = reply.etag;
                                  assembly.begin(reply.offset);
                                },
                                [&](std::string_view bytes) {
                                  report.fetched_bytes += bytes.size();
                                  assembly.add(bytes);
                                }};
    try {
      fetcher.get(get, sink);
      if (!assembly.complete() && assembly.done() == before) throw WrongContent(request.url + ": shorter than what was signed");
    } catch (const WrongContent&) {
      throw;
    } catch (const IoError&) {
      throw;
    } catch (const Error&) {
      idle = assembly.done() > before ? 0 : idle + 1;
      if (idle >= request.idle_attempts) throw;
      clock.sleep_ms(1000LL << std::min(idle, 6));
    }
  }
  return report;
}

}  // namespace mote::fleet::package
