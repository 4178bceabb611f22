import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { matchesOrigin, parseOriginPattern } from '../../lib/access/origins.ts'
import { words } from '../support/words.ts'

function allows(pattern: string, origin: string): boolean {
  const parsed = parseOriginPattern(pattern)
  assert.ok(parsed, pattern)
  return matchesOrigin([parsed], origin)
}

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
const parent = fc.constantFrom('example.com', 'example.org', 'example.co.uk')
const domain = fc.tuple(label, parent).map((parts) => parts.join('.'))
const number = fc.integer({ min: 1, max: 65_535 }).filter((n) => n !== 443)
const port = fc.oneof(
  fc.constant(''),
  number.map((n) => `:${n}`),
)

describe('parseOriginPattern', () => {
  const good = [
    ['https://app.example.com', 'https://app.example.com'],
    ['HTTPS://App.Example.COM', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['https://app.example.com:8443', 'https://app.example.com:8443'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*.Example.com:444', 'https://*.example.com:444'],
    ['https://*.me.github.io', 'https://*.me.github.io'],
    ['https://bücher.example.com', 'https://xn--bcher-kva.example.com'],
    ['https://*.bücher.example', 'https://*.xn--bcher-kva.example'],
    ['http://localhost', 'http://localhost'],
    ['http://localhost:80', 'http://localhost'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['https://192.0.2.1', 'https://192.0.2.1'],
    ['https://app.example.com:0443', 'https://app.example.com'],
    ['https://app.example.com:', 'https://app.example.com'],
    ['https://app.example.com/', 'https://app.example.com'],
    ['https://*.example.com/', 'https://*.example.com'],
    ['https://XN--BCHER-KVA.example.com', 'https://xn--bcher-kva.example.com'],
    ['https://*.BÜCHER.example', 'https://*.xn--bcher-kva.example'],
    // Browsers treat an ideographic full stop as a separator of labels.
    ['https://app\u3002example.com', 'https://app.example.com'],
  ] as const
  for (const [text, normalised] of good) {
    it(`parses ${text} as ${normalised}`, () => {
      const pattern = parseOriginPattern(text)
      assert.equal(pattern?.text, normalised)
      const again = parseOriginPattern(normalised)
      assert.deepEqual(again, pattern, 'the normalised text is parsed to the same pattern')
    })
  }

  const bad = {
    'text that is not an origin': [
      '',
      ...words('* null example.com https:// https:example.com //example.com'),
    ],
    'a bare wildcard': ['https://*', 'https://*.', 'http://*.localhost', 'https://*.local'],
    'a wildcard elsewhere': words(`
      https://*example.com https://a.*.com https://*.*.example.com https://example.*
      https://a*.example.com *://example.com https://example.com:*`),
    'a wildcard in disguise': ['https://＊.example.com', 'https://*.＊.example.com', 'https://＊'],
    'a public suffix': words(`
      https://*.com https://*.co.uk https://*.github.io https://*.CO.UK https://*.vercel.app
      https://*.s3.amazonaws.com https://*.xn--p1ai https://*.рф`),
    'an address with a wildcard': ['https://*.1.2.3.4', 'https://*.[::1]', 'https://*.0x7f.1'],
    'more than an origin': [
      ...words(`
        https://example.com// https://example.com/a https://example.com?a https://example.com#a
        https://user@example.com https://user:pw@example.com https://@example.com
        https://*.example.com@evil.com https://*@example.com https://example.com\uff20evil.com
        https://example.com\\a`),
      ...['https://exam\tple.com', ' https://example.com', 'https://example.com '],
    ],
    'an insecure scheme': words(`
      http://example.com http://localhost.example.com ftp://localhost http://127.0.0.2`),
    'another scheme': words(`
      file:///etc javascript://x data:,x chrome-extension://abc httpss://a.b`),
    'an empty punycode label': words(`
      https://xn-- https://xn--.com https://*.a.xn-- https://xn---`),
    'a trailing dot': ['https://example.com.', 'https://*.example.com.', 'http://localhost.'],
    'a bad port': ['https://example.com:65536', 'https://example.com:-1', 'https://example.com:a'],
    'a bad host': [
      ...['https://exa mple.com', 'https://%65xample.com', 'https://[::1', 'https://a..b/'],
      'https://exa\u0000mple.com',
    ],
  }
  for (const [why, texts] of Object.entries(bad)) {
    it(`refuses ${why}`, () => {
      for (const text of texts) assert.equal(parseOriginPattern(text), null, text)
    })
  }
})

describe('matchesOrigin', () => {
  it('allows exactly the origin of an exact pattern', () => {
    fc.assert(
      fc.property(domain, port, domain, port, (host, at, other, otherPort) => {
        const origin = `https://${host}${at}`
        assert.equal(allows(origin, origin), true)
        const asked = `https://${other}${otherPort}`
        assert.equal(allows(origin, asked), asked === origin)
        assert.equal(allows(origin, `https://sub.${host}${at}`), false)
      }),
    )
  })

  it('lets a wildcard match one or more whole labels', () => {
    const labels = fc.array(label, { maxLength: 4 })
    fc.assert(
      fc.property(domain, port, labels, label, (host, at, below, word) => {
        const pattern = `https://*.${host}${at}`
        const asked = `https://${[...below, host].join('.')}${at}`
        assert.equal(allows(pattern, asked), below.length > 0)
        const part = `https://${word}${host}${at}`
        assert.equal(allows(pattern, part), false, 'a wildcard does not match a part of a label')
        assert.equal(allows(pattern, `https://a.${host}.${word}.com${at}`), false)
      }),
    )
  })

  const pattern = 'https://*.example.com'
  const evil = [
    ...words(`
      https://evilexample.com https://example.com https://example.com.evil.com
      https://a.example.com.evil.com http://a.example.com https://a.example.com:8443
      https://evil.com#.example.com https://evil.com/.example.com https://evil.com?.example.com
      https://evil.com\\.example.com https://evil.com@a.example.com
      https://a.example.com@evil.com https://a.example.com. https://a.example.com/
      https://.example.com https://a.example.com:443@evil.com https://a%2eexample.com
      https://example.com:443.evil.com https://a.example.com\uff0fevil.com
      https://evilexample\u3002com null *`),
    ...['https://a.example.com, https://b.example.com', ''],
  ]
  for (const origin of evil) {
    it(`does not allow "${origin}" for ${pattern}`, () =>
      assert.equal(allows(pattern, origin), false))
  }

  it('compares parsed origins: case, default port, punycode', () => {
    assert.equal(allows(pattern, 'HTTPS://A.EXAMPLE.COM'), true)
    assert.equal(allows(pattern, 'https://a.example.com:443'), true)
    assert.equal(allows('https://bücher.example', 'https://xn--bcher-kva.example'), true)
    assert.equal(allows('https://xn--bcher-kva.example', 'https://bücher.example'), true)
    // With a Cyrillic а, this is another host.
    assert.equal(allows('https://example.com', 'https://exаmple.com'), false)
  })

  it('is not misled by a user, a port, a path or a dot at the end', () => {
    const tricks: ((host: string, evil: string) => string)[] = [
      (host, evil) => `https://a.${host}@${evil}`,
      (host, evil) => `https://a.${host}:x@${evil}`,
      (host, evil) => `https://${evil}/.${host}`,
      (host, evil) => `https://${evil}\\.${host}`,
      (host, evil) => `https://${evil}#.${host}`,
      (host, evil) => `https://${evil}?.${host}`,
      (host, evil) => `https://${evil}%23.${host}`,
      (host, evil) => `https://a.${host}.${evil}`,
      (host) => `https://a.${host}.`,
      (host) => `https://a.${host}:8443`,
    ]
    fc.assert(
      fc.property(domain, domain, fc.constantFrom(...tricks), (host, evil, trick) => {
        fc.pre(host !== evil)
        const asked = trick(host, evil)
        assert.equal(allows(`https://*.${host}`, asked), false)
        assert.equal(allows(`https://a.${host}`, asked), false)
      }),
    )
  })

  it('ignores case in patterns and origins', () => {
    const mixed = (text: string, upper: readonly boolean[]) =>
      Array.from(text, (c, at) => (upper[at % upper.length] ? c.toUpperCase() : c)).join('')
    const cases = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(domain, port, cases, cases, (host, at, inPattern, inOrigin) => {
        const asked = mixed(`https://a.${host}${at}`, inOrigin)
        assert.equal(allows(mixed(`https://*.${host}${at}`, inPattern), asked), true)
        assert.equal(allows(mixed(`https://a.${host}${at}`, inPattern), asked), true)
      }),
    )
  })

  it('distinguishes ports and schemes of local hosts', () => {
    assert.equal(allows('http://localhost:3000', 'http://localhost:3000'), true)
    assert.equal(allows('http://localhost:3000', 'http://localhost'), false)
    assert.equal(allows('http://localhost:3000', 'https://localhost:3000'), false)
    assert.equal(allows('http://localhost:3000', 'http://127.0.0.1:3000'), false)
  })

  it('allows nothing without patterns', () => {
    assert.equal(matchesOrigin([], 'https://example.com'), false)
  })

  it('never throws', () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.string().map((s) => `https://${s}`),
    )
    const check = (origin: string) => {
      parseOriginPattern(origin)
      allows(pattern, origin)
    }
    fc.assert(fc.property(text, check), { numRuns: 2_000 })
  })
})
