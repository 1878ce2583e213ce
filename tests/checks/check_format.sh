#!/bin/bash
# Fails when clang-format would change a file. `./do format` changes them. Prints "skipped" (exit 77) without clang-format.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format > /dev/null || { echo "clang-format is not installed"; exit 77; }
git ls-files -co --exclude-standard '*.h' '*.hpp' '*.cc' | xargs clang-format --dry-run --Werror
