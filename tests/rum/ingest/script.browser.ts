import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import * as v from 'valibot'
import { ScriptTag } from '../../../lib/contract/telemetry/script.ts'
import type { Beacon } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { browseAlone, type Visitor, visitors } from '../../pages/browser.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { openReceiver } from './receiver.ts'
import { openShop, type ShopPage } from './shop.ts'

const TIMEOUT_MS = 120_000

const openVisitor = visitors()
const receiver = freshly(openReceiver)
const shop = freshly(async () => openShop(await pagesWith(receiver.origin)))
let visitor: Visitor
beforeEach(async () => {
  visitor = await openVisitor()
})

/** Shifts after the first paint, and has a slow button. */
const CONTENT = `<h1>Shop</h1><div id="gap"></div><p>Something to move around</p>
<button onclick="for (const end = performance.now() + 100; performance.now() < end;);">Buy</button>
<script>
new PerformanceObserver((list) => { window.hasShifted = list.getEntries().length > 0 })
  .observe({ type: 'layout-shift', buffered: true })
requestAnimationFrame(() => setTimeout(() => { gap.style.height = '200px' }, 50))
</script>`

/** Shows another text for each route, by a click, as a single-page application does. */
const ROUTES = `<h1>Home</h1><button onclick="show('/app/a')">A</button><button onclick="show('/app/b')">B</button>
<p id="text">Start</p><script>
function show(path) {
  for (const end = performance.now() + (path === '/app/b' ? 250 : 100); performance.now() < end;);
  history.pushState({}, '', path)
  window.meridianRum.navigate('/app/[letter]')
  text.innerHTML = '<b class="big">' + path.repeat(40) + '</b>'
}
</script>`

/** Throws the same error three times, and rejects a promise. */
const FAILURES = `<h1>Broken</h1><script>
window.failures = 0
const count = () => { window.failures += 1 }
addEventListener('load', () => {
  addEventListener('error', count)
  addEventListener('unhandledrejection', count)
  for (let n = 0; n < 3; n++) setTimeout(() => { throw new TypeError('no basket') })
  Promise.reject(new RangeError('no stock'))
})
</script>`

/** Follows its link once the target is prerendered. */
const LAUNCH = `<script type="speculationrules">
{ "prerender": [{ "urls": ["/prerendered"], "eagerness": "immediate" }] }
</script>
<a id="link" href="/prerendered">Shop</a>
<script>fetch('/awaited').then(() => link.click())</script>`

/** Leaves once it is shown after prerendering; otherwise it stays. */
const PRERENDERED = `<h1>Prerendered</h1><script>
const leave = () => { location.href = '/blank' }
const shown = () => new PerformanceObserver(leave)
  .observe({ type: 'largest-contentful-paint', buffered: true })
addEventListener('load', () => {
  if (document.prerendering) fetch('/requested')
})
document.addEventListener('prerenderingchange', shown)
</script>`

async function pagesWith(origin: string) {
  const described = await fetch(`${origin}/rum.json`)
  const { integrity, snippet } = v.parse(ScriptTag, await described.json())
  const script = await fetch(`${origin}/rum.js`)
  const own = `<script defer src="/copy.js" data-endpoint="${origin}/v1/telemetry/rum"></script>`
  const tag = (attributes = '') => `<script defer src="${origin}/rum.js"${attributes}></script>`
  const csp = `default-src 'none'; script-src '${integrity}'; img-src data:; connect-src ${origin}`
  return {
    '/': page(`${tag()}${CONTENT}`),
    '/app': page(`${tag()}${ROUTES}`),
    '/other': page(`${tag()}<h1>Other</h1>`),
    '/blank': page(''),
    '/unmeasured': page(`${tag(' data-sample="0"')}<h1>Unmeasured</h1>`),
    '/twice': page(`${tag()}${tag()}<h1>Twice</h1>`),
    '/broken': page(`${tag()}${FAILURES}`),
    '/strict': page(`${snippet}<h1>Strict</h1>`, { 'content-security-policy': csp }),
    '/changed': page(`${snippet.replace('sha384-', 'sha384-A')}<h1>Changed</h1>`),
    '/secretive': page(`${tag()}<h1>Secretive</h1>`, { 'referrer-policy': 'no-referrer' }),
    '/own': page(`${own}<h1>Own</h1>`),
    '/copy.js': { body: await script.text(), headers: { 'content-type': 'text/javascript' } },
    '/launch': page(LAUNCH),
    '/prerendered': page(`${tag()}${PRERENDERED}`),
  } satisfies Record<string, ShopPage>
}

function page(body: string, headers: Readonly<Record<string, string>> = {}): ShopPage {
  const head = '<title>Shop</title><link rel="icon" href="data:,">'
  return { body: `<!doctype html><html lang="en">${head}${body}`, headers }
}

