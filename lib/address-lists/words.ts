/** Where a word is in a text. */
export interface Word {
  readonly start: number
  readonly end: number
}

const OTHER = 0
const DIGIT = 1
const DOT = 2
const COLON = 3

/** The kind of each character; 0 for those that no address has. */
const KINDS = new Uint8Array(0x1_0000)
for (const digit of '0123456789abcdefABCDEF') KINDS[digit.charCodeAt(0)] = DIGIT
KINDS['.'.charCodeAt(0)] = DOT
KINDS[':'.charCodeAt(0)] = COLON

/** Twice the longest text of an address, such as 1111:2222:3333:4444:5555:6666:255.255.255.255. */
const LONGEST = 90
/** Digits before the first separator of an address. */
const MOST_DIGITS = 4

/**
 * The next word from `from` on that consists of the characters of addresses, and has enough dots or colons for one:
 * most words are numbers and times. (A regular expression takes four times as long.)
 */
export function nextWord(text: string, from: number): Word | undefined {
  for (let at = from; at < text.length; at++) {
    if (kindAt(text, at) < DOT) continue
    const end = endOf(text, at)
    const start = startOf(text, at, from)
    if (end - start <= LONGEST && hasSeparators(text, at, end)) return { start, end }
    at = end
  }
  return undefined
}

function kindAt(text: string, at: number): number {
  return KINDS[text.charCodeAt(at)] ?? OTHER
}

function endOf(text: string, separator: number): number {
  let end = separator
  while (end < text.length && kindAt(text, end) !== OTHER) end += 1
  return end
}

function startOf(text: string, separator: number, from: number): number {
  const least = Math.max(from, separator - MOST_DIGITS)
  let start = separator
  while (start > least && kindAt(text, start - 1) === DIGIT) start -= 1
  return start
}

function hasSeparators(text: string, from: number, end: number): boolean {
  let [dots, colons, before] = [0, 0, OTHER]
  for (let at = from; at < end; at++) {
    const kind = kindAt(text, at)
    if (kind === COLON && before === COLON) return true
    if (kind === DOT) dots += 1
    else if (kind === COLON) colons += 1
    before = kind
  }
  return dots >= 3 || colons >= 7
}
