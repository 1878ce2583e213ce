"""Programs and libraries are linked so that errors in memory are harder to use: what the loader wrote is read-only (RELRO,
BIND_NOW), the stack is not executable, programs lie anywhere (PIE). Files behind --code and --mixed are compiled with stack
protector and FORTIFY too, and with CET (x86-64) or BTI and PAC (aarch64): every object file behind --objects says so in its
property note. The linker hands that note on only where each object that it links has it, the C library's start files (behind
--start) too: then the linked files of --code must have it; otherwise the check says what stands in the way. --mixed: with device
code in it, which is compiled without.

  elf_hardening.py [--code FILE]... [--mixed FILE]... [--objects FILE.o|FILE.a]... [--start FILE.o]...
"""
import argparse
import re
import struct
import sys

PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 2, 3, 0x6474E551, 0x6474E552
DT_STRTAB, DT_STRSZ, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_TEXTREL = 5, 10, 24, 30, 0x6FFFFFFB, 22
EM_X86_64, EM_AARCH64, ET_DYN = 62, 183, 3
# type of the note's property, its bits, their names
FEATURES = {EM_X86_64: (0xC0000002, 3, "CET (IBT, SHSTK)"), EM_AARCH64: (0xC0000000, 3, "branch protection (BTI, PAC)")}


class Elf:
    def __init__(self, path, data=None):
        self.data = data = data or open(path, "rb").read()
        if data[:4] != b"\x7fELF" or data[5] != 1:
            sys.exit(f"{path}: no little-endian ELF file")
        self.wide = wide = data[4] == 2
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        offset, = struct.unpack_from("<Q" if wide else "<I", data, 32 if wide else 28)
        size, count = struct.unpack_from("<HH", data, 54 if wide else 42)
        self.segments = {}
        self.loads = []
        for i in range(count):
            at = offset + i * size
            if wide:
                kind, flags, start, address, _, bytes_in_file = struct.unpack_from("<IIQQQQ", data, at)
            else:
                kind, start, address, _, bytes_in_file, _, flags = struct.unpack_from("<IIIIIII", data, at)
            self.segments.setdefault(kind, (flags, start, bytes_in_file))
            if kind == 1:
                self.loads.append((address, start, bytes_in_file, flags))
        _, start, length = self.segments.get(PT_DYNAMIC, (0, 0, 0))
        step = 16 if wide else 8
        self.dynamic = {}
        for at in range(start, start + length, step):
            tag, value = struct.unpack_from("<QQ" if wide else "<II", data, at)
            self.dynamic[tag] = value

    def imported_text(self):
        address, size = self.dynamic[DT_STRTAB], self.dynamic[DT_STRSZ]
        for base, start, length, _ in self.loads:
            if base <= address < base + length:
                return self.data[start + address - base:][:size]
        return b""

    def property_note(self):
        """The bytes of .note.gnu.property; a linked file keeps its sections too, stripped or not."""
        wide, data = self.wide, self.data
        table, = struct.unpack_from("<Q" if wide else "<I", data, 40 if wide else 32)
        size, count, names = struct.unpack_from("<HHH", data, 58 if wide else 46)
        sections = []
        for i in range(count):
            at = table + i * size
            name, = struct.unpack_from("<I", data, at)
            sections.append((name, *struct.unpack_from("<QQ" if wide else "<II", data, at + (24 if wide else 16))))
        for name, start, length in sections:
            at = sections[names][1] + name
            if data[at:data.index(b"\0", at)] == b".note.gnu.property":
                yield data[start:start + length]

    def has_features(self):
        """Does the property note say that indirect branches and returns are protected? None: not asked of this machine."""
        if self.machine not in FEATURES or not self.wide:
            return None
        wanted, bits, _ = FEATURES[self.machine]
        for note in self.property_note():
            at = 0
            while at + 16 <= len(note):
                name_bytes, length, kind = struct.unpack_from("<III", note, at)
                start = at + 12 + (name_bytes + 3) // 4 * 4
                at = start + (length + 7) // 8 * 8
                inside = start
                while kind == 5 and inside + 8 <= start + length:  # NT_GNU_PROPERTY_TYPE_0
                    what, value_bytes = struct.unpack_from("<II", note, inside)
                    if what == wanted and value_bytes == 4:
                        return struct.unpack_from("<I", note, inside + 8)[0] & bits == bits
                    inside += 8 + (value_bytes + 7) // 8 * 8
        return False


def objects_of(path):
    """Name and Elf of each object in an archive, or of the object that the file is."""
    data = open(path, "rb").read()
    if not data.startswith(b"!<arch>\n"):
        yield path, Elf(path, data)
        return
    at, long_names = 8, b""
    while at + 60 <= len(data):
        name, size = data[at:at + 16].rstrip(), int(data[at + 48:at + 58])
        member = data[at + 60:at + 60 + size]
        if name == b"//":
            long_names = member
        elif member[:4] == b"\x7fELF":
            if name[:1] == b"/":
                start = int(name[1:])
                name = long_names[start:long_names.index(b"\n", start)]
            yield f"{path.rsplit('/', 1)[-1]}({name.decode().rstrip('/')})", Elf(path, member)
        at += 60 + size + size % 2


def missing(elf, note):
    out = []
    if PT_GNU_RELRO not in elf.segments:
        out.append("RELRO")
    if DT_BIND_NOW not in elf.dynamic and not elf.dynamic.get(DT_FLAGS, 0) & 8 and not elf.dynamic.get(DT_FLAGS_1, 0) & 1:
        out.append("BIND_NOW")
    if elf.segments.get(PT_GNU_STACK, (1,))[0] & 1:
        out.append("a stack that is not executable")
    if elf.type != ET_DYN or DT_TEXTREL in elf.dynamic:
        out.append("code that lies anywhere (PIE)")
    names = elf.imported_text()
    if b"__stack_chk_fail" not in names:
        out.append("stack protector")
    if not re.search(rb"__\w+_chk\0", names):
        out.append("FORTIFY")
    if note and elf.has_features() is False:
        out.append("the note of " + FEATURES[elf.machine][2])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("code", "mixed", "objects", "start"):
        parser.add_argument("--" + name, action="append", default=[])
    options = parser.parse_args()
    failed = False
    # What stands in the way of the note in a linked file.
    bare = [path.rsplit("/", 1)[-1] for path in options.start if Elf(path).has_features() is False]
    if bare:
        print(f"the C library's {', '.join(bare)} have no property note, so no linked file has it here: objects are looked at")
    for path in options.code + options.mixed:
        lacks = missing(Elf(path), path in options.code and not bare)
        print(f"{path.rsplit('/', 1)[-1]}: {'without ' + ', '.join(lacks) if lacks else 'hardened'}")
        failed |= bool(lacks)
    for path in options.objects:
        objects = list(objects_of(path))
        without = [name for name, elf in objects if elf.has_features() is False]
        print(f"{path.rsplit('/', 1)[-1]}: {len(objects)} objects, {len(without)} without the note {', '.join(without[:9])}")
        failed |= bool(without) or not objects
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
