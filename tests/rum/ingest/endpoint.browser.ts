import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { RumSummary } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { type Visitor, visitors } from '../../pages/browser.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { openShop } from './shop.ts'

/* Real pages, script and service: the summary and overview show what Chromium sent. */

const TIMEOUT_MS = 120_000
const { settings, remove } = newDataFolder()

const openVisitor = visitors()
let server: Running
let key: string
before(async () => {
  server = await startServer(settings)
  const args = [
    'scripts/key.ts',
    '--email',
    'ada@example.com',
    '--name',
    'test',
    '--plan',
    'pro',
    '--scopes',
    'all',
  ]
  key = (await runScript(args, settings)).stdout.trim()
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

const shop = freshly(() => openShop({ '/': page(CONTENT), '/blank': { body: '', headers: {} } }))
let visitor: Visitor
beforeEach(async () => {
  visitor = await openVisitor()
})
afterEach(async () => {
  for (const { id } of await listSites()) await call('DELETE', `/v1/account/me/sites/${id}`)
})

/** Shifts after the first paint, throws an error, and has a slow button. */
const CONTENT = `<h1>Shop</h1><div id="gap"></div><p>Something to move around</p>
<button onclick="for (const end = performance.now() + 100; performance.now() < end;);">Buy</button>
<script>
new PerformanceObserver((list) => { window.hasShifted = list.getEntries().length > 0 })
  .observe({ type: 'layout-shift', buffered: true })
requestAnimationFrame(() => setTimeout(() => { gap.style.height = '200px' }, 50))
addEventListener('load', () => setTimeout(() => {
  setTimeout(() => { window.hasFailed = true })
  throw new TypeError('no basket')
}))
</script>`

/** Hides the page without closing it, so that the test sees whether the browser accepts the answer. */
const HIDE = `Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`

function page(content: string) {
  const head = '<title>Shop</title><link rel="icon" href="data:,">'
  const script = `<script defer src="${server.url}/rum.js"></script>`
  return { body: `<!doctype html><html lang="en">${head}${script}${content}`, headers: {} }
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { 'x-api-key': key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
  const text = await answer.text()
  return text === '' ? undefined : JSON.parse(text)
}

const Sites = v.array(v.object({ id: v.string() }))

async function listSites() {
  return v.parse(Sites, await call('GET', '/v1/account/me/sites'))
}

function register(name: string): Promise<unknown> {
  return call('POST', '/v1/account/me/sites', { name })
}

async function summary() {
  const path = `/v1/telemetry/rum/summary?domain=${encodeURIComponent(shop.origin)}`
  return v.parse(RumSummary, await call('GET', path)).metrics
}

async function overview() {
  const path = `/v1/telemetry/rum/overview?domain=${encodeURIComponent(shop.origin)}`
  return v.parse(RumOverview, await call('GET', path))
}

/** The statuses of all beacons so far, from the server's log. */
function beaconStatuses(): number[] {
  const lines = server.output().split('\n').slice(0, -1)
  const beacons = lines.filter((line) => line.includes('"route":"/v1/telemetry/rum"'))
  return beacons.map((line) => Number(/"status":(\d+)/.exec(line)?.[1]))
}

/** The statuses after the first `count`, as soon as there is one. */
async function nextStatuses(count: number): Promise<number[]> {
  while (beaconStatuses().length <= count) await sleep(50)
  return beaconStatuses().slice(count)
}

async function visitAndClick(): Promise<void> {
  await visitor.page.goto(`${shop.origin}/`)
  await visitor.page.waitForFunction('window.hasShifted && window.hasFailed')
  await visitor.page.click('button')
  await visitor.page.goto(`${shop.origin}/blank`)
}

describe('a page of a registered site', { timeout: TIMEOUT_MS }, () => {
  it('appears in the summary once it is left, and its errors in the overview', async () => {
    await register(shop.origin)
    const before = beaconStatuses().length
    await visitAndClick()
    assert.deepEqual(await nextStatuses(before), [204])
    const [row, ...others] = await summary()
    assert.deepEqual(others, [])
    assert.equal(row?.deviceType, 'desktop')
    assert.equal(row?.sampleCount, 1)
    assert.ok((row?.lcp.p75 ?? 0) > 0)
    assert.ok((row?.cls.p75 ?? 0) > 0)
    assert.ok((row?.ttfb.p75 ?? 0) > 0)
    assert.ok((row?.inp.p75 ?? 0) >= 100, 'the slow click must be measured')
    const { errors, paths, beacons } = await overview()
    const thrown = errors.map(({ message, type, count, path }) => [message, type, count, path])
    assert.deepEqual(thrown, [['Uncaught TypeError: no basket', 'TypeError', 1, '/']])
    const visited = paths.map(({ path, sampleCount }) => [path, sampleCount])
    assert.deepEqual(visited, [['/', 1]])
    assert.equal(beacons.accepted, 1)
    assert.deepEqual(visitor.errors, ['TypeError: no basket'])
  })

  it('can read the answer to its beacon', async () => {
    await register(shop.origin)
    await visitor.page.goto(`${shop.origin}/`)
    await visitor.page.waitForFunction('window.hasFailed')
    const before = beaconStatuses().length
    const answered = visitor.page.waitForResponse(`${server.url}/v1/telemetry/rum`)
    await visitor.page.evaluate(HIDE)
    assert.equal((await answered).status(), 204)
    assert.deepEqual(await nextStatuses(before), [204])
    // Gives the browser time to check the answer to the beacon.
    await visitor.page.evaluate('fetch("/blank").then((answer) => answer.text())')
    assert.deepEqual(visitor.errors, ['TypeError: no basket'])
  })
})

describe('a page of a site that is not registered', { timeout: TIMEOUT_MS }, () => {
  it('is refused with 403', async () => {
    const before = beaconStatuses().length
    await visitAndClick()
    assert.deepEqual(await nextStatuses(before), [403])
    await register(shop.origin)
    assert.equal((await overview()).beacons.accepted, 0)
  })
})
