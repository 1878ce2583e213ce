#pragma once

// Keys of evidence that the runtime and the tools read (SPEC.md, 11).

namespace mote {

// What the model's own file calls an input or output that has another name in the program: kSourceInput + METHOD + "." + NAME.
inline constexpr char kSourceInput[] = "source.input.", kSourceOutput[] = "source.output.";

// The element type that the model's file gives an input or output whose elements are codes in the program (u8, or s8 of signed integers,
// one to a byte), as "float8e4m3fn": kElementInput + METHOD + "." + NAME.
inline constexpr char kElementInput[] = "element.input.", kElementOutput[] = "element.output.";

}  // namespace mote
