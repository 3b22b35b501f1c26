#!/usr/bin/env bash
# Installs the wheel into a fresh virtual environment that has NumPy and nothing else, without a network, and runs the tests there.
# usage: try_wheel.sh WHEEL PYTHON FOLDER
set -euo pipefail
wheel=$1 python=$2 folder=$3
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tests" && pwd)
rm -rf "$folder"
"$python" -m venv "$folder"
site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
ln -s "$("$python" -c 'import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent)')" "$site/numpy"
"$folder/bin/python" -m pip install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"
cd "$folder"
unset PYTHONPATH ROTULE_PROGRAM ROTULE_SCENES
"$folder/bin/python" -c 'import rotule, sys; assert rotule.__file__.startswith(sys.prefix), rotule.__file__'
"$folder/bin/python" -m rotule --version
"$folder/bin/python" -m unittest discover -s "$tests"
