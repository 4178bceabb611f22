import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { matchesOrigin, parseOriginPattern } from '../../lib/access/origins.ts'
import { toLanguage } from '../../lib/contract/geo/geolocation.ts'
import { chooseLanguage } from '../../routes/request/negotiate.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

let key = ''
const app = sharedScene({}, async () => {
  key = await app.user('ada').key()
})

const BASE = 'http://127.0.0.1:8787'

function send(path: string, init: RequestInit = {}) {
  const headers = { 'x-api-key': key, ...init.headers }
  const request = new Request(`${BASE}${path}`, { ...init, headers })
  return app.app.fetch(request, { remoteAddress: freshClient() })
}

/** The body; the tests read it as what it must be. */
async function bodyOf(response: Response | Promise<Response>) {
  return JSON.parse(await (await response).text())
}

describe('the language of names', () => {
  const tags = [
    ['DE', 'de', 'RFC 5646, section 2.1.1: no regard to case'],
    ['de-DE', 'de', 'navigator.language'],
    ['de-CH-1996', 'de', 'RFC 5646, a variant'],
    ['de_AT', 'de', 'a locale of POSIX'],
    ['pt-br', 'pt-BR', 'no regard to case'],
    ['pt', 'pt-BR', 'the only Portuguese'],
    ['pt-PT', 'pt-BR', 'the only Portuguese'],
    ['zh', 'zh-CN', 'the only Chinese'],
    ['ZH-cn', 'zh-CN', 'no regard to case'],
    ['zh-Hans-CN', 'zh-CN', 'RFC 5646, a script'],
    ['zh-SG', 'zh-CN', 'the only Chinese in its script'],
    ['zh-Hans-HK', 'zh-CN', 'the only Chinese in its script'],
    ['zh-TW', 'en', 'RFC 4647, section 3.4: the default'],
    ['zh_HK', 'en', 'the default'],
    ['zh-Hant', 'en', 'CLDR: its parent is not zh'],
    ['zh-Hant-MO', 'en', 'the default'],
    ['en-US-u-ca-gregory', 'en', 'RFC 6067, an extension'],
    ['nl', 'nl', 'not known'],
    ['german', 'german', 'not a tag'],
    ['de-', 'de-', 'not a tag'],
    ['', '', 'not a tag'],
  ] as const
  for (const [tag, expected, source] of tags) {
    it(`${tag} is ${expected}: ${source}`, () => assert.equal(toLanguage(tag), expected))
  }

  it('is taken from the query and from the body', async () => {
    for (const tag of ['de-DE', 'DE']) {
      const { location } = await bodyOf(send(`/v1/ip/81.2.69.160?lang=${tag}`))
      assert.equal(location.country.name, 'Vereinigtes Königreich', tag)
      const body = JSON.stringify({ ips: ['81.2.69.160'], lang: tag })
      const headers = { 'content-type': 'application/json' }
      const batch = await bodyOf(send('/v1/ip/batch', { method: 'POST', body, headers }))
      assert.equal(batch.results[0].location.country.name, 'Vereinigtes Königreich', tag)
    }
    assert.equal((await send('/v1/ip/81.2.69.160?lang=nl')).status, 400)
  })
})

