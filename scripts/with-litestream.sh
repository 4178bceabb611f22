#!/bin/sh
# Starts the server under Litestream, which continuously copies the database to
# LITESTREAM_REPLICA_URL. If there is no database, first restores it from that copy. The server is a
# direct child of Litestream, so that it receives signals. See docs/operations.md.
set -eu
umask 077

fail() {
  echo "$1" >&2
  exit 1
}

cd "$(dirname "$0")/.."
[ -n "${LITESTREAM_REPLICA_URL:-}" ] ||
  fail 'Set LITESTREAM_REPLICA_URL, such as s3://bucket/meridian or file:///srv/replica'
command -v litestream >/dev/null || fail 'Cannot find litestream: see docs/operations.md'
[ -d node_modules ] || fail 'Run npm ci first'

export MERIDIAN_DATA_DIR="${MERIDIAN_DATA_DIR:-data}"
export MERIDIAN_REPLICATED=1
database=$MERIDIAN_DATA_DIR/app.db

# The restored file gets the database's name only after it has been checked.
if [ ! -e "$database" ]; then
  [ ! -e "$database-wal" ] || fail "Cannot restore: $database is missing, but $database-wal is not"
  mkdir -p "$MERIDIAN_DATA_DIR"
  rm -rf "$database.restored"* "$MERIDIAN_DATA_DIR/.app.db-litestream"
  litestream restore -config litestream.yml -if-replica-exists -integrity-check full \
    -o "$database.restored" "$database" >&2
  [ ! -e "$database.restored" ] || mv "$database.restored" "$database"
fi

exec litestream replicate -config litestream.yml -exec 'scripts/node.sh server.ts'
