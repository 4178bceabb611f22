import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { jsx } from 'hono/jsx'
import { FIELDS } from '../../../lib/contract/geo/geolocation.ts'
import { INCLUDES, includeTexts } from '../../../lib/contract/geo/includes.ts'
import { errorCodes, type Operation } from '../../../lib/contract/operation.ts'
import { operations } from '../../../lib/contract/operations.ts'
import { ERROR_STATUS } from '../../../lib/parts/errors.ts'
import { GUIDES, operationPath } from '../../../pages/reference/contents.ts'
import {
  doubleQuoted,
  goQuoted,
  phpQuoted,
  shellQuoted,
} from '../../../pages/reference/samples/literal.ts'
import { ON_POSIX } from '../../support/runtime.ts'
import { visitPage } from '../../support/scene/pages.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { samplesIn } from './samples-in.ts'

const rows: readonly Operation[] = operations

const app = sharedScene()

const load = (path: string) => visitPage(app, path)

/** The text of the page, without tags. */
async function textOf(path: string): Promise<string> {
  const { status, html } = await load(path)
  assert.equal(status, 200, path)
  const text = html.replaceAll('<wbr/>', '').replaceAll(/<[^>]*>/g, ' ')
  return text.replaceAll(/\s+/g, ' ')
}

