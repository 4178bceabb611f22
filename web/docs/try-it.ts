import { TRY_PATH } from '../../lib/contract/pages.ts'
import { enteredKey } from './api-key.ts'

const TIMEOUT_MS = 30_000

/** Shows the form that sends a request from the page. */
export function offerTrying(root: ParentNode): void {
  const details = root.querySelector<HTMLDetailsElement>('#try')
  const form = details?.querySelector('form')
  const answer = details?.querySelector<HTMLElement>('#answer')
  if (!details || !form || !answer) return
  details.hidden = false
  preferKey(root, form)
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

/** Without a key, only the session can answer: most readers are signed in, and the others learn where to. */
function preferKey(root: ParentNode, form: HTMLFormElement): void {
  const select = form.querySelector<HTMLSelectElement>('[name="credential"]')
  if (select === null) return
  const choose = () => {
    select.value = enteredKey() === '' ? 'session' : 'key'
  }
  choose()
  root.querySelector('#key')?.addEventListener('input', choose)
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

/** Shows status, headers and body of an answer. Everything in it is text, never markup. */
async function showAnswer(place: HTMLElement, response: Response): Promise<void> {
  if (response.type === 'opaqueredirect') {
    return showFailure(
      place,
      'you are signed out: enter a key above, or sign in to the dashboard in another tab',
    )
  }
  const status = element('p', `${response.status} ${response.statusText}`.trim())
  const headers = element('details')
  const list = element('dl')
  for (const [name, value] of response.headers) {
    const line = element('div')
    line.append(element('dt', `${name}: `), element('dd', value))
    list.append(line)
  }
  headers.append(element('summary', 'Headers'), list)
  place.replaceChildren(status, headers, await bodyView(response))
}

function showFailure(place: HTMLElement, message: string): void {
  place.replaceChildren(element('p', `Not sent: ${message}`))
}

async function bodyView(response: Response): Promise<HTMLElement> {
  const type = response.headers.get('content-type') ?? ''
  if (!/json|text/.test(type)) {
    const { byteLength } = await response.arrayBuffer()
    return element('p', byteLength === 0 ? 'No body' : `${byteLength} bytes of ${type}`)
  }
  const view = element('pre', pretty(await response.text()))
  view.tabIndex = 0
  return view
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, text = '') {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
