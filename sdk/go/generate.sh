#!/bin/sh
# Generates the types of the API from ../openapi.json.
set -eu
cd "$(dirname "$0")"

go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \
  -config generate.yaml ../openapi.json
