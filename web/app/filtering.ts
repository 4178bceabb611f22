import { fetchPage } from './fetch-page.ts'

/**
 * Shows the new report as soon as a filter is changed, without loading the page anew: the focus stays
 * where it is. `onShown` is called with the new report. On a failure the browser submits the form.
 */
export function filterAtOnce(form: HTMLFormElement, onShown: (report: HTMLElement) => void): void {
  let latest = new AbortController()
  const show = async (url: URL) => {
    latest.abort()
    latest = new AbortController()
    const { signal } = latest
    const report = document.getElementById('report')
    report?.setAttribute('aria-busy', 'true')
    try {
      const fresh = (await fetchPage(url.href, signal)).getElementById('report')
      if (signal.aborted) return
      if (report === null || fresh === null) return form.submit()
      keepOpen(report, fresh)
      report.replaceWith(fresh)
      history.replaceState(null, '', url)
      onShown(fresh)
    } catch {
      if (!signal.aborted) form.submit()
    }
  }
  form.addEventListener('change', () => {
    const url = new URL(form.action)
    const fields = [...new FormData(form)].filter(([, value]) => typeof value === 'string')
    url.search = String(new URLSearchParams(fields.map(([name, value]) => [name, String(value)])))
    if (isComplete(url.searchParams)) void show(url)
  })
}

/** A custom period needs its first and its last day. */
function isComplete(query: URLSearchParams): boolean {
  return query.get('period') !== 'custom' || (query.get('from') !== '' && query.get('to') !== '')
}

/** Sections that the user has opened or closed stay so. */
function keepOpen(shown: HTMLElement, fresh: HTMLElement): void {
  const sections = [...shown.querySelectorAll('details')]
  for (const details of fresh.querySelectorAll('details')) {
    const heading = headingOf(details)
    const same = sections.find((section) => heading !== '' && headingOf(section) === heading)
    if (same !== undefined) details.open = same.open
  }
}

function headingOf(details: HTMLDetailsElement): string {
  return details.querySelector(':scope > summary > :is(h2, h3)')?.textContent ?? ''
}
