/** On a phone the rail is wider than the screen: the page that is open is to be seen in it. */
export function showCurrentPage(root: ParentNode): void {
  const rail = root.querySelector<HTMLElement>('.rail')
  const current = rail?.querySelector<HTMLElement>('[aria-current]')
  if (rail === null || current === null || current === undefined) return
  rail.scrollLeft = current.offsetLeft - (rail.clientWidth - current.offsetWidth) / 2
}
