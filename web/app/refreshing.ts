import { FORM_ID } from '../../lib/contract/pages.ts'
import { fetchPage } from './fetch-page.ts'

const LONGEST_MS = 60_000

/**
 * Refreshes each element that has an id and `data-refresh` (in seconds) by loading the page again,
 * until the new page omits `data-refresh`. Pauses while the page is hidden, and slows down after
 * failures.
 */
export function keepFresh(): void {
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const refresh = async () => {
    clearTimeout(timer)
    if (document.hidden) return
    try {
      replaceParts(await fetchPage(location.href))
      failures = 0
    } catch {
      failures += 1
    }
    wait()
  }
  const wait = () => {
    const seconds = parts().map((part) => Number(part.dataset['refresh']))
    clearTimeout(timer)
    if (seconds.length === 0) return
    timer = setTimeout(refresh, Math.min(LONGEST_MS, Math.min(...seconds) * 1000 * 2 ** failures))
  }
  document.addEventListener('visibilitychange', () => {
    if (parts().length > 0) void refresh()
  })
  wait()
}

function parts(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[id][data-refresh]')]
}

/** Replaces only the content: screen readers announce changes in elements that stay. */
function replaceParts(page: Document): void {
  for (const part of parts()) {
    const fresh = page.getElementById(part.id)
    if (fresh === null) continue
    keepOpen(part, fresh)
    keepIds(part, fresh)
    if (fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes)
    const seconds = fresh.dataset['refresh']
    if (seconds === undefined) delete part.dataset['refresh']
    else part.dataset['refresh'] = seconds
  }
}

/** A form keeps its id: else it would count as changed, and as another form if the user clicks twice. */
function keepIds(part: HTMLElement, fresh: HTMLElement): void {
  const idOf = (action: string) =>
    [...part.querySelectorAll('form')]
      .find((form) => form.getAttribute('action') === action)
      ?.querySelector(`[name="${FORM_ID}"]`)
  for (const form of fresh.querySelectorAll('form')) {
    const shown = idOf(form.getAttribute('action') ?? '')?.getAttribute('value')
    const id = form.querySelector(`[name="${FORM_ID}"]`)
    if (shown != null) id?.setAttribute('value', shown)
  }
}

/** What the user has opened stays open. */
function keepOpen(part: HTMLElement, fresh: HTMLElement): void {
  const shown = part.querySelectorAll('details')
  for (const [at, details] of fresh.querySelectorAll('details').entries()) {
    details.open = shown[at]?.open ?? details.open
  }
}
