/** Where inquiries go: to an address by mail, to a URL, or to nobody but the operator. */
export type ContactTarget =
  | { readonly kind: 'mail'; readonly to: string }
  | { readonly kind: 'webhook'; readonly url: string }
  | { readonly kind: 'store' }

const MAIL = /^mailto:([^\s@?<>,;]+@[^\s@?<>,;]+)$/
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Reads `store`, `mailto:` and an address, or a URL; null: it is none of these. */
export function parseContactTarget(text: string): ContactTarget | null {
  if (text === 'store') return { kind: 'store' }
  const to = MAIL.exec(text)?.[1]
  if (to !== undefined) return { kind: 'mail', to }
  return isPrivateUrl(text) ? { kind: 'webhook', url: text } : null
}

/** Inquiries name people: they leave the machine encrypted. */
function isPrivateUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname))
}
