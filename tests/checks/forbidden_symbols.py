#!/usr/bin/env python3
"""Fails when a device library uses the heap, exceptions, locales, streams, threads, static-object locks or stdio.

    forbidden_symbols.py [--nm NM] ARCHIVE...
"""
import argparse
import re
import subprocess
import sys

FORBIDDEN = {
    "heap": r"(malloc|calloc|realloc|reallocarray|free|posix_memalign|aligned_alloc|memalign|strdup|alloca)$"
            r"|_Zn[wa][jmy]|_Zd[la]Pv|_ZdlPv|\?\?[23_]",
    "exceptions": r"__cxa_(throw|rethrow|allocate_exception|begin_catch|end_catch|bad_cast)|_Unwind_|__gxx_personality|_ZSt\d+__throw_",
    "run-time types": r"__dynamic_cast$|_ZTVN10__cxxabiv",
    "locks of static objects": r"__cxa_guard|__cxa_atexit$|atexit$|__aeabi_atexit$",
    "locale": r".*locale",
    "streams": r"_ZSt\d*(cout|cerr|clog|cin)|_ZNSo|_ZNSi|_ZNSt8ios_base|_ZNSt9basic_ios|_ZSt16__ostream",
    "threads": r"pthread_|_ZNSt6thread|_ZNSt5mutex|mtx_|thrd_|__tls_get_addr$|__emutls",
    "stdio": r"_*v?(f|s|sn|as|d)?(printf|scanf)(_chk)?$|f?put(s|c|char)(_unlocked)?$|f(open|close|read|write|flush|seek|tell|gets)$"
             r"|(std(in|out|err)|perror|getchar|_impure_ptr)$",
    "system": r"(open|close|read|write|mmap|munmap|syscall|getenv|system|exit|abort|__assert_fail|__assert_func)$",
}
PATTERNS = {group: re.compile(pattern) for group, pattern in FORBIDDEN.items()}


def names(nm, archive):
    """(object, symbol) of everything an archive defines or needs."""
    out = subprocess.run([nm, "-A", "-P", archive], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        where, _, rest = line.partition(": ")
        words = rest.split()
        if len(words) >= 2:
            yield where, words[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("archives", nargs="+")
    options = parser.parse_args()
    found, seen = [], 0
    for archive in options.archives:
        for where, symbol in names(options.nm, archive):
            seen += 1
            found += [f"{where}: {symbol} ({group})" for group, pattern in PATTERNS.items() if pattern.match(symbol)]
    if seen < 100:
        sys.exit(f"only {seen} symbols in {len(options.archives)} libraries: were they built?")
    print(f"{seen} symbols in {len(options.archives)} libraries, {len(found)} forbidden")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
