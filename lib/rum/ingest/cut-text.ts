const letters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * The beginning of the text, of at most `length` UTF-16 units. A letter with its marks stays whole or goes, unless
 * half of the length would be lost with it.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text.toWellFormed()
  const end = letters.segment(text).containing(length)?.index ?? 0
  if (end >= length / 2) return text.slice(0, end).toWellFormed()
  return text
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed()
}