describe('the reference of an operation', () => {
  for (const row of rows) {
    it(`says what it does, takes and answers: ${row.id}`, async () => {
      const path = operationPath(row)
      const { html } = await load(path)
      const text = await textOf(path)
      assert.ok(html.includes(`<code>${row.path}</code>`))
      assert.match(html, new RegExp(`<span class="method ${row.method}">`))
      for (const name of [row.params, row.headers].flatMap((named) => Object.keys(named ?? {}))) {
        assert.ok(text.includes(` ${name} `), name)
      }
      for (const code of errorCodes(row)) assert.ok(text.includes(` ${code} `), code)
      for (const status of Object.keys(row.replies)) assert.ok(text.includes(` ${status} `))
      const { curl } = samplesIn(html)
      assert.equal(curl.includes('YOUR_API_KEY'), row.access !== 'public')
      assert.doesNotMatch(curl, /\{\w+\}|=(&|'|$)/, 'a parameter has no example')
    })
  }

  it('names the scope and the limit', async () => {
    const text = await textOf('/docs/operations/createKey')
    assert.match(text, /Access A key with the scope account:write , or a session/)
    const limit = /Limit 120 requests per minute for each user 30 requests per hour that succeed/
    assert.match(text, limit)
    const ofExport = await textOf('/docs/operations/exportAccount')
    assert.match(ofExport, /A key with full access, or a session/)
    assert.match(await textOf('/docs/operations/getHealth'), /No key needed Limit None/)
  })

  it('has the body and the nested fields of the answer', async () => {
    const text = await textOf('/docs/operations/createKey')
    assert.match(text, /Body name required text; at most 100 characters/)
    assert.match(text, /One of secret , publishable/)
    const answer = await textOf('/docs/operations/locateAddress')
    assert.match(answer, /location object; optional Location of an address/)
    assert.match(answer, /accuracyRadius whole number; at least 1; optional Miles/)
  })

  it('lists what each value of a parameter means, and lists no value twice', async () => {
    const { html } = await load('/docs/operations/locateAddress')
    assert.match(html, /<li><code>network<\/code>: <code>network\.prefix<\/code>, the block/)
    assert.match(html, /<li><code>hostname<\/code>: .*?<\/ul><\/li>/)
    const { html: markdown } = await load('/docs/operations/locateBatch.md')
    assert.match(
      markdown,
      /^- `include` \([^)]*\): Add [^\n]*\n\n {2}- `network`: [^`]*`network\.prefix`.*\n {2}- `privacy`/m,
    )
    assert.match(markdown, /^ {2}- `country`: [^\n]*`location\.country\.languages`\n- `lang`/m)
  })

  it('names what a value adds as `fields` takes it', () => {
    const named = includeTexts(INCLUDES).flatMap((text) => [
      ...text.matchAll(/(?<=[:,] |and )`(.+?)`/g),
    ])
    const fields = named.map(([, field = '']) => field)
    assert.ok(fields.length > INCLUDES.length)
    assert.deepEqual(
      fields.filter((field) => !FIELDS.includes(field)),
      [],
    )
  })

  it('is 404 for an unknown name', async () => {
    for (const path of ['/docs/operations/nothing', '/docs/guides/constructor', '/docs/x']) {
      const { status, html } = await load(path)
      assert.equal(status, 404, path)
      assert.match(html, /Page not found/)
    }
  })
})

describe('the first page of the reference', () => {
  it('has a quick start and links to every page', async () => {
    const { html } = await load('/docs')
    assert.match(html, /<h2>Quick start<\/h2>/)
    assert.match(samplesIn(html).curl, /^curl 'http:\/\/127\.0\.0\.1:8787\/v1\/ip\/81\.2\.69\.160'/)
    for (const row of rows) assert.ok(html.includes(`href="${operationPath(row)}"`), row.id)
    for (const { name } of GUIDES) assert.ok(html.includes(`href="/docs/guides/${name}"`), name)
  })

  it('says what each guide is about, and folds long groups, whose links stay in the page', async () => {
    const { html } = await load('/docs')
    const main = html.slice(html.indexOf('<main'))
    for (const { title, about } of GUIDES) {
      assert.ok(main.includes(`>${title} <span>${about}</span></a>`), title)
    }
    const folded = [...main.matchAll(/<h2>([^<]*)<\/h2><details><summary>(\d+) operations</g)]
    for (const [, title, length] of folded) {
      assert.equal(rows.filter(({ tag }) => tag === title).length, Number(length))
    }
    assert.deepEqual(
      folded.map(([, title]) => title),
      ['Account', 'Billing'],
    )
    const { html: index } = await load('/llms.txt')
    for (const { about } of GUIDES) assert.ok(index.includes(`.md): ${about}\n`), about)
  })

  it('is the documentation that GET /v1 links to', async () => {
    const { body } = await app.send('GET', '/v1')
    assert.partialDeepStrictEqual(body, { documentation: 'http://127.0.0.1:8787/docs' })
  })
})

describe('the search of the reference', () => {
  /** The pages that the search finds. */
  async function find(query: string): Promise<(string | undefined)[]> {
    const { html } = await load(`/docs?q=${encodeURIComponent(query)}`)
    const main = html.slice(html.indexOf('<main'))
    return [...main.matchAll(/<li><a href="([^"]*)"/g)].map(([, path]) => path)
  }

  it('finds operations by name, path, field, error and several words', async () => {
    assert.deepEqual(await find('renewKey'), ['/docs/operations/renewKey'])
    const ofBatches = ['/docs/guides/batches', '/docs/operations/locateBatch']
    assert.deepEqual(await find('/v1/ip/batch'), ofBatches)
    assert.ok((await find('accuracyRadius')).includes('/docs/operations/locateAddress'))
    assert.ok((await find('site_limit_reached')).includes('/docs/operations/createSite'))
    assert.ok((await find('RENEW key')).includes('/docs/operations/renewKey'))
    assert.ok((await find('limits')).includes('/docs/guides/limits'))
  })

  it('finds guides by what they say', async () => {
    for (const [query, guide] of [
      ['Retry-After', 'limits'],
      ['bearer', 'authentication'],
      ['MERIDIAN_CORS_ORIGINS', 'authentication'],
      ['text/csv', 'batches'],
      ['postalCode', 'fields'],
    ] as const) {
      assert.ok((await find(query)).includes(`/docs/guides/${guide}`), query)
    }
  })

  it('says that nothing was found, and escapes the text', async () => {
    const { html } = await load(`/docs?q=${encodeURIComponent('<b>nope"</b>')}`)
    assert.match(html, /No page contains <q>&lt;b&gt;nope&quot;&lt;\/b&gt;<\/q>/)
    assert.match(html, /value="&lt;b&gt;nope&quot;&lt;\/b&gt;"/)
    assert.deepEqual(await find('<b>nope"</b>'), [])
  })

  it('gives its script the words of every page', async () => {
    const { html } = await load('/docs/search.json')
    const index: { readonly path: string }[] = JSON.parse(html)
    assert.equal(index.length, rows.length + GUIDES.length)
    for (const { path } of index) assert.equal((await load(path)).status, 200)
  })
})

describe('a guide', () => {
  it('has every error code with its status', async () => {
    const text = await textOf('/docs/guides/errors')
    for (const [code, status] of Object.entries(ERROR_STATUS)) {
      assert.ok(text.includes(` ${code} ${status} `), code)
    }
  })

  it('has the limits of every plan', async () => {
    const text = await textOf('/docs/guides/limits')
    for (const { name, requestsPerMinute } of app.services.plans.list) {
      assert.match(text, new RegExp(` ${name} ${requestsPerMinute} `))
    }
    assert.match(text, /Beacons: 100 requests per minute for each IP address/)
    assert.match(text, /Inquiries: 5 requests in 15 minutes/)
  })
})

describe('the reference as Markdown', () => {
  it('has a page for every operation and guide, which /llms.txt lists', async () => {
    const { html } = await load('/llms.txt')
    assert.match(html, /^# Meridian\n\n> IP geolocation/)
    const links = [...html.matchAll(/\]\(http:\/\/127\.0\.0\.1:8787(\/docs\/[^)]+)\)/g)]
    assert.equal(links.length, rows.length + GUIDES.length)
    for (const [, path = ''] of links) {
      const page = await load(path)
      assert.equal(page.status, 200, path)
      assert.match(page.html, /^# \S/)
      assert.doesNotMatch(page.html, /\]\(\/|(?<!is )undefined|\[object/)
    }
  })

  it('says what the page says', async () => {
    const { html } = await load('/docs/operations/createKey.md')
    assert.match(html, /^# Create a key\n\n`POST \/v1\/account\/me\/keys`\n/)
    assert.match(html, /^- `name` \(text; at most 100 characters; required\): Stored without/m)
    const field = /^- `allowedOrigins` \(list of texts or null; 1 to 20 entries\): For publishable/m
    assert.match(html, field)
    assert.match(html, /^- 403 `KEY_LIMIT_REACHED`: The plan allows no more keys$/m)
    const location = await load('/docs/operations/locateAddress.md')
    assert.match(location.html, /^ {4}- `code` \(text; required\)/m)
    assert.match((await load('/docs/guides/errors.md')).html, /^\| `NOT_FOUND` \| 404 \|/m)
  })
})

describe('a page of the reference', () => {
  it('is rendered once', async (t) => {
    const paths = ['/docs', '/docs/operations/locateAddress', '/docs/guides/fields']
    for (const path of paths) await load(path)
    const rendering = t.mock.method(Object.getPrototypeOf(jsx('p', {})), 'toStringToBuffer')
    for (const path of paths) await load(path)
    assert.equal(rendering.mock.callCount(), 0)
  })
})

/** Texts without U+0000, which no argument of a process can have. */
const TEXT = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '`', '\n', '\r', '\t', '{', ' ', 'a', '!'),
  }),
)
const withoutNull = TEXT.filter((text) => !text.includes('\0'))
describe('a literal in a sample', () => {
  it('is the same text to a shell', ON_POSIX, () => {
    const given = fc.sample(withoutNull, { numRuns: 300, seed: 1 })
    const input = given.map((text) => `printf '%s\\000' ${shellQuoted(text)}\n`).join('')
    const printed = execFileSync('sh', ['-s'], { input, encoding: 'utf8' })
    assert.deepEqual(printed.split('\0').slice(0, -1), given)
  })

  it('is the same text to TypeScript', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        assert.equal(new Function(`return ${doubleQuoted(text)}`)(), text)
      }),
    )
  })

  it('is the same text to Go', () => {
    fc.assert(fc.property(TEXT, (text) => assert.equal(readGo(goQuoted(text)), text)))
  })

  it('is the same text to PHP', () => {
    fc.assert(fc.property(TEXT, (text) => assert.equal(readPhp(phpQuoted(text)), text)))
  })
})

/** The Go specification, "String literals": raw ones lose carriage returns and end at a backquote. */
function readGo(literal: string): string {
  if (!literal.startsWith('`')) {
    assert.doesNotMatch(literal.replaceAll(/\\[bfnrt"\\]|\\u[\da-f]{4}/g, ''), /\\/)
    return JSON.parse(literal)
  }
  const inner = literal.slice(1, -1)
  assert.ok(literal.endsWith('`') && !/[`\r\ufeff]/.test(inner))
  return inner
}

/** PHP's manual, "Single quoted": a backslash escapes only itself and the quote. */
function readPhp(literal: string): string {
  const [, inner = ''] = /^'((?:[^'\\]|\\[\s\S])*)'$/.exec(literal) ?? assert.fail(literal)
  return inner.replaceAll(/\\(['\\])/g, '$1')
}
