import { LineBuffer } from '../../log/line-buffer.ts'
import { type Address, parseAddress } from '../../net/address.ts'
import { describe, type LookupResult } from './describe.ts'

export type Bulk = ReturnType<typeof createBulk>

/** Returns the answer to a line, ignoring white space around it. The answer ends in a newline. */
export type AnswerLine = (line: string, now: number) => string

export const NOT_AN_ADDRESS = 'Not an IPv4 or IPv6 address'

/** An error shows at most this many characters of the line. */
const SHOWN_CHARACTERS = 100

/**
 * Looks up the addresses in a text that arrives in chunks, one address per line. `now` returns epoch
 * milliseconds.
 */
export function createBulk(answer: AnswerLine, now: () => number) {
  let rest = ''
  let lines = 0
  return {
    /** Returns the answers, in UTF-8, to the lines that end in `chunk`. */
    push: (chunk: string): readonly Buffer[] => {
      const time = now()
      const answers = new LineBuffer()
      let start = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
        answers.add(answer(rest + chunk.slice(start, end), time))
        rest = ''
        lines++
        start = end + 1
      }
      rest = shorten(rest + chunk.slice(start))
      return answers.take()
    },
    /** Returns the answer to a last line without a newline. */
    end: (): Buffer => {
      if (rest === '') return Buffer.alloc(0)
      lines++
      return Buffer.from(answer(rest, now()))
    },
    /** Number of lines answered so far. */
    lines: () => lines,
  }
}

/** Longer than any address, and than the part of a line that an error shows. */
const KEPT_CHARACTERS = 300

/**
 * Keeps the start of a line, which decides the answer, so that a long line cannot fill the memory.
 * White space at the end of `text` becomes one space, so that the next
 * chunk does not continue the last word.
 */
function shorten(text: string): string {
  if (text.length <= KEPT_CHARACTERS) return text
  const kept = text.trim().slice(0, KEPT_CHARACTERS)
  return text.trimEnd() === text ? kept : `${kept} `
}

/** Each answer is JSON: a GeolocationResult whose `meta` has only `precision`, or an error. */
export function createJsonLines(find: (address: Address) => LookupResult): AnswerLine {
  return (line, now) => {
    const text = line.trim()
    const address = parseAddress(text)
    if (address === null) return badLine(text)
    const { json, precision } = describe(address, find(address), { now, degraded: false })
    return `{${json},"meta":{"precision":"${precision}"}}\n`
  }
}

function badLine(text: string): string {
  const query = { type: 'ip', value: shownText(text) }
  const error = { code: 'BAD_REQUEST', message: NOT_AN_ADDRESS }
  return `${JSON.stringify({ query, error })}\n`
}

/** The start of a line that is not an address. */
export function shownText(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS).toWellFormed()
}
