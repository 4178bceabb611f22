import fc from 'fast-check'
import { words } from '../../support/words.ts'

/* Methods, targets and versions of requests. */

/** One value `often`, else one of `rarely`. */
export function mostly(often: string, ...rarely: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(often) },
    { weight: 2, arbitrary: fc.constantFrom(...rarely) },
  )
}

export const method = fc.oneof(
  { weight: 12, arbitrary: fc.constant('GET') },
  { weight: 4, arbitrary: fc.constantFrom('POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('get', 'TRACE', 'CONNECT', 'M-SEARCH', 'QUERY', 'GOT', ''),
  },
)

export const IPV4 = ['81.2.69.160', '8.8.8.8', '10.0.0.1', '0.0.0.0', '127.0.0.1']
export const ODD_IPV4 = words(`
  081.2.69.160 0x51.2.69.160 1365394848 81.2.69 81.2.69.160. 1.2.3.400`)
export const IPV6 = words('2001:db8::1 2a02:1234:: ::1 ::ffff:81.2.69.160 2001:DB8:0:0:0:0:0:1')
const ODD_IPV6 = words('[2001:db8::1] fe80::1%25eth0 fe80::1%eth0 1::2::3 ::ffff:1.2.3 :::')
const CODED = words(`
  %38.8.8.8 8.8.8.8%20 8.8.8.8%00 2001%3Adb8%3A%3A1 %2e%2e 8.8.8.8%2f % %zz %c3%28`)
const address = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...IPV4, ...IPV6) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...ODD_IPV4, ...ODD_IPV6, ...CODED, 'me', 'batch', '.', '..'),
  },
  fc.ipV4(),
  fc.ipV6(),
)
const query = mostly(
  '',
  ...words(`
    ?fields=location.city ?fields=location.country.code,network ?fields= ?fields=nope ?
    ?fields=location&fields=network ?include=network ?fields=hostname&lang=de ?lang=xx ?x=%
    ?fields=location%2Ecity #a ?a?b ?ip=8.8.8.8`),
)
const root = fc.constantFrom(...words('/v1/ip/ /v1/ip/ //v1/ip/ /V1/ip/ /v1/./ip/ /v1/ip//'))
export const lookUp = fc.tuple(root, address).chain(([start, ip]) => {
  const path = start + ip
  return mostly(path, `${path}/timezone`, `${path}/validation`, `${path}/`, `/v1/ip/${ip}`)
})
const otherPath = fc.constantFrom(
  ...words(`
    /v1 /v1/ /v1/account/me /v1/account/me/keys /v1/billing/plans /v1/ip/batch /v1/ip/summary
    /v1/telemetry/rum /v1/contact / /docs /robots.txt /nowhere /app /rum.js /mcp
    * /v1\\ip /v1/é v1 /v1/../v1 /%761 /v1/account/me/keys/x`),
  ...['', '/v1 /x'],
)
const path = fc.oneof({ weight: 4, arbitrary: lookUp }, otherPath)
const base = mostly(
  '',
  ...words('http://a.example https://b.example:1 HTTP://a.example // ftp://a'),
)
export const target = fc.tuple(base, path, query).map((parts) => parts.join(''))
const otherVersions = words('HTTP/1.0 HTTP/0.9 HTTP/2.0 http/1.1 HTTP/1.2')
export const version = mostly('HTTP/1.1', ...otherVersions, 'HTTP/1.1 ')
