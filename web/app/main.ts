import { offerCopying } from './copying.ts'
import { filterAtOnce } from './filtering.ts'
import { keepFresh } from './refreshing.ts'

/* Runs on every page of the dashboard. The pages also work without it. */
offerCopying(document)
followLink(document)
closeByEscape(document)
closeMenus(document)
filterLists(document)
keepFresh()

/** Follows the link of a page that only leads elsewhere. */
function followLink(root: ParentNode): void {
  const link = root.querySelector<HTMLAnchorElement>('a[data-follow]')
  if (link !== null) location.assign(link.href)
}

/** Makes the forms above lists filter at once. Pages with charts bring their own script for that. */
function filterLists(root: ParentNode): void {
  const form = root.querySelector<HTMLFormElement>('form[data-filter]')
  if (form !== null) filterAtOnce(form, offerCopying)
}

/** Takes back a question, or closes a menu, as Escape does in a dialog. */
function closeByEscape(root: Document): void {
  root.addEventListener('keydown', ({ key, target }) => {
    if (key !== 'Escape' || !(target instanceof Element)) return
    const opened = target.closest<HTMLDetailsElement>('details:is(.confirm, .menu)[open]')
    if (opened === null) return
    opened.open = false
    opened.querySelector('summary')?.focus()
  })
}

/** Closes a menu once the focus or a click is elsewhere. */
function closeMenus(root: Document): void {
  const closeOthers = ({ target }: Event) => {
    for (const menu of root.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
      if (!(target instanceof Node) || !menu.contains(target)) menu.open = false
    }
  }
  root.addEventListener('click', closeOthers)
  root.addEventListener('focusin', closeOthers)
}
