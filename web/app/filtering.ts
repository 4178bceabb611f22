import { fetchPage } from './fetch-page.ts'

/**
 * Shows the new results as soon as a filter is changed, without loading the page again, so that the
 * focus stays in the form. Replaces the contents of `#summary`, which screen readers read out when it
 * changes, and of `#site-menu`, whose links keep the filters, and all of `#report`; then calls `onShown` with
 * the new report. If that fails, the browser submits the form and the whole page shows what is wrong.
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
      const page = await fetchPage(url.href, signal)
      const fresh = page.getElementById('report')
      if (signal.aborted) return
      if (report === null || fresh === null) return form.submit()
      replaceContents('summary', page)
      replaceContents('site-menu', page)
      keepOpen(report, fresh)
      report.replaceWith(fresh)
      history.replaceState(null, '', url)
      onShown(fresh)
    } catch {
      if (!signal.aborted) form.submit()
    }
  }
  const showChosen = (event: Event) => {
    const url = urlOf(form)
    if (!isComplete(url.searchParams)) return
    event.preventDefault()
    void show(url)
  }
  form.addEventListener('change', showChosen)
  form.addEventListener('submit', showChosen)
}

/** The address that the browser would open if it submitted the form. */
function urlOf(form: HTMLFormElement): URL {
  // In a form with a field named action, form.action is that field.
  const url = new URL(form.getAttribute('action') ?? '', location.href)
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)])
  url.search = String(new URLSearchParams(fields))
  return url
}

/** A custom period needs its first and its last day. */
function isComplete(query: URLSearchParams): boolean {
  return query.get('period') !== 'custom' || (query.get('from') !== '' && query.get('to') !== '')
}

function replaceContents(id: string, page: Document): void {
  const fresh = page.getElementById(id)
  document.getElementById(id)?.replaceChildren(...(fresh?.childNodes ?? []))
}

/** Keeps sections open or closed as the user has left them. */
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
