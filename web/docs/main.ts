import { offerCopying } from '../app/copying.ts'
import { offerKey } from './api-key.ts'
import { filterPages } from './filter.ts'
import { keepLanguage } from './languages.ts'
import { offerTrying } from './try-it.ts'

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
