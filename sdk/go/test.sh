#!/bin/sh
# Tests the module, and the samples of README.md from another one. Reads MERIDIAN_URL and keys, which
# tests/sdk/parts/client-service.ts describes.
set -eu
cd "$(dirname "$0")"

unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "Not formatted: $unformatted"; exit 1; }
go vet ./...
go test -count=1 ./...
