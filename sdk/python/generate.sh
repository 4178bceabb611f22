#!/bin/sh
# Generates the types of the API from ../openapi.json, with tools in a temporary environment.
set -eu
cd "$(dirname "$0")"

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --no-compile --no-deps --requirement requirements-generate.txt

# TypedDict: results stay the JSON of the service, and types say which fields may be absent.
PATH="$tools/bin:$PATH" datamodel-codegen \
  --input ../openapi.json --input-file-type openapi \
  --output src/meridian_client/generated/models.py \
  --output-model-type typing.TypedDict --no-use-closed-typed-dict --target-python-version 3.11 \
  --openapi-scopes paths --openapi-include-paths \
  /v1/ip/me /v1/ip/batch /v1/ip/summary '/v1/asn/*' /v1/account/me/usage \
  --enum-field-as-literal all --naming-strategy parent-prefixed \
  --use-schema-description --use-field-description --use-single-line-docstring \
  --disable-timestamp --formatters ruff-check ruff-format

# Only with final types, `"error" in item` tells type checkers whether an item of a list is an error.
"$tools/bin/python" - src/meridian_client/generated/models.py <<'PYTHON'
import pathlib, sys

file = pathlib.Path(sys.argv[1])
text = file.read_text().replace("\nclass ", "\n@final\nclass ")
file.write_text(text.replace("NotRequired, TypedDict\n", "NotRequired, TypedDict, final\n"))
PYTHON
