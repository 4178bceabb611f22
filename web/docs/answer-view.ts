/** Shows status, headers and body of an answer. Everything in it is text, never markup. */
export async function showAnswer(place: HTMLElement, response: Response): Promise<void> {
  if (response.type === 'opaqueredirect') {
    return showFailure(place, 'you are signed out; sign in to the dashboard in another tab')
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

export function showFailure(place: HTMLElement, message: string): void {
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
