/** Gives a name to controls below `root` that Swagger UI leaves without one, also to later ones. */
export function nameControls(root: HTMLElement): void {
  new MutationObserver(() => {
    for (const select of root.querySelectorAll('select:not([aria-label])')) {
      select.setAttribute('aria-label', nameOf(select))
    }
    for (const block of root.querySelectorAll('pre:not([tabindex])')) {
      block.setAttribute('tabindex', '0')
    }
    const close = root.querySelector('.close-modal:not([aria-label])')
    if (close !== null) opened(close)
    // Its name is to be what stands on it.
    for (const button of root.querySelectorAll('.modal-btn[aria-label]')) {
      button.removeAttribute('aria-label')
    }
  }).observe(root, { childList: true, subtree: true, attributeFilter: ['aria-label'] })
}

/** The field for the key is the first one, and not where Swagger UI puts the cursor. */
function opened(close: Element): void {
  close.setAttribute('aria-label', 'Close')
  close.closest('.modal-ux')?.querySelector('input')?.focus()
}

function nameOf(select: Element): string {
  if (select.matches('.examples-select-element')) return 'Example'
  if (select.matches('.content-type')) return 'Content type'
  return select.closest('tr[data-param-name]')?.getAttribute('data-param-name') ?? 'Value'
}
