import { onCLS, onINP, onLCP } from 'web-vitals'
import { writeBeacon } from './beacon.ts'
import { type Failure, toPageError } from './page-error.ts'
import { addError, finish, newPageView } from './page-view.ts'
import { quietly } from './quietly.ts'
import { roundMs } from './timing.ts'

/**
 * Measures the page and sends one beacon per page view, when the page is first hidden. A page that is
 * restored from the back/forward cache starts a new view.
 */
export function measure(endpoint: string): void {
  let view = newPageView(false)
  let isSent = false
  const flush = () => {
    if (isSent) return
    isSent = true
    readFirstInput()
    const body = writeBeacon(finish(view))
    if (body !== null) send(endpoint, body)
  }
  const restart = () => {
    view = newPageView(true)
    isSent = false
  }
  onLCP(({ value }) => {
    view.metrics.lcp = roundMs(value)
  })
  // The final value is reported when the page is idle, which may be too late: read every change.
  const everyChange = { reportAllChanges: true }
  onINP(({ value }) => {
    view.metrics.inp = roundMs(value)
  }, everyChange)
  onCLS(({ value }) => {
    view.metrics.cls = Math.round(value * 10_000) / 10_000
  })
  const readFirstInput = onFirstInput((delayMs) => {
    view.metrics.fid = roundMs(delayMs)
  })
  onFailure((failure) => addError(view, toPageError(failure)))
  onHidden(flush)
  addEventListener(
    'pageshow',
    quietly((event) => event.persisted && restart()),
  )
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
