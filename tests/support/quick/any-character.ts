import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const CHARACTERS = 0x11_0000 - SURROGATES.count

/**
 * Any character of Unicode. With `unit: 'binary'`, fast-check makes the same texts, but first it makes a map
 * of all characters, which takes each process a second and a hundred megabytes.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: CHARACTERS - 1 })
  .map(toCharacter, toNumber)

function toCharacter(number: number): string {
  const { first, count } = SURROGATES
  return String.fromCodePoint(number < first ? number : number + count)
}

/** By this fast-check knows which texts, such as `__proto__`, it can make and shrink. */
function toNumber(character: unknown): number {
  if (typeof character !== 'string' || !character.isWellFormed() || [...character].length !== 1) {
    throw new Error('Cannot be one character')
  }
  const { first, count } = SURROGATES
  const code = character.codePointAt(0) ?? 0
  return code < first ? code : code - count
}
