import type { Metric } from 'web-vitals'
import { PATH_LENGTH, pathOf, writeBeacon } from './beacon.ts'
import { finish, newPageView, type PageView } from './page-view.ts'

export type Views = ReturnType<typeof createViews>

/**
 * The views of a page: the one that its load has begun, and those of restores from the back/forward cache, of soft
 * navigations and of routes. `send` gets the beacon of each, once.
 */
export function createViews(send: (body: string) => void) {
  /** The view of the load or the last restore. */
  let loaded = newPageView(location.href, { isFetched: true })
  let current = loaded
  /** The last values of a view are reported after the next one has begun, so it is sent one later. */
  let previous = loaded
  const soft = new Map<number, PageView>()
  /** When the first route since the load or restore has begun: web-vitals goes on to measure that view. */
  let routedAt = Number.POSITIVE_INFINITY
  /** The names of routes, by the path of their URL. */
  const names = new Map<string, string>()
  const flush = (view: PageView) => {
    if (view.isSent) return
    view.isSent = true
    const body = writeBeacon(finish(view, names.get(view.path)))
    if (body !== null) send(body)
  }
  const begin = (url = location.href): PageView => {
    if (previous !== current) flush(previous)
    previous = current
    current = newPageView(url)
    return current
  }
  return {
    loaded: () => loaded,
    current: () => current,
    /** Begins the view of a route. */
    route: () => {
      routedAt = Math.min(routedAt, performance.now())
      return begin()
    },
    restore: () => {
      routedAt = Number.POSITIVE_INFINITY
      loaded = begin()
    },
    /** The view that a metric belongs to; undefined: none. A soft navigation begins one. */
    of: ({ navigationType, navigationId, navigationURL, entries }: Metric) => {
      if (navigationType !== 'soft-navigation') {
        return (entries.at(-1)?.startTime ?? 0) < routedAt ? loaded : undefined
      }
      const view = soft.get(navigationId) ?? begin(navigationURL)
      soft.set(navigationId, view)
      return view
    },
    /** Names the URL that the page now has. Returns whether the current view is of another one. */
    name: (path: string): boolean => {
      const own = pathOf(location.href)
      names.set(own, path.replace(/[?#].*/, '').slice(0, PATH_LENGTH))
      return own !== current.path
    },
    /** Sends what was measured. */
    flush: () => {
      flush(previous)
      flush(current)
    },
  }
}
