import { type Metric, onCLS, onINP, onLCP } from 'web-vitals'
import type { Attribution } from '../../lib/contract/telemetry/attribution.ts'
import { attributeCls, attributeInp, attributeLcp } from './attribution.ts'
import { type Failure, toPageError } from './page-error.ts'
import { addError, type PageView } from './page-view.ts'
import { quietly } from './quietly.ts'
import { roundMs } from './timing.ts'
import { createViews, type Views } from './views.ts'

/** What the router of a single-page application calls. */
export interface Routes {
  /**
   * Says that the page shows the route `path`, such as `/product/[id]`, after its URL has changed. Where the
   * browser reports no soft navigations, this begins a page view, of which only the interactions are measured.
   */
  readonly navigate: (path: string) => void
}

/**
 * Measures the page and sends one beacon per page view, when the page is first hidden. A page that is restored
 * from the back/forward cache starts a new view, and so does a soft navigation: a change of URL and content
 * after an interaction, which some browsers report.
 */
export function measure(endpoint: string): Routes {
  const views = createViews((body) => send(endpoint, body))
  const set = (metric: Metric, value: PageView['metrics'], attribution: Attribution) =>
    addValue(views.of(metric), value, attribution)
  const opts = { reportSoftNavs: true }
  onLCP((metric) => set(metric, { lcp: roundMs(metric.value) }, attributeLcp(metric)), opts)
  // The final value is reported when the page is idle, which may be too late: read every change.
  const everyChange = { ...opts, reportAllChanges: true }
  onINP((metric) => set(metric, { inp: roundMs(metric.value) }, attributeInp(metric)), everyChange)
  onCLS((metric) => {
    const cls = Math.round(metric.value * 10_000) / 10_000
    set(metric, { cls }, attributeCls(metric))
  }, everyChange)
  const readFirstInput = onFirstInput((delayMs) => {
    views.loaded().metrics.fid = roundMs(delayMs)
  })
  onFailure((failure) => addError(views.current(), toPageError(failure)))
  onHidden(() => {
    readFirstInput()
    views.flush()
  })
  addEventListener(
    'pageshow',
    quietly((event) => event.persisted && views.restore()),
  )
  const beginRoute = canObserve('soft-navigation') ? () => {} : measureRoutes(views)
  return { navigate: quietly((path) => views.name(path) && beginRoute()) }
}

function addValue(
  view: PageView | undefined,
  value: PageView['metrics'],
  attribution: Attribution,
): void {
  if (view === undefined) return
  Object.assign(view.metrics, value)
  view.attribution = { ...view.attribution, ...attribution }
}

/** The shortest that browsers report, in milliseconds: Event Timing, section 3. */
const MIN_INTERACTION_MS = 16

/**
 * Returns a function that begins the view of a route. From then on, its INP is its slowest interaction: web-vitals
 * starts anew only with loads, restores and soft navigations.
 */
function measureRoutes(views: Views): () => void {
  /** When each began, newest first: the interaction that leaves a route is reported after that. */
  const routes: (readonly [since: number, view: PageView])[] = []
  const read = (entry: PerformanceEventTiming, all: readonly PerformanceEventTiming[]) => {
    const { interactionId, startTime, duration } = entry
    const route = routes.find(([since]) => since <= startTime)?.[1]
    if (!interactionId || !route || duration <= (route.metrics.inp ?? 0)) return
    // A click is two events, of which the first may have no handler.
    const entries = all.filter((one) => one.startTime === startTime && one.duration === duration)
    addValue(route, { inp: roundMs(duration) }, attributeInp({ entries }))
  }
  const options = { type: 'event', durationThreshold: MIN_INTERACTION_MS }
  if (canObserve('event')) {
    // safe: the entries of this type
    const readAll = (list: PerformanceObserverEntryList) => {
      const entries = list.getEntries() as PerformanceEventTiming[]
      for (const entry of entries) read(entry, entries)
    }
    new PerformanceObserver(quietly(readAll)).observe(options)
  }
  return () => {
    routes.unshift([performance.now(), views.route()])
    routes.splice(2)
  }
}

/**
 * Measures FID, which web-vitals no longer measures. Returns a function that reads a first input that
 * the browser has recorded but not yet reported.
 */
function onFirstInput(report: (delayMs: number) => void): () => void {
  const read = (entries: PerformanceEntryList) => {
    for (const entry of entries) {
      if (entry instanceof PerformanceEventTiming) report(entry.processingStart - entry.startTime)
    }
  }
  const observer = new PerformanceObserver(quietly((list) => read(list.getEntries())))
  if (canObserve('first-input')) observer.observe({ type: 'first-input', buffered: true })
  return () => read(observer.takeRecords())
}

function onFailure(report: (failure: Failure) => void): void {
  addEventListener('error', quietly(report))
  addEventListener(
    'unhandledrejection',
    quietly(({ reason }) => report({ error: reason })),
  )
}

/**
 * Listens without capture, so that web-vitals, which captures, reports first. When the visitor leaves
 * a page, `pagehide` fires before `visibilitychange`, so before web-vitals has reported. It is used
 * only in browsers that do not measure LCP: old ones fire no other event.
 */
function onHidden(flush: () => void): void {
  const onChange = () => {
    if (document.visibilityState === 'hidden') flush()
  }
  addEventListener('visibilitychange', quietly(onChange))
  if (canObserve('largest-contentful-paint')) return
  addEventListener('pagehide', quietly(flush))
}

function canObserve(entryType: string): boolean {
  return PerformanceObserver.supportedEntryTypes.includes(entryType)
}

/**
 * Sends the text even if the page closes. It goes as text/plain, which needs no preflight: that could
 * not finish once the page is closed. `fetch` sends the page's origin under every referrer policy;
 * `sendBeacon` may send `null` instead, so only browsers without keepalive use it.
 */
function send(endpoint: string, body: string): void {
  if (!('keepalive' in Request.prototype)) {
    navigator.sendBeacon(endpoint, body)
    return
  }
  const init = {
    method: 'POST',
    body,
    keepalive: true,
    mode: 'cors',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  } as const
  fetch(endpoint, init).catch(() => {})
}
