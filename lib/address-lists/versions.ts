/** Characters around an address that are read: enough for the name of a product or host. */
const READ = 80

/** Whether an IPv4 address in a text is rather a version of four numbers, such as that of `Chrome/120.0.0.0`. */
export function isVersion(text: string, start: number, address: string): boolean {
  if (text.charAt(start - 1) === '/') return isOfProduct(text, start, address)
  return (
    (start > 0 && isCalledVersion(text, start, address)) ||
    isLikeVersion(text, start + address.length, address)
  )
}

/** Whether the pattern, a look-behind, matches what ends at `start`. */
function matchesBefore(pattern: RegExp, text: string, start: number): boolean {
  pattern.lastIndex = start
  return pattern.test(text)
}

function isCalledVersion(text: string, start: number, address: string): boolean {
  if (matchesBefore(NAMED_VERSION, text, start) || matchesBefore(NAMED_V, text, start)) return true
  if (!hasSmallNumbers(address)) return false
  return (
    matchesBefore(VERSION_AND_SPACE, text, start) ||
    (matchesBefore(PACKAGE, text, start) && !isUsual(address))
  )
}

function isLikeVersion(text: string, end: number, address: string): boolean {
  if (!'-_+~.'.includes(text.charAt(end) || ' ')) return false
  const after = text.slice(end, end + READ)
  return LIKE_VERSION.test(after) || (hasSmallNumbers(address) && STAGE.test(after))
}

/** `Version=1.2.3.4`, `"version": "1.2.3.4"`, `version => '1.2.3.4'`, `rv:1.2.3.4`; a path is not a name. */
const NAMED_VERSION =
  /(?<=(?:(?<!con|(?<![a-z])(?:in|di|a|re|per|e)|[/=])version|(?<![a-z/])(?:ver|rv))(?:\\?["']?\s{0,3}(?:=>|[:=])\s{0,3}\\?["']?|[>([_-]))/iy
/** `"Chromium";v="120.0.0.0"`, `"v": "1.2.3.4"`; in `k=v=8.8.8.8`, it is a value. */
const NAMED_V =
  /(?<=(?<![a-z=:])v[:=]+\\?["']?|(?<!=)["']v\\?["']\s{0,3}(?:=>|[:=])\s{0,3}\\?["']?)/iy
/** `version 5.2.4.21`, `java version "1.2.3.4"` */
const VERSION_AND_SPACE = /(?<=(?<![^\s(,;])(?:version|ver\.?) ["']?)/iy
/** `nginx-1.2.3.4`, `foo_1.2.3.4` */
const PACKAGE =
  /(?<=(?<![a-z\d])(?!(?:src|dst|dest|source|destination|ip|ipv4|addr|address|srv|server|client|peer|host|node|remote|local|from|to|by|via|for|user|gw|gateway|router|proxy|dns|ns|resolver|vpn|net|subnet|network|range|pool|lan|wan|nat|target|origin|upstream|backend|frontend|web|db|worker|deny|allow|ban|unban|banned|block|blocked|drop|accept)[-_])[a-z][a-z\d]{0,30}[-_])/iy

/** Versions have small numbers. Networks of 10.0.0.0/8 are rather addresses. */
function hasSmallNumbers(address: string): boolean {
  return /^(?!10\.)[1-3]?\d(?:\.\d\d?){3}$/.test(address)
}

/** Addresses of well-known resolvers, such as 1.1.1.1 and 8.8.4.4, and their like. */
function isUsual(address: string): boolean {
  return /^(\d+)\.\1\.(\d+)\.\2$|^1\.0\.0\.1$/.test(address)
}

/** `1.2.3.4-beta`, `1.2.3.4_amd64.deb`, `1.2.3.4-1ubuntu2`, `1.2.3.4-1.el9`, `1.2.3.4-r0` */
const LIKE_VERSION =
  /^(?:[-_+~.](?:alpha|beta|rc)(?![a-z])|[-_](?:amd64|arm64|armhf|i[36]86|x86|x64|all\.deb|noarch)|-r\d{1,2}(?!\w)|[-~+]\d{1,4}[._~+-]?(?:ubuntu|deb\d|el\d|fc\d|amzn|mga\d|bpo|x86|noarch|amd64|arm64|all\.deb|i[36]86))/i
/** Stages and systems, which are names of hosts as well. */
const STAGE =
  /^(?:[-_+~.](?:pre|dev|snapshot|final|stable)(?![a-z])|[-_](?:linux|win(?:dows|32|64)?(?![a-z])))/i

/**
 * A name and a slash before four numbers make a product and its version (RFC 9110, section 10.1.5), unless a port
 * comes after them, the first one is higher than those of versions, or the name is one of a path, a protocol, a
 * host or an event of Squid. After an address, they are its mask.
 */
function isOfProduct(text: string, start: number, address: string): boolean {
  if (!/\w\\?\/$/.test(text.slice(Math.max(0, start - 3), start))) return false
  const end = start + address.length
  if (PORT.test(text.slice(end, end + 8))) return false
  const run = runBefore(text, start).replaceAll('\\/', '/')
  if (MASKED.test(run) && MASK.test(address)) return true
  if (Number.parseInt(address, 10) >= NO_VERSION && !address.endsWith('.0.0.0')) return false
  if (/^\/|:\/\//.test(run)) return VERSIONS.test(run)
  return isProductName(run.slice(0, -1))
}

/** What comes before an address without a space or quote. */
function runBefore(text: string, end: number): string {
  let start = end
  while (start > 0 && end - start < READ && !AROUND.includes(text.charAt(start - 1))) start -= 1
  return text.slice(start, end)
}

const AROUND = ' \t"\'(=,;[<>|'

/** `:443`, `(443)`, `#53`, `/443` */
const PORT = /^(?:[:#]\d|\(\d+\)|\/\d{1,5}(?![\w.]))/
/** Browsers count up to 160 or so. */
const NO_VERSION = 170
const VERSIONS = /\/(?:v|versions?|releases?|downloads?|dist|tags?)\/$/i
const MASKED = /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}\/$/
const MASK = /^255\./

/** Whether a name before a slash and four numbers is that of a product, so that they are its version. */
function isProductName(text: string): boolean {
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