describe('the language that the header Accept-Language asks for', () => {
  // RFC 9110, section 12.5.4; tags as browsers and libraries send them
  const headers = [
    ['de', 'de'],
    ['de-CH, fr;q=0.9, en;q=0.8', 'de'],
    ['fr;q=0.5, de;q=0.9', 'de'],
    ['nl, fr;q=0.5', 'fr'],
    ['zh-TW,ja;q=0.9,en;q=0.8', 'ja'],
    ['zh-TW', 'en'],
    ['nl', 'en'],
    ['en-GB,en-US;q=0.9,en;q=0.8,de;q=0.7', 'en'],
    ['zh-TW,zh;q=0.9,en-US;q=0.8', 'zh-CN'],
    ['PT', 'pt-BR'],
    ['de;q=0, fr', 'fr'],
    ['de;q=0', 'en'],
    ['*', 'en'],
    ['*, de;q=0.5', 'de'],
    // RFC 9110, section 12.4.2: a weight of 0 means not acceptable
    ['en;q=0, *', 'de'],
    ['en;q=0, de;q=0, *;q=0.5', 'es'],
    ['de;q=0, *', 'en'],
    ['en;q=0', 'en'],
    [' , de ;q=1.0,', 'de'],
    ['', 'en'],
    ['de_DE', 'de'],
    ['x'.repeat(500), 'en'],
  ] as const
  for (const [header, expected] of headers) {
    it(`"${header.slice(0, 40)}" is ${expected}`, () =>
      assert.equal(chooseLanguage(header), expected))
  }

  const german = { 'accept-language': 'de-DE,de;q=0.9' }
  it('is used with lang=auto only', async () => {
    const name = async (path: string) =>
      (await bodyOf(send(path, { headers: german }))).location.country.name
    assert.equal(await name('/v1/ip/81.2.69.160'), 'United Kingdom')
    assert.equal(await name('/v1/ip/81.2.69.160?lang=auto'), 'Vereinigtes Königreich')
    assert.equal(await name('/v1/ip/81.2.69.160?lang=AUTO'), 'Vereinigtes Königreich')
    assert.equal(await name('/v1/ip/81.2.69.160?lang=en'), 'United Kingdom')
    const body = JSON.stringify({ ips: ['81.2.69.160'], lang: 'auto' })
    const batch = await bodyOf(send('/v1/ip/batch', { method: 'POST', body, headers: german }))
    assert.equal(batch.results[0].location.country.name, 'Vereinigtes Königreich')
  })

  it('is named by the answer, which depends on the header', async () => {
    const auto = await send('/v1/ip/81.2.69.160?lang=auto&include=privacy', { headers: german })
    const headersOf = ({ headers: got }: Response) =>
      ['content-language', 'vary', 'cache-control', 'not-included'].map((name) => got.get(name))
    assert.deepEqual(headersOf(auto), ['de', 'Accept-Language', 'no-store', 'privacy'])
    const plain = await send('/v1/ip/81.2.69.160?lang=de', { headers: german })
    assert.deepEqual(headersOf(plain), [null, null, 'no-store', null])
  })

  it('depends on the origin, too, for a page', async () => {
    const origin = 'https://app.example'
    const publishable = await app.user('ada').key({ type: 'publishable', origins: [origin] })
    const answer = await send('/v1/ip/81.2.69.160?lang=auto', {
      headers: { ...german, origin, 'x-api-key': publishable },
    })
    assert.deepEqual([answer.status, answer.headers.get('vary')], [200, 'Origin, Accept-Language'])
  })
})

describe('a path that exists', () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
    for (const path of ['/v1/ip/batch', '/v1/ip/summary']) {
      it(`answers ${method} ${path} with 405 and Allow`, async () => {
        const { status, headers } = await send(path, { method })
        assert.deepEqual([status, headers.get('allow')], [405, 'POST, OPTIONS'])
      })
    }
  }

  for (const [method, path, allow] of [
    ['GET', '/api/auth/sign-in/email', 'POST, OPTIONS'],
    ['PUT', '/api/auth/sign-up/email', 'POST, OPTIONS'],
    ['POST', '/api/auth/get-session', 'GET, HEAD, OPTIONS'],
    ['GET', '/mcp', 'POST, OPTIONS'],
    ['POST', '/v1/forward-auth', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/docs', 'GET, HEAD, OPTIONS'],
    ['PUT', '/app/keys', 'GET, HEAD, POST, OPTIONS'],
  ] as const) {
    it(`answers ${method} ${path} with 405 and Allow`, async () => {
      const { status, headers } = await send(path, { method })
      assert.deepEqual([status, headers.get('allow')], [405, allow])
    })
  }

  it('names only its own methods to a preflight', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const answer = await send('/v1/ip/batch', { method: 'OPTIONS', headers })
    const { headers: got } = answer
    assert.equal(got.get('allow'), 'POST, OPTIONS')
    assert.doesNotMatch(got.get('access-control-allow-methods') ?? '', /GET/)
  })

  it('still answers its own methods', async () => {
    assert.equal((await send('/v1/ip/81.2.69.160')).status, 200)
    assert.equal((await send('/v1/ip/batches')).status, 400)
  })
})

