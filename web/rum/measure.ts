import { onCLS, onINP, onLCP } from 'web-vitals'
import { writeBeacon } from './beacon.ts'
import { type Failure, toPageError } from './page-error.ts'
import { addError, finish, newPageView } from './page-view.ts'
import { quietly } from './quietly.ts'
import { send } from './send.ts'
import { roundMs } from './timing.ts'

/**
 * Measures the page and sends one beacon per page view, when it is hidden for the first time. A page
 * that is restored from the back/forward cache begins a new view.
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
  // What waits for an idle moment when the page is hidden is reported as a change, or never.
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
 * web-vitals no longer has FID; browsers still tell the first input. Returns what reads one that is
 * not reported yet.
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
 * Listens without capture, so that web-vitals, which listens with it, has reported before. A page
 * that is left is told `pagehide` first and `visibilitychange` then: only where no LCP is measured
 * is the former enough, and old browsers tell nothing else.
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
