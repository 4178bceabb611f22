#!/bin/sh
# Builds the package, installs it into an empty environment, and tests it there. Reads MERIDIAN_URL and
# keys, which tests/sdk/parts/client-service.ts describes.
set -eu
cd "$(dirname "$0")"

work=$(mktemp -d)
partial=
trap 'rm -rf "$work" "$partial"' EXIT

# What the tests need is installed once for each version of the requirements and of Python, and kept.
# Nobody else may write there, since the tests run what is in it.
kept=${TMPDIR:-/tmp}/meridian-python-$(id -u)
mkdir -m 700 "$kept" 2>/dev/null || true
if [ -L "$kept" ] || [ ! -O "$kept" ] || [ -z "$(find "$kept" -prune -perm 700)" ]; then kept=$work; fi
version=$({ cat requirements-test.txt; python3 -c 'import sys; print(sys.prefix, sys.version)'; } | cksum | tr ' ' -)
tools=$kept/$version
if [ ! -d "$tools" ]; then
  # Complete before it has its name: two tests may do this at once.
  partial=$(mktemp -d "$kept/partial.XXXXXX")
  python3 -m venv "$partial/tools"
  "$partial/tools/bin/python" -m pip install --quiet --no-compile --no-deps --requirement requirements-test.txt
  mv "$partial/tools" "$partial/$version"
  mv "$partial/$version" "$kept/" 2>/dev/null || [ -d "$tools" ]
fi

# An environment of this run, for the package, which sees the tools.
python3 -m venv --without-pip "$work/test"
packages='import sysconfig; print(sysconfig.get_path("purelib"))'
"$tools/bin/python" -c "$packages" >"$("$work/test/bin/python" -c "$packages")/tools.pth"
PATH="$work/test/bin:$tools/bin:$PATH"

python -m build --wheel --no-isolation --outdir "$work" . >"$work/build.log" ||
  { cat "$work/build.log"; exit 1; }
python3 -m venv --without-pip "$work/empty"
python -m pip --python "$work/empty/bin/python" install --quiet --no-compile \
  --constraint requirements-test.txt "$work"/*.whl
"$work/empty/bin/python" - <<'PYTHON'
import os
from meridian_client import Meridian

with Meridian(os.environ["MERIDIAN_URL"], os.environ["MERIDIAN_KEY"]) as client:
    assert client.locate("81.2.69.160").get("location", {}).get("city") == "London"
PYTHON

python -m pip --python "$work/test/bin/python" install --quiet --no-compile --no-deps "$work"/*.whl
ruff check --no-cache .
ruff format --no-cache --check .
# The samples of README.md are checked with the same cache.
export MYPY_CACHE_DIR="$tools/mypy"
python -m mypy src tests
python -m pytest --quiet
