/** Names the controls that Swagger UI leaves without an accessible name, also those added later. */
export function nameControls(root: HTMLElement): void {
  new MutationObserver(() => {
    for (const select of root.querySelectorAll('select:not([aria-label])')) {
      select.setAttribute('aria-label', nameOf(select))
    }
    for (const block of root.querySelectorAll('pre:not([tabindex])')) {
      block.setAttribute('tabindex', '0')
    }
    const close = root.querySelector('.close-modal:not([aria-label])')
    if (close !== null) prepareDialog(close)
    // Without the label, screen readers read the visible text, which is the better name.
    for (const button of root.querySelectorAll('.modal-btn[aria-label]')) {
      button.removeAttribute('aria-label')
    }
  }).observe(root, { childList: true, subtree: true, attributeFilter: ['aria-label'] })
}

/** Focuses the field for the key, which Swagger UI does not. */
function prepareDialog(close: Element): void {
  close.setAttribute('aria-label', 'Close')
  close.closest('.modal-ux')?.querySelector('input')?.focus()
}

function nameOf(select: Element): string {
  if (select.matches('.examples-select-element')) return 'Example'
  if (select.matches('.content-type')) return 'Content type'
  return select.closest('tr[data-param-name]')?.getAttribute('data-param-name') ?? 'Value'
}
