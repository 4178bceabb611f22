#!/bin/sh
# Generates the types of the API from ../openapi.json.
set -eu
cd "$(dirname "$0")"

npm ci --silent
npm run --silent generate
