#pragma once

// Keys of evidence that the runtime reads (SPEC.md, 11).

namespace mote {

// What the model's own file calls an input or output that has another name in the program: kSourceInput + METHOD + "." + NAME.
inline constexpr char kSourceInput[] = "source.input.", kSourceOutput[] = "source.output.";

}  // namespace mote
