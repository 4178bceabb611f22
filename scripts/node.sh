#!/bin/sh
# Runs the Node.js that npm ci has installed for this machine: package-lock.json has its checksum. (npm 10
# does not link it into node_modules/.bin.) Where that does not run, it runs the Node.js in PATH.

# Compiled code is kept in this folder, which halves the time of a start. Whoever may write there could
# plant code. So the folder is removed first if others may write into it, and not used if another user
# owns it.
user=$(id -u)
cache=${TMPDIR:-${TMP:-${TEMP:-/tmp}}}/meridian-$user
find "$cache" -prune -user "$user" \( -perm -020 -o -perm -002 \) -exec rm -rf {} + 2>/dev/null
if mkdir -m 700 "$cache" 2>/dev/null || { [ -d "$cache" ] && [ -O "$cache" ] && [ ! -L "$cache" ] && chmod 700 "$cache"; }; then
  export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$cache}"
fi

# Otherwise V8 keeps 128 MB for new objects under load: docs/performance.md#soak.
set -- --max-semi-space-size=16 "$@"

for node in "$(dirname "$0")"/../node_modules/node-*/bin/node; do
  [ -x "$node" ] || continue
  "$node" --version >/dev/null 2>&1 && exec "$node" "$@"
  echo "$node does not run here, perhaps for lack of glibc: using the Node.js in PATH" >&2
done
major=$(node -p 'parseInt(process.versions.node)') && [ "$major" -ge 24 ] && exec node "$@"
echo 'Run npm ci. If that installs no Node.js for this machine, install Node.js 24 or newer' >&2
exit 1
