import { TRY_PATH } from '../../lib/contract/pages.ts'
import { showAnswer, showFailure } from './answer-view.ts'
import { enteredKey } from './api-key.ts'

const TIMEOUT_MS = 30_000

/** Shows the form that sends a request from the page. */
export function offerTrying(root: ParentNode): void {
  const details = root.querySelector<HTMLDetailsElement>('#try')
  const form = details?.querySelector('form')
  const answer = details?.querySelector<HTMLElement>('#answer')
  if (!details || !form || !answer) return
  details.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    answer.setAttribute('aria-busy', 'true')
    try {
      await showAnswer(answer, await send(form))
    } catch (error) {
      showFailure(answer, error instanceof Error ? error.message : String(error))
    } finally {
      answer.removeAttribute('aria-busy')
    }
  })
}

/** Sends the request of the form. With the session, the dashboard sends it, since only it gets the cookie. */
function send(form: HTMLFormElement): Promise<Response> {
  const { method = 'GET', base = '', operation = '' } = form.dataset
  const path = pathOf(form)
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const body = form.querySelector<HTMLTextAreaElement>('[name="body"]')?.value
  const credential = form.querySelector<HTMLSelectElement>('[name="credential"]')?.value
  if (credential === 'session') {
    return fetch(`${base}${TRY_PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operation, path, body }),
      redirect: 'manual',
      signal,
    })
  }
  const key = credential === 'key' ? enteredKey() : ''
  return fetch(`${base}${path}`, {
    method,
    headers: {
      ...(key !== '' && { 'x-api-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    signal,
  })
}

/** The path and query with the values of the form. */
function pathOf(form: HTMLFormElement): string {
  const values = [...form.querySelectorAll<HTMLInputElement>('[data-place]')]
  const inPlace = (place: string) =>
    values
      .filter((input) => input.dataset['place'] === place && input.value !== '')
      .map((input): [string, string] => [input.name, input.value])
  const inPath = Object.fromEntries(inPlace('path'))
  const filled = (form.dataset['path'] ?? '').replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(inPath[name] ?? ''),
  )
  const query = new URLSearchParams(inPlace('query'))
  return `${filled}${query.size === 0 ? '' : `?${query}`}`
}
