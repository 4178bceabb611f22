#!/bin/sh
# Writes the API's description, and from it what each client has in its folder `generated`.
set -eu
cd "$(dirname "$0")/.."

# Without the keys of the examples: to scanners for secrets they look real.
npm run --silent openapi | sed -E 's/([sp]k_live_)0{8,}/\1…/g' >sdk/openapi.json
scripts/node.sh scripts/release/write-client-tables.ts
for generate in sdk/*/generate.sh; do
  sh "$generate"
done
