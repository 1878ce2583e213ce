#include "mote/tools/audio_settings.h"

#include "mote/compiler/audio/attach.h"
#include "mote/compiler/target/toml.h"
#include "mote/tools/failure.h"
#include "mote/tools/files.h"

namespace mote::tools {
namespace {

// "NAME|FILE[,TABLE.KEY=VALUE...]".
audio::FrontEnd read_front_end(const std::string& spec) {
  const size_t comma = spec.find(',');
  const std::string name = spec.substr(0, comma);
  std::vector<std::string> texts;
  if (const char* known = audio::front_end_text(name)) {
    texts.emplace_back(known);
  } else {
    std::vector<uint8_t> bytes;
    std::string error;
    if (!read_whole_file(name, &bytes, &error))
      throw Failure("--audio-frontend: expected " + audio::front_end_names() + " or a description (docs/tinyml.md), found '" + name +
                    "': " + error);
    texts.emplace_back(bytes.begin(), bytes.end());
  }
  for (size_t at = comma; at != std::string::npos;) {
    const size_t next = spec.find(',', at + 1);
    const std::string change = spec.substr(at + 1, next - at - 1);
    const size_t dot = change.find('.'), equals = change.find('=');
    if (dot == std::string::npos || equals == std::string::npos || dot > equals)
      throw usage("--audio-frontend: expected " + name + ",TABLE.KEY=VALUE such as frames.step=160, found '" + change + "'");
    const std::string value = change.substr(equals + 1);
    const bool word = value.find_first_not_of("0123456789+-.eE") != std::string::npos && value[0] != '"';
    texts.push_back("[" + change.substr(0, dot) + "]\n" + change.substr(dot + 1, equals - dot - 1) + " = " +
                    (word ? target::toml_string(value) : value) + "\n");
    at = next;
  }
  audio::FrontEnd f;
  std::string error;
  if (!audio::parse_front_end(texts, &f, &error)) throw Failure("--audio-frontend " + spec + ": " + error);
  return f;
}

}  // namespace

void add_audio_options(CLI::App* c, std::string* front_end, std::string* streaming) {
  c->add_option("--audio-frontend", *front_end,
                "take 16-bit samples and make the model's features of them: " + audio::front_end_names() +
                    " or a description (.toml), with changes behind it: micro,frames.step=160 (docs/tinyml.md)");
  c->add_option(
       "--streaming", *streaming,
       "with --audio-frontend: a run takes the samples of one step and keeps what it needs of those before; the network runs every "
       "N-th time (alone: every time, or as often as a model with states takes all its frames)")
      ->expected(0, 1)
      ->default_str("auto");
}

std::function<bool(ir::Graph&, std::string*)> audio_front_end(const std::string& front_end, const std::string& streaming) {
  audio::AttachOptions options;
  options.streaming = !streaming.empty();
  if (front_end.empty()) {
    if (options.streaming) throw usage("--streaming: expected --audio-frontend with it, found none");
    return nullptr;
  }
  if (options.streaming && streaming != "auto") {
    const bool digits = streaming.size() <= 6 && streaming.find_first_not_of("0123456789") == std::string::npos;
    options.every = digits ? std::stoi(streaming) : 0;
    if (options.every < 1) throw usage("--streaming: expected a number of steps, at least 1, found '" + streaming + "'");
  }
  return [f = read_front_end(front_end), options](ir::Graph& graph, std::string* error) { return audio::attach(graph, f, options, error); };
}

}  // namespace mote::tools
