const STORED = 'meridian-language'

/** Opens the samples in the language that the reader has chosen before. */
export function keepLanguage(root: ParentNode): void {
  const chosen = sessionStorage.getItem(STORED)
  for (const input of root.querySelectorAll<HTMLInputElement>('[name="language"]')) {
    if (input.value === chosen) input.checked = true
    input.addEventListener('change', () => sessionStorage.setItem(STORED, input.value))
  }
}
