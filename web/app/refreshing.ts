const LONGEST_MS = 60_000
const ANSWER_MS = 10_000

/**
 * Keeps each element with an id and `data-refresh`, in seconds, as the page has it when it is asked
 * for anew, until the page gives it no `data-refresh` any more. Nothing is asked for while the page
 * is hidden, and less often after failures.
 */
export function keepFresh(): void {
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const refresh = async () => {
    clearTimeout(timer)
    if (document.hidden) return
    try {
      replaceParts(await fetchPage())
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

async function fetchPage(): Promise<Document> {
  const signal = AbortSignal.timeout(ANSWER_MS)
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, signal })
  // A session that has ended leads to the sign-in.
  if (!response.ok || response.redirected) throw new Error(`No page: ${response.status}`)
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

/** The elements stay, so that what they announce politely is announced; only their content goes. */
function replaceParts(page: Document): void {
  for (const part of parts()) {
    const fresh = page.getElementById(part.id)
    if (fresh === null) continue
    if (fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes)
    const seconds = fresh.dataset['refresh']
    if (seconds === undefined) delete part.dataset['refresh']
    else part.dataset['refresh'] = seconds
  }
}
