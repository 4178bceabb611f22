const SHOWN_MS = 2_000

/** Shows the copy buttons and makes them work. */
export function offerCopying(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const source = document.getElementById(button.dataset['copy'] ?? '')
    if (source === null || navigator.clipboard === undefined) continue
    button.hidden = false
    const label = button.textContent
    button.addEventListener('click', () => void copy(button, label, source.textContent ?? ''))
  }
}

async function copy(button: HTMLButtonElement, label: string, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
  } catch {
    button.textContent = 'Could not copy'
  }
  setTimeout(() => {
    button.textContent = label
  }, SHOWN_MS)
}
