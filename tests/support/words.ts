/** The words of a text. In a long list they are easier to read than as array, with each on a line of its own. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