describe('a preflight', () => {
  it('allows the headers of tracing', async () => {
    const asked = [
      'traceparent',
      'tracestate',
      'baggage',
      'sentry-trace',
      'b3',
      'x-datadog-trace-id',
    ]
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': asked.join(','),
    }
    const answer = await send('/v1/ip/8.8.8.8', { method: 'OPTIONS', headers })
    const allowed = answer.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    for (const name of [...asked, 'x-api-key', 'content-type']) {
      assert.ok(allowed?.includes(name), name)
    }
  })
})

describe('a body that is encoded', () => {
  const json = JSON.stringify({ ips: ['81.2.69.160'] })
  const post = (path: string, encoding: string, body: string | Buffer<ArrayBuffer> = json) =>
    send(path, { method: 'POST', body, headers: { 'content-encoding': encoding } })

  // RFC 9110, sections 15.5.16 and 12.5.3: the answer names the encodings that are read
  for (const encoding of ['gzip', 'GZIP', 'x-gzip', 'deflate', 'br', 'zstd', 'aws-chunked', 'x']) {
    for (const path of ['/v1/ip/batch', '/v1/account/me/keys', '/mcp', '/api/auth/sign-in/email']) {
      it(`is 415 with Accept-Encoding: ${encoding} to ${path}`, async () => {
        const answer = await post(path, encoding, gzipSync(json))
        assert.deepEqual([answer.status, answer.headers.get('accept-encoding')], [415, 'identity'])
        const { error } = await bodyOf(answer)
        assert.equal(error.code, 'UNSUPPORTED_MEDIA_TYPE')
        assert.match(error.message, new RegExp(`"${encoding.toLowerCase()}"$`))
      })
    }
  }

  it('is 415 if one of several encodings is not read', async () => {
    for (const list of ['identity, gzip', 'gzip, identity', ',gzip', 'br,gzip']) {
      assert.equal((await post('/v1/ip/batch', list)).status, 415, list)
    }
  })

  // RFC 9110, sections 8.4.1 (identity) and 5.6.1.2 (empty elements)
  it('is read if the header names no encoding', async () => {
    for (const list of ['identity', 'Identity', '', ' ', ',', ' , identity']) {
      assert.equal((await post('/v1/ip/batch', list)).status, 200, list)
    }
  })

  it('is refused after the credential, like every fault of a body', async () => {
    const headers = { 'x-api-key': 'x', 'content-encoding': 'gzip' }
    const init = { method: 'POST', body: json, headers }
    assert.equal((await send('/v1/ip/batch', init)).status, 401)
  })

  it('leaves an event of Stripe to its signature', async () => {
    assert.equal((await post('/v1/billing/webhook', 'gzip')).status, 400)
  })

  it('is 415 of a beacon once its origin is accepted', async () => {
    assert.equal((await post('/v1/telemetry/rum', 'gzip')).status, 403)
  })
})

describe('the origin of an app', () => {
  for (const origin of ['capacitor://localhost', 'ionic://localhost', 'tauri://localhost']) {
    it(`may use a publishable key: ${origin}`, () => {
      const pattern = parseOriginPattern(origin)
      assert.equal(pattern?.text, origin)
      assert.ok(pattern && matchesOrigin([pattern], origin))
      assert.ok(pattern && !matchesOrigin([pattern], 'https://localhost'))
      assert.ok(pattern && !matchesOrigin([pattern], `${origin}.example`))
      assert.equal(parseOriginPattern(origin.toUpperCase())?.text, origin)
    })
  }

  it('has a scheme that is known, and no other host', () => {
    for (const text of [
      'capacitor://example.com',
      'file://localhost',
      'ionic://*.localhost',
      'capacitor://localhost:80',
      'capacitor://localhost/x',
      'app://localhost',
    ]) {
      assert.equal(parseOriginPattern(text), null, text)
    }
  })
})
