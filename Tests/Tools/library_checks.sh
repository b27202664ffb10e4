#!/usr/bin/env bash
# Builds and runs Tests/LibraryUser, a package that depends on this one; the last line is `N passed, N failed`.
# It has a scratch folder of its own: one that two packages share would be resolved anew at each turn.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec swift run --package-path Tests/LibraryUser --scratch-path .build-library LibraryUser
