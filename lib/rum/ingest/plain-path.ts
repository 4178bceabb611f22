import { cutText } from './cut-text.ts'

const MAX_LENGTH = 200

/** Where other scripts than ours, and older ones of ours, cut the encoded path: perhaps inside a letter. */
const CUT_LENGTH = 500

/** A number, a UUID, or a long hexadecimal text with a digit. */
const ID = /^(?:\d+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=.*\d)[0-9a-f]{12,})$/i

/** Control characters, line ends, and what changes the direction of the text that follows. */
export const UNSHOWN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/**
 * Decodes the path, and replaces ids in it by `*`, so that pages of the same kind are counted together. Also
 * removes the fragment, control characters and trailing slashes.
 */
export function plainPath(path: string): string {
  const [plain = ''] = path.split('#', 1)
  const whole = path.length < CUT_LENGTH ? plain : plain.replace(CUT_ESCAPE, '')
  const segments = whole
    .split('/')
    .map((segment) => decode(segment).replaceAll(UNSHOWN, ''))
    .map((segment) => (ID.test(segment) ? '*' : segment))
  const joined = segments.join('/').replace(/(?<=.)\/+$/, '')
  return cutText((joined.startsWith('/') ? joined : `/${joined}`).normalize(), MAX_LENGTH)
}

/** An escape that is cut off, or the bytes of a letter of which the last are missing. */
const CUT_ESCAPE =
  /(?:%[c-f][0-9a-f](?:%[89ab]?)?|%[ef][0-9a-f]%[89ab][0-9a-f](?:%[89ab]?)?|%f[0-7](?:%[89ab][0-9a-f]){2}(?:%[89ab]?)?|%[0-9a-f]?)$/i

/** One letter in UTF-8, percent-encoded, or a byte that is no such letter. */
const ESCAPE =
  /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}|%[89a-f][0-9a-f]/gi

/** Decoded, these would look like parts of the path, or like escapes. */
const KEPT = ['/', '?', '#', '%']

function decode(segment: string): string {
  return segment.replaceAll(ESCAPE, (encoded) => {
    const letter = decodeLetter(encoded)
    return letter === null || KEPT.includes(letter) ? encoded.toUpperCase() : letter
  })
}

/** null if the bytes are not UTF-8. */
function decodeLetter(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}
