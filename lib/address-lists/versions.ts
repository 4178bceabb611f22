/** Characters around an address that are read: enough for the name of a product or host. */
const READ = 80

/** Whether an IPv4 address in a text is rather a version of four numbers, such as that of `Chrome/120.0.0.0`. */
export function isVersion(text: string, start: number, address: string): boolean {
  const end = start + address.length
  if (text.charAt(start - 1) === '/') return isOfProduct(text, start, address)
  return isCalledVersion(text, start) || isLikeVersion(text, end)
}

function isCalledVersion(text: string, start: number): boolean {
  return start > 0 && CALLED_VERSION.test(text.slice(Math.max(0, start - 12), start))
}

function isLikeVersion(text: string, end: number): boolean {
  return '-_+~.'.includes(text.charAt(end) || ' ') && LIKE_VERSION.test(text.slice(end, end + READ))
}

/** `Version=1.2.3.4`, `"Chromium";v="120.0.0.0"`, `rv:1.2.3.4` */
const CALLED_VERSION =
  /(?:version|(?:^|[^a-z])ver|(?:^|[^a-z])rv)[\W_]{0,3}$|(?:^|[^a-z])v[:="']+$/i

/** `1.2.3.4-beta`, `1.2.3.4_amd64.deb`, `1.2.3.4-1ubuntu2`, `1.2.3.4-1.el9` */
const LIKE_VERSION =
  /^(?:[-_+~.](?:alpha|beta|rc|pre|dev|snapshot|final|stable)|[-_](?:amd64|arm64|armhf|i[36]86|x86|x64|all\.|noarch|linux|win)|[-~+]\d+[._~+-]?(?:ubuntu|deb|el\d|fc\d|bpo|x86|noarch|amd64|arm64|all|i[36]86))/i

/**
 * A name and a slash before four numbers make a product and its version (RFC 9110, section 10.1.5), unless a port
 * comes after them, the first one is higher than those of versions, or the name is one of a path, a protocol, a
 * host or an event of Squid.
 */
function isOfProduct(text: string, start: number, address: string): boolean {
  if (!/\w\\?\/$/.test(text.slice(Math.max(0, start - 3), start))) return false
  const end = start + address.length
  if (PORT.test(text.slice(end, end + 8))) return false
  if (Number.parseInt(address, 10) >= NO_VERSION && !address.endsWith('.0.0.0')) return false
  const run = runBefore(text, start)
  if (/^\/|:\/\//.test(run)) return VERSIONS.test(run)
  return !OTHER_NAME.test(run)
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
/**
 * Names of multiaddr and netstat, of Squid's hierarchy (its wiki, "Features/LogFormat"), and of hosts, which Java
 * writes before their addresses (InetAddress.toString).
 */
const OTHER_NAME =
  /(?:^|\/)(?:ip4|ipv4|tcp4?|udp4?|icmp|localhost|(?:HIER|TIMEOUT)_\w+|(?:\w+_)?(?:DIRECT|PARENT|PEER|SIBLING_HIT)|[a-z\d-]+(?:\.[a-z\d-]+)*\.(?!js\/)[a-z]{2,})\/$/
