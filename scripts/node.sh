#!/bin/sh
# Runs the Node.js that npm ci has installed for this machine: package-lock.json has its checksum. (npm 10
# does not link it into node_modules/.bin.) Where that does not run, it runs the Node.js in PATH.

# Node.js keeps compiled code in this folder, which halves the time of a start. Anyone who can write there
# can make the server run their code. So the folder is removed if other users may write into it, and not
# used if another user owns it.
user=$(id -u)
cache=${TMPDIR:-${TMP:-${TEMP:-/tmp}}}/meridian-$user
find "$cache" -prune -user "$user" \( -perm -020 -o -perm -002 \) -exec rm -rf {} + 2>/dev/null
# On a read-only file system, the folder can still be used if it exists.
is_closed() { [ -d "$cache" ] && [ -O "$cache" ] && [ ! -L "$cache" ] && { [ -n "$(find "$cache" -prune -perm 700)" ] || chmod 700 "$cache"; }; }
if mkdir -m 700 "$cache" 2>/dev/null || is_closed; then
  export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$cache}"
fi

# glibc: one arena for all threads, and large blocks, such as those of password hashes, go back to the
# system when they are freed.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX-1}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_-1048576}"

# V8 keeps up to three times this many megabytes for new objects; its own default reaches 128 megabytes under
# load. By default it also waits with a collection until the heap has doubled; here, until it has grown by
# half. It also collects new objects in several threads, and look-ups wait until the last of them has run: on
# a busy machine, that takes several times as long as one thread.
# (The value is a text, because node -p prints numbers in colour if FORCE_COLOR is set.)
semi_space='Math.min(os.totalmem(), process.constrainedMemory() || Infinity) < 2 ** 29 ? "4" : "16"'

# Replaces this shell with the program. Returns if it does not run here.
run() {
  semi=$(NODE_OPTIONS='' "$1" -p "$semi_space" 2>/dev/null) || return 1
  program=$1
  shift
  exec "$program" --max-semi-space-size="$semi" --heap-growing-percent=50 --no-parallel-scavenge \
    ${loader:+--import "$loader"} "$@"
}

here=$(cd "$(dirname "$0")/.." && pwd -P)
# Loads JSX. The npm package has no such file: its code is compiled. Node.js takes the path for a URL.
loader=
if [ -f "$here/jsx.ts" ]; then
  loader=$(printf '%s\n' "$here/jsx.ts" | sed 's/%/%25/g; s/?/%3F/g; s/#/%23/g')
fi
# If this is an installed npm package, npm has usually put Node.js into the same node_modules.
beside=$(dirname "$here")
[ "$(basename "$beside")" = node_modules ] || beside=
for node in "$here"/node_modules/node-*/bin/node ${beside:+"$beside"/node-*/bin/node}; do
  [ -x "$node" ] || continue
  run "$node" "$@"
  echo "$node does not run here, perhaps for lack of glibc: using the Node.js in PATH" >&2
done
major=$(node -p 'process.versions.node.split(".")[0]') && [ "$major" -ge 24 ] && run node "$@"
echo 'Run npm ci. If that installs no Node.js for this machine, install Node.js 24 or newer' >&2
exit 1
