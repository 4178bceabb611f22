#!/bin/sh
# Writes the API's description, and from it what each client has in its folder `generated`.
set -eu
cd "$(dirname "$0")/.."

npm run --silent openapi >sdk/openapi.json
for generate in sdk/*/generate.sh; do
  sh "$generate"
done
