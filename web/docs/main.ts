import { isMatch, type SearchEntry } from '../../pages/reference/match.ts'
import { offerCopying } from '../app/copying.ts'
import { offerKey } from './api-key.ts'
import { offerTrying } from './try-it.ts'

const STORED = 'meridian-language'

/* Runs on every page of the API reference. The pages can be read without it. */
offerCopying(document)
keepLanguage(document)
offerKey(document)
offerTrying(document)
filterPages(document)
showCurrent(document)

/** Scrolls the list of pages to the current one. */
function showCurrent(root: ParentNode): void {
  const list = root.querySelector<HTMLElement>('.side')
  const current = list?.querySelector<HTMLElement>('[aria-current]')
  if (!list || !current) return
  const { top } = list.getBoundingClientRect()
  list.scrollTop = current.getBoundingClientRect().top - top - list.clientHeight / 2
}

/** Filters the list of pages while the reader types. Enter still asks the server. */
function filterPages(root: ParentNode): void {
  const input = root.querySelector<HTMLInputElement>('#q')
  const list = root.querySelector<HTMLDetailsElement>('.pages')
  const found = root.querySelector('#found')
  if (input === null || list === null || found === null) return
  let loading: Promise<Map<string, SearchEntry>> | undefined
  input.addEventListener('input', async () => {
    loading ??= loadIndex(input.dataset['index'] ?? '')
    const index = await loading
    const query = input.value.trim()
    const shown = show(list, query, index)
    if (query !== '') list.open = true
    found.textContent = query === '' ? '' : `${shown} ${shown === 1 ? 'page' : 'pages'}`
  })
}

/** Without an answer, titles alone are searched. */
async function loadIndex(path: string): Promise<Map<string, SearchEntry>> {
  try {
    const response = await fetch(path)
    const entries: SearchEntry[] = response.ok ? await response.json() : []
    return new Map(entries.map((entry) => [entry.path, entry]))
  } catch {
    return new Map()
  }
}

/**
 * Hides all other pages, and groups without any, and opens the rest. Without a query, the group of the
 * current page alone is open. Returns how many pages match.
 */
function show(list: ParentNode, query: string, index: ReadonlyMap<string, SearchEntry>): number {
  let shown = 0
  for (const link of list.querySelectorAll<HTMLAnchorElement>('a[data-path]')) {
    const path = link.dataset['path'] ?? ''
    const words = index.get(path)?.words ?? (link.textContent ?? '').toLowerCase()
    const isShown = query === '' || isMatch({ words }, query)
    if (isShown) shown += 1
    const item = link.closest('li') ?? link
    item.hidden = !isShown
  }
  for (const group of list.querySelectorAll('details')) {
    group.hidden = group.querySelector('li:not([hidden])') === null
    group.open = query !== '' || group.querySelector('[aria-current]') !== null
  }
  return shown
}

/** Opens the samples in the language that the reader has chosen before. */
function keepLanguage(root: ParentNode): void {
  const chosen = sessionStorage.getItem(STORED)
  for (const input of root.querySelectorAll<HTMLInputElement>('[name="language"]')) {
    if (input.value === chosen) input.checked = true
    input.addEventListener('change', () => sessionStorage.setItem(STORED, input.value))
  }
}
