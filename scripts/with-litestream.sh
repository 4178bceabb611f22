#!/bin/sh
# Starts the server under Litestream, which copies the database to LITESTREAM_REPLICA_URL all the
# time. Where there is no database, the copy is restored first, if there is one. The server is the
# direct child of Litestream, so that signals reach it. See docs/operations.md.
set -eu

fail() {
  echo "$1" >&2
  exit 1
}

cd "$(dirname "$0")/.."
[ -n "${LITESTREAM_REPLICA_URL:-}" ] ||
  fail 'Set LITESTREAM_REPLICA_URL, such as s3://bucket/meridian or file:///srv/replica'
command -v litestream >/dev/null || fail 'Cannot find litestream: see docs/operations.md'
[ -x node_modules/.bin/node ] || fail 'Run npm ci first'

export PATH="$PWD/node_modules/.bin:$PATH"
export MERIDIAN_DATA_DIR="${MERIDIAN_DATA_DIR:-data}"
export MERIDIAN_REPLICATED=1
database=$MERIDIAN_DATA_DIR/app.db

# The copy gets the name of the database only when all of it has been checked.
if [ ! -e "$database" ]; then
  [ ! -e "$database-wal" ] || fail "Cannot restore: $database is missing, but $database-wal is not"
  mkdir -p "$MERIDIAN_DATA_DIR"
  chmod 700 "$MERIDIAN_DATA_DIR"
  rm -rf "$database.restored"* "$MERIDIAN_DATA_DIR/.app.db-litestream"
  litestream restore -config litestream.yml -if-replica-exists -integrity-check full \
    -o "$database.restored" "$database" >&2
  [ ! -e "$database.restored" ] || mv "$database.restored" "$database"
fi

exec litestream replicate -config litestream.yml -exec 'node --import tsx server.ts'
