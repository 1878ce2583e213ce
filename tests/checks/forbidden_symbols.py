#!/usr/bin/env python3
"""Fails when a device library uses the heap, exceptions, locales, streams, threads, static-object locks or stdio, or anything else from
outside that is not in ALLOWED.

    forbidden_symbols.py [--nm NM] ARCHIVE...    all that refer to one another: what one defines is not from outside

A symbol from outside is one that an archive needs and none of them defines. libmote_kernels holds the kernels of every ISA variant, so
these are checked whether this machine can run them or not.
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

# What device code may need of the platform.
ALLOWED = re.compile("|".join((
    # GCC and Clang demand these of every freestanding platform: they call them for copies, fills and comparisons of structs and arrays,
    # whatever the source says. None of them allocates, locks or enters the system. Device code calls them itself under no other terms.
    r"mem(cpy|move|set|cmp)$|bcmp$",
    # Functions of <math.h> that portable kernels define operators by, of double and float. No errno: -fno-math-errno.
    r"(a?(sin|cos|tan)h?|atan2|sincos|ceil|floor|trunc|round|nearbyint|rint|erfc?|exp(2|m1)?|log(2|10|1p)?)f?$",
    r"(fmax|fmin|fmod|pow|sqrt|fma|ldexp)f?$",
    r"strcmp$",  # names of element types (core/dtype_text.cc)
    # Arithmetic that the processor has no instruction for (libgcc, compiler-rt), and the address of the table of a relocatable object.
    r"__[a-z]+([hsdt]f|[sdt]i|bf)\d?$|__gnu_(h2f|f2h)_ieee$|__aeabi_\w+$|_GLOBAL_OFFSET_TABLE_$",
)))


def names(nm, archive):
    """(object, symbol, whether it is defined there) of everything an archive defines or needs."""
    out = subprocess.run([nm, "-A", "-P", archive], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        where, _, rest = line.partition(": ")
        words = rest.split()
        if len(words) >= 2:
            yield where, words[0], words[1] not in "Uvw"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("archives", nargs="+")
    options = parser.parse_args()
    symbols = [entry for archive in options.archives for entry in names(options.nm, archive)]
    defined = {symbol for _, symbol, here in symbols if here}
    found = []
    for where, symbol, _ in symbols:
        found += [f"{where}: {symbol} ({group})" for group, pattern in PATTERNS.items() if pattern.match(symbol)]
    outside = sorted({(symbol, where) for where, symbol, _ in symbols if symbol not in defined})
    found += [f"{where}: {symbol} (from outside, not in ALLOWED)" for symbol, where in outside if not ALLOWED.match(symbol)]
    if len(symbols) < 100:
        sys.exit(f"only {len(symbols)} symbols in {len(options.archives)} libraries: were they built?")
    names_outside = {symbol for symbol, _ in outside}
    print(f"{len(symbols)} symbols in {len(options.archives)} libraries, {len(names_outside)} from outside, {len(found)} forbidden")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
