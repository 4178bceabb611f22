const ASCII = /^[a-z ]*$/i

/** The name without case, accents and punctuation, in which providers differ (Zürich, ZURICH). */
export function plainName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase()
  return name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
