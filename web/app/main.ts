import { offerCopying } from './copying.ts'
import { keepFresh } from './refreshing.ts'

/* Runs on every page of the dashboard. The pages also work without it. */
offerCopying(document)
followLink(document)
showCurrentPage(document)
keepFresh()

/** Follows the link of a page that only leads elsewhere. */
function followLink(root: ParentNode): void {
  const link = root.querySelector<HTMLAnchorElement>('a[data-follow]')
  if (link !== null) location.assign(link.href)
}

/** Scrolls the navigation to the current page: on a phone it is wider than the screen. */
function showCurrentPage(root: ParentNode): void {
  const rail = root.querySelector<HTMLElement>('.rail')
  const current = rail?.querySelector<HTMLElement>('[aria-current]')
  if (rail === null || current === null || current === undefined) return
  rail.scrollLeft = current.offsetLeft - (rail.clientWidth - current.offsetWidth) / 2
}
