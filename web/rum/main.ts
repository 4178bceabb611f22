import { measure, type Routes } from './measure.ts'
import { quietly } from './quietly.ts'
import { isSampled, readSettings } from './settings.ts'

/** On `window`, for the page's router. A page that includes the script twice is measured once. */
const ROUTES = 'meridianRum'
const UNMEASURED: Routes = { navigate: () => {} }

quietly(() => {
  const script = document.currentScript
  if (!(script instanceof HTMLScriptElement) || !canMeasure() || ROUTES in window) return
  const settings = readSettings(script.dataset, { script: script.src, page: document.baseURI })
  const isMeasured = isSampled(settings, Math.random())
  Reflect.set(window, ROUTES, isMeasured ? measure(settings.endpoint) : UNMEASURED)
})()

/** False for local files, old browsers, and automated browsers. */
function canMeasure(): boolean {
  return (
    location.protocol.startsWith('http') &&
    'PerformanceNavigationTiming' in window &&
    'PerformanceObserver' in window &&
    'sendBeacon' in navigator &&
    !navigator.webdriver
  )
}
