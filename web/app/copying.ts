const SHOWN_MS = 2_000

/** Shows the buttons that copy a text, and makes them do it. */
export function offerCopying(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const source = document.getElementById(button.dataset['copy'] ?? '')
    if (source === null || navigator.clipboard === undefined) continue
    button.hidden = false
    button.addEventListener('click', () => void copy(button, source.textContent ?? ''))
  }
}

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
  } catch {
    button.textContent = 'Not allowed'
  }
  setTimeout(() => {
    button.textContent = label
  }, SHOWN_MS)
}