async function visit(path: string): Promise<Page> {
  await visitor.page.goto(`${shop.origin}${path}`)
  await waitForPaint(visitor.page)
  return visitor.page
}

async function leave(): Promise<void> {
  await visitor.page.goto(`${shop.origin}/blank`)
}

/** Waits until the page is painted and the browser has reported it. */
async function waitForPaint(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => new PerformanceObserver(
    () => requestAnimationFrame(() => requestAnimationFrame(() => done())),
  ).observe({ type: 'largest-contentful-paint', buffered: true }))`)
}

async function beacons(count: number): Promise<readonly Beacon[]> {
  return (await receiver.received(count)).map(({ beacon }) => beacon)
}

/** All paths that were sent. Visits a last page that sends, so that none is missed. */
async function pathsAfter(path: string, count: number): Promise<unknown[]> {
  await visit(path)
  await leave()
  return (await beacons(count)).map((beacon) => beacon.path)
}

describe('a page with the script', { timeout: TIMEOUT_MS }, () => {
  it('sends its measurements when it is left', async () => {
    const page = await visit('/?token=secret#part')
    await page.waitForFunction('window.hasShifted')
    await page.click('button')
    await leave()
    const [beacon] = await beacons(1)
    const { lcp = -1, cls = -1, inp = -1, fid = -1, ttfb = -1 } = beacon?.metrics ?? {}
    assert.ok(lcp > 0)
    assert.ok(cls > 0 && cls < 1)
    assert.ok(inp >= 100, 'the slow click must be measured')
    assert.ok(fid >= 0)
    assert.ok(ttfb > 0)
    assert.ok((beacon?.metrics?.request ?? 0) > 0)
    assert.equal(beacon?.path, '/')
    assert.equal(beacon?.deviceType, 'desktop')
    assert.equal(beacon?.connectionType, '4g')
    assert.deepEqual(visitor.errors, [])
  })

  it('says which elements its values are attributed to, and the phase of the interaction', async () => {
    const page = await visit('/')
    await page.waitForFunction('window.hasShifted')
    // As people do: in one event of the device, the button is pressed, in another released.
    await page.click('button', { delay: 100 })
    await leave()
    const [beacon] = await beacons(1)
    const { lcp, inp, inpPhase, cls } = beacon?.attribution ?? {}
    assert.equal(lcp, 'html>body>p')
    assert.equal(inp, 'html>body>button')
    assert.equal(inpPhase, 'processing')
    assert.match(cls ?? '', /^(#gap|html>body>(p|button))$/)
    assert.deepEqual(visitor.errors, [])
  })

  it('measures soft navigations apart, under the names that the router gives', async () => {
    const page = await visit('/app')
    for (const name of ['A', 'B']) {
      const shown = page.evaluate(`new Promise((done) => new PerformanceObserver(() => done())
        .observe({ type: 'soft-navigation' }))`)
      await page.click(`button:text("${name}")`)
      await shown
    }
    await leave()
    const views = await beacons(3)
    assert.deepEqual(
      views.map(({ path }) => path),
      ['/app', '/app/[letter]', '/app/[letter]'],
    )
    assert.ok((views[0]?.metrics?.ttfb ?? -1) >= 0)
    assert.ok((views[0]?.metrics?.inp ?? 0) >= 100)
    for (const { metrics, attribution } of views.slice(1)) {
      assert.equal(metrics?.ttfb, undefined, 'nothing was fetched')
      assert.ok((metrics?.lcp ?? 0) >= 100, 'from the click to the paint')
      assert.equal(attribution?.lcp, '#text')
    }
    assert.deepEqual(visitor.errors, [])
  })

  it('measures the interactions of each route where the browser reports no soft navigations', async () => {
    await visitor.page.addInitScript(`
      const types = PerformanceObserver.supportedEntryTypes.filter((type) => type !== 'soft-navigation')
      Object.defineProperty(PerformanceObserver, 'supportedEntryTypes', { value: types })`)
    const page = await visit('/app')
    for (const name of ['A', 'B']) {
      const measured = page.evaluate(`new Promise((done) => new PerformanceObserver((list) => {
        if (list.getEntries().some(({ interactionId }) => interactionId > 0)) done()
      }).observe({ type: 'event', durationThreshold: 16 }))`)
      await page.click(`button:text("${name}")`, { delay: 100 })
      await measured
    }
    await leave()
    const [load, route, ...others] = await beacons(2)
    assert.deepEqual(others, [])
    assert.equal(load?.path, '/app')
    assert.equal(route?.path, '/app/[letter]')
    assert.ok((route?.metrics?.inp ?? 0) >= 200)
    assert.ok((load?.metrics?.inp ?? 200) < 200, 'the slower click was on the route')
    const { inp, inpPhase } = route?.attribution ?? {}
    assert.deepEqual([inp, inpPhase], ['html>body>button', 'processing'])
    assert.deepEqual(Object.keys(route?.metrics ?? {}), ['inp'])
  })

  it('sends its origin, but no referrer and no cookie, without a preflight', async () => {
    for (const path of ['/', '/secretive']) {
      await visit(path)
      await visitor.page.evaluate('document.cookie = "a=b"')
      await leave()
    }
    for (const { headers } of await receiver.received(2)) {
      assert.equal(headers.origin, shop.origin)
      assert.equal(headers.referer, undefined)
      assert.equal(headers.cookie, undefined)
      assert.match(headers['content-type'] ?? '', /^text\/plain/)
    }
    assert.deepEqual(visitor.errors, [])
  })

  it('sends one beacon when it is closed', async () => {
    const page = await visit('/')
    await page.close({ runBeforeUnload: true })
    const [beacon] = await beacons(1)
    assert.ok((beacon?.metrics?.lcp ?? 0) > 0)
  })

  it('sends one beacon per view', async () => {
    await visit('/')
    await visit('/twice')
    const paths = await pathsAfter('/other', 3)
    assert.deepEqual(paths, ['/', '/twice', '/other'])
  })

  it('sends another beacon after it is restored from the back/forward cache', async () => {
    await visit('/other')
    await leave()
    await visitor.page.goBack({ waitUntil: 'commit' })
    await waitForPaint(visitor.page)
    await leave()
    const [first, second] = await beacons(2)
    assert.ok((first?.metrics?.ttfb ?? 0) > 0)
    assert.equal(second?.path, '/other')
    assert.ok((second?.metrics?.lcp ?? 0) > 0)
    assert.equal(second?.metrics?.cls, 0)
    assert.equal(second?.metrics?.ttfb, undefined, 'the page was not fetched again')
  })

  it('is measured from its activation on if it was prerendered', async () => {
    await using _browsing = await browseAlone(`${shop.origin}/launch`)
    const [beacon, ...others] = await beacons(1)
    assert.deepEqual(others, [])
    assert.equal(beacon?.path, '/prerendered')
    assert.equal(beacon?.metrics?.ttfb, 0, 'the page arrived before the activation')
    assert.ok((beacon?.metrics?.lcp ?? 0) > 0)
  })

  it('sends each error once', async () => {
    const page = await visit('/broken')
    await page.waitForFunction('window.failures === 4')
    await leave()
    const [beacon] = await beacons(1)
    const errors = beacon?.errors?.map(({ message, type, source }) => [message, type, source])
    assert.deepEqual(errors?.toSorted(), [
      ['Uncaught TypeError: no basket', 'TypeError', `${shop.origin}/broken`],
      ['no stock', 'RangeError', undefined],
    ])
  })

  it('runs the script under a policy that allows only its integrity value', async () => {
    await visit('/strict')
    await leave()
    const [beacon] = await beacons(1)
    assert.equal(beacon?.path, '/strict')
    assert.deepEqual(visitor.errors, [])
  })

  it('does not run a script with another integrity value', async () => {
    await visit('/changed')
    assert.deepEqual(await pathsAfter('/other', 1), ['/other'])
    assert.match(visitor.errors.join(), /integrity/)
  })

  it('sends nothing if the sample is 0', async () => {
    await visit('/unmeasured')
    assert.deepEqual(await pathsAfter('/other', 1), ['/other'])
  })

  it('may host the script itself, and name the endpoint', async () => {
    assert.deepEqual(await pathsAfter('/own', 1), ['/own'])
    assert.deepEqual(visitor.errors, [])
  })

  it('sends all other data from a browser that measures no vitals', async () => {
    await visitor.page.addInitScript(`
      delete window.PerformanceEventTiming
      Object.defineProperty(PerformanceObserver, 'supportedEntryTypes', { value: [] })`)
    await visit('/broken')
    await visitor.page.waitForFunction('window.failures === 4')
    await leave()
    const [beacon] = await beacons(1)
    assert.ok((beacon?.metrics?.ttfb ?? 0) > 0)
    assert.equal(beacon?.metrics?.lcp, undefined)
    assert.equal(beacon?.errors?.length, 2)
  })

  it('sends its beacon from a browser without keepalive', async () => {
    await visitor.page.addInitScript('delete Request.prototype.keepalive')
    await visit('/')
    await leave()
    const [received] = await receiver.received(1)
    assert.equal(received?.headers.origin, shop.origin)
    assert.match(received?.headers['content-type'] ?? '', /^text\/plain/)
    assert.deepEqual(visitor.errors, [])
  })

  it('does nothing in a browser without the needed APIs', async () => {
    const other = await openVisitor()
    await other.page.addInitScript('delete window.PerformanceNavigationTiming')
    await other.page.goto(`${shop.origin}/`)
    await other.page.goto(`${shop.origin}/blank`)
    await other.page.context().close()
    assert.deepEqual(await pathsAfter('/other', 1), ['/other'])
    assert.deepEqual(other.errors, [])
  })
})
