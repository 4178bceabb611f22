/** Goes on to where the page leads: it is one to leave by. */
export function followLink(root: ParentNode): void {
  const link = root.querySelector<HTMLAnchorElement>('a[data-follow]')
  if (link !== null) location.assign(link.href)
}
