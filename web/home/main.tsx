import { render } from 'hono/jsx/dom'
import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import { Answer } from '../../pages/answer.tsx'
import type { Outcome } from '../../pages/outcome.tsx'

const TIMEOUT_MS = 10_000

/** Shows results without reloading the page. On any failure the browser submits the form. */
function main(form: HTMLFormElement, answer: HTMLElement): void {
  const { base = '', key } = form.dataset
  const { world = '', tiles = '' } = answer.dataset
  const input = form.querySelector('input')
  if (key === undefined || input === null) return
  let latest = new AbortController()

  const lookUp = async (text: string) => {
    latest.abort()
    latest = new AbortController()
    const { signal } = latest
    answer.setAttribute('aria-busy', 'true')
    const outcome = await callApi(`${base}/v1/ip/${text}`, { key, signal })
    if (signal.aborted) return
    answer.removeAttribute('aria-busy')
    if (outcome === null) return form.submit()
    for (const name of ['aria-invalid', 'aria-describedby']) input.removeAttribute(name)
    render(<Answer maps={{ world, tiles }} outcome={outcome} isOwn={false} />, answer)
    history.replaceState(null, '', `${base}/?ip=${text}`)
  }
  form.addEventListener('submit', (event) => {
    const text = input.value.trim()
    if (!MAY_BE_ADDRESS.test(text)) return
    event.preventDefault()
    void lookUp(text)
  })
  for (const link of form.querySelectorAll<HTMLAnchorElement>('[data-sample]')) {
    link.addEventListener('click', (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
      event.preventDefault()
      input.value = link.dataset['sample'] ?? ''
      void lookUp(input.value)
    })
  }
}

/** The server explains what is wrong with any other text. Matches need no escaping in a path. */
const MAY_BE_ADDRESS = /^[\da-f.]*[\d:][\da-f.:]*$/i

const form = document.querySelector<HTMLFormElement>('#look-up')
const answer = document.querySelector<HTMLElement>('#answer')
if (form !== null && answer !== null) main(form, answer)

/**
 * Looks up an address through the public API. Returns null after any failure, such as a used-up limit
 * of the demo key: then the page must load instead.
 */
async function callApi(
  path: string,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<Outcome | null> {
  const startedAt = performance.now()
  try {
    const response = await fetch(path, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const { status } = response
    if (status !== 200 && status !== 404) return null
    const result: GeolocationResult = await response.json()
    if (result.meta?.degraded === true) return null
    const request = { path, status, ms: Math.round(performance.now() - startedAt) }
    return { kind: 'located', result, request }
  } catch {
    return null
  }
}
