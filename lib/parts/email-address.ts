import { domainToUnicode } from 'node:url'
import * as v from 'valibot'

/** RFC 5321, section 4.5.3.1.3: a path has at most 256 octets, and its brackets are two of them. */
const MAX_CHARACTERS = 254

/** The type of the step that brings an address into the form that we store. */
export const TO_STORED_EMAIL = 'to_stored_email'

/**
 * An e-mail address as browsers accept it in `<input type=email>` (HTML, “valid e-mail address”), in the form that
 * we store: lower case, and A-labels in place of a Unicode domain, as in what browsers send.
 */
export const EmailAddress = v.pipe(
  v.string(({ input }) => (input === undefined ? 'is missing' : 'must be a text')),
  // A type of its own, by which the OpenAPI document leaves it out.
  { ...v.transform(normaliseEmail), type: TO_STORED_EMAIL } as const,
  v.maxLength(MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters`),
  v.rfcEmail('must be an e-mail address'),
)

/** Brings an address into the form that we store. Leaves the domain as it is if browsers would refuse it. */
export function normaliseEmail(text: string): string {
  // Line breaks are refused, since an address ends up in the header of a mail.
  const email = (/[\r\n]/.test(text) ? text : text.trim()).toLowerCase()
  const at = email.lastIndexOf('@')
  return at === -1 ? email : `${email.slice(0, at)}@${toAscii(email.slice(at + 1))}`
}

/** The address as people type it, with U-labels in place of A-labels. */
export function withUnicodeDomain(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.slice(0, at) + domainToUnicode(email.slice(at))
}

function toAscii(domain: string): string {
  // Of ASCII, only what a domain contains: the parser would take other characters for parts of a URL.
  if (!/[\u0080-\uffff]/.test(domain) || !/^[a-z0-9.\-\u0080-\uffff]*$/.test(domain)) return domain
  const ascii = URL.parse(`http://${domain}`)?.hostname ?? domain
  // The parser also reads numbers, such as full-width ones, as an IPv4 address.
  return /\.\d+$/.test(ascii) ? domain : ascii
}
