/** RFC 5646, section 2.1, and with underscores, as systems write locales. */
const TAG = /^[a-z]{2,3}(?:[-_][a-z\d]{1,8})*$/i

/**
 * The language of `known` that a tag names: without regard to case (RFC 5646, section 2.1.1), shortened from its end
 * until one matches (RFC 4647, section 3.4), or else the first one of the same language in the same script. Returns
 * other values as they are.
 */
export function languageOf(tag: unknown, known: readonly string[]): unknown {
  if (typeof tag !== 'string' || !TAG.test(tag)) return tag
  const parts = tag.toLowerCase().split(/[-_]/)
  for (let length = parts.length; length > 0; length--) {
    const range = parts.slice(0, length).join('-')
    const found = known.find((one) => one.toLowerCase() === range)
    if (found !== undefined) return found
  }
  if (isTraditionalChinese(tag)) return tag
  return known.find((one) => one.toLowerCase().startsWith(`${parts[0]}-`)) ?? tag
}

/** Whether the tag names Chinese in its traditional script, in which no names are known. */
export function isTraditionalChinese(tag: unknown): boolean {
  return typeof tag === 'string' && TRADITIONAL_CHINESE.test(tag)
}

const TRADITIONAL_CHINESE = /^zh(?!.*[-_]hans(?![a-z\d])).*[-_](?:hant|tw|hk|mo)(?![a-z\d])/i
