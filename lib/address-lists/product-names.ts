/** Whether a name before a slash and four numbers is that of a product, so that they are its version. */
export function isProductName(text: string): boolean {
  const name = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf(':')) + 1)
  if (PROTOCOL.test(name) || SQUID.test(name)) return false
  return !HOST.test(name) || FILE.test(name) || isAppId(name)
}

/** Names of multiaddr and netstat, and the name of this machine. */
const PROTOCOL = /^(?:ip4|ipv4|tcp4?|udp4?|icmp|localhost)$/

/** Squid's ways to servers: its source (hier_code.h), its wiki ("Features/LogFormat") and older versions. */
const SQUID =
  /^(?:TIMEOUT_)?(?:(?:[A-Z_]+_)?(?:DIRECT|PARENT|PEER|SIBLING|NONE)(?:_(?:HIT|MISS|FAIL|UDP_HIT_OBJ))?|ORIGINAL_DST|PINNED|CARP|SOURCE_FASTEST|STANDBY_POOL|USERHASH|SOURCEHASH|CACHE_DIGEST_HIT)$/

/** A host, which Java writes before its address (InetAddress.toString). */
const HOST = /^[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z]{2,}$/

/** Programs and libraries. */
const FILE =
  /\.(?:exe|dll|js|jar|apk|ipa|msi|dmg|deb|rpm|bin|php|dylib)$|^[^.]+\.(?:py|rb|sh|so|app)$/

/** Apps are called by a host name from its end, such as com.example.shop. */
function isAppId(name: string): boolean {
  const labels = name.split('.')
  if (labels.length < 3) return false
  const [first = '', last = ''] = [labels[0], labels.at(-1)]
  return first === 'com' || (REVERSED.test(first) && !HOST_END.test(last))
}

const REVERSED =
  /^(?:org|net|edu|gov|info|app|dev|a[rtu]|b[er]|c[ahlnoz]|d[ek]|e[su]|f[ir]|g[br]|h[ku]|i[dlmnot]|jp|kr|ly|m[ex]|n[lo]|p[lt]|r[ou]|s[eg]|t[hrvw]|u[aks]|vn)$/
/** Of public and of private names. */
const HOST_END =
  /^(?:[a-z]{2}|com|org|net|edu|gov|mil|int|arpa|info|biz|local|localdomain|lan|internal|intranet|corp|home|private|example|test)$/
