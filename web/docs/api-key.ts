import { KEY_PLACEHOLDER } from '../../pages/reference/samples/request.ts'

const STORED = 'meridian-key'
const KEY = /^[sp]k_live_[0-9a-f]+$/

/** The key that the reader has entered in this tab; empty if there is none. */
export function enteredKey(): string {
  return sessionStorage.getItem(STORED) ?? ''
}

/**
 * Shows the field for the reader's key, and writes the key into the samples. It is kept until the tab
 * is closed. Only a text in the form of a key is used: it needs no escaping in any language.
 */
export function offerKey(root: ParentNode): void {
  const input = root.querySelector<HTMLInputElement>('#key')
  const field = input?.closest<HTMLElement>('.key')
  if (!input || !field) return
  const samples = [...root.querySelectorAll('.sample pre')].map((element) => ({
    element,
    text: element.textContent ?? '',
  }))
  const use = (key: string) => {
    for (const { element, text } of samples) {
      element.textContent = text.replaceAll(KEY_PLACEHOLDER, key === '' ? KEY_PLACEHOLDER : key)
    }
  }
  field.hidden = false
  input.value = enteredKey()
  use(input.value)
  input.addEventListener('input', () => {
    const typed = input.value.trim()
    const isKey = KEY.test(typed)
    input.setAttribute('aria-invalid', String(typed !== '' && !isKey))
    if (isKey) sessionStorage.setItem(STORED, typed)
    else sessionStorage.removeItem(STORED)
    use(isKey ? typed : '')
  })
}
