#!/usr/bin/env python3
"""Runs a WASI program with wasmtime: run_wasm.py PROGRAM.wasm [ARGUMENT...]. Its exit code is the program's."""
import sys

import wasmtime


def main():
    engine = wasmtime.Engine()
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    store = wasmtime.Store(engine)
    config = wasmtime.WasiConfig()
    config.argv = sys.argv[1:]
    config.inherit_stdout()
    config.inherit_stderr()
    store.set_wasi(config)
    instance = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
    try:
        instance.exports(store)["_start"](store)
    except wasmtime.ExitTrap as done:
        return done.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
