#!/bin/sh
# Builds the package, installs it into an empty environment, and tests it there. Reads MERIDIAN_URL and
# keys, which tests/sdk/parts/client-service.ts describes.
set -eu
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/test"
"$work/test/bin/pip" install --quiet --no-compile --no-deps --requirement requirements-test.txt
PATH="$work/test/bin:$PATH"

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

pip install --quiet --no-compile --no-deps "$work"/*.whl
ruff check --no-cache .
ruff format --no-cache --check .
# The samples of README.md are checked with the same cache.
export MYPY_CACHE_DIR="$work/mypy"
mypy src tests
python -m pytest --quiet
