#!/usr/bin/env python3
"""Runs a program of Linux on Arm under Debian's own kernel, in QEMU's machine: what qemu-user cannot do (filters of system calls, a program
that starts itself again) is real there. 32-bit programs run on the same 64-bit kernel.

    boot.py --sysroot FOLDER [--kernel FOLDER] [--with PATH ...] [--seconds N] PROGRAM [ARGUMENT ...]

--sysroot   the program's libraries (cmake/toolchains/make_sysroot.sh)
--kernel    a sysroot of arm64 with the package linux-image-arm64; --sysroot unless given
--with      files and folders of this machine that the program reads, under the same names
Exit codes: the program's own; 77 skipped (QEMU, a compiler or a kernel is missing)."""
import argparse, gzip, os, re, shutil, stat, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILER, QEMU = "aarch64-linux-gnu-gcc", "qemu-system-aarch64"


class Archive:
    """A cpio archive (newc), as the kernel unpacks it for its first file system."""

    def __init__(self):
        self.data, self.names, self.inode = bytearray(), set(), 0

    def record(self, name, mode, content=b""):
        if name in self.names:
            return
        self.names.add(name)
        self.inode += 1
        fields = [self.inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.data += b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
        self.data += b"\0" * (-len(self.data) % 4) + content
        self.data += b"\0" * (-len(self.data) % 4)

    def folder(self, name):
        parts = name.strip("/").split("/")
        for i in range(len(parts)):
            self.record("/".join(parts[:i + 1]), stat.S_IFDIR | 0o755)

    def file(self, name, path):
        name = name.strip("/")
        if "/" in name:
            self.folder(name.rsplit("/", 1)[0])
        self.record(name, stat.S_IFREG | (0o755 if os.access(path, os.X_OK) else 0o644), Path(path).read_bytes())

    def finished(self):
        self.record("TRAILER!!!", 0)
        return gzip.compress(bytes(self.data), 1)


def dynamic(path):
    """The loader of an ELF file and the libraries that it names."""
    text = subprocess.run(["readelf", "-ld", path], capture_output=True, text=True, check=True).stdout
    loader = re.search(r"interpreter: ([^\]]+)\]", text)
    return loader.group(1) if loader else None, re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def add_libraries(archive, program, sysroot):
    """All libraries, and theirs, in /usr/lib of the machine (/lib is the same folder)."""
    folders = [Path(program).resolve().parent.parent / "lib", *sorted((sysroot / "usr/lib").glob("*-linux-gnu*")), sysroot / "usr/lib"]
    waiting, known = [Path(program)], set()
    while waiting:
        loader, names = dynamic(waiting.pop())
        for name in [*names, *([Path(loader).name] if loader else [])]:
            if name in known:
                continue
            known.add(name)
            found = next((f / name for f in folders if (f / name).exists()), None)
            if found is None:
                sys.exit(f"{name}: not found in {', '.join(map(str, folders))}")
            archive.file(f"usr/lib/{name}", found)
            waiting.append(found)


def machine(arguments, kernel, work):
    archive = Archive()
    for name in ("proc", "sys", "dev", "tmp", "run", "etc", "usr/lib", "usr/bin"):
        archive.folder(name)
    archive.record("lib", stat.S_IFLNK | 0o777, b"usr/lib")
    subprocess.run([COMPILER, "-static", "-O1", "-o", work / "init", HERE / "init.c"], check=True)
    archive.file("init", work / "init")
    archive.file("usr/bin/program", arguments.program)
    add_libraries(archive, arguments.program, Path(arguments.sysroot))
    archive.record("command", stat.S_IFREG | 0o644, "\n".join(["/usr/bin/program", *arguments.arguments]).encode())
    for path in map(Path, arguments.files):
        for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
            archive.file(str(file.absolute()), file)
    (work / "root.cpio.gz").write_bytes(archive.finished())
    return [QEMU, "-M", "virt", "-cpu", "cortex-a57", "-m", "1024", "-nographic", "-no-reboot", "-nic", "none", "-kernel", str(kernel),
            "-initrd", str(work / "root.cpio.gz"), "-append", "console=ttyAMA0 quiet panic=-1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sysroot", required=True)
    parser.add_argument("--kernel")
    parser.add_argument("--with", dest="files", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=1500)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    kernel = next(iter(sorted(Path(arguments.kernel or arguments.sysroot).glob("boot/vmlinuz-*"))), None)
    missing = [what for what in (COMPILER, QEMU) if shutil.which(what) is None]
    if missing or kernel is None:
        print(f"skipped: {', '.join(missing) if missing else 'boot/vmlinuz-* (package linux-image-arm64) in the sysroot'} is missing")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        command = machine(arguments, kernel, Path(folder))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
        try:
            text, _ = process.communicate(timeout=arguments.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            print(text)
            sys.exit(f"the machine was still running after {arguments.seconds:.0f} s")
    print(text)
    code = re.findall(r"^EXIT (\d+)", text, re.M)
    return int(code[-1]) if code else "the machine stopped before its program ended"


if __name__ == "__main__":
    sys.exit(main())
