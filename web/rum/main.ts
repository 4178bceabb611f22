import { measure } from './measure.ts'
import { quietly } from './quietly.ts'
import { isSampled, readSettings } from './settings.ts'

/** Set on `window`, so that a page that includes the script twice is measured once. */
const MARK = '__meridianRum'

quietly(() => {
  const script = document.currentScript
  if (!(script instanceof HTMLScriptElement) || !canMeasure() || MARK in window) return
  Reflect.set(window, MARK, true)
  const settings = readSettings(script.dataset, { script: script.src, page: document.baseURI })
  if (isSampled(settings, Math.random())) measure(settings.endpoint)
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
