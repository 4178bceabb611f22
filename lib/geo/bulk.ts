import { type Address, parseAddress } from '../address.ts'
import { LineBuffer } from '../line-buffer.ts'
import { type Describable, describe } from './describe.ts'

/** Says what is known of the addresses in a text that comes in pieces, one on each line. */
export interface Bulk {
  /** Answers the lines that end in `chunk`, in UTF-8. */
  push(chunk: string): readonly Buffer[]
  /** Answers the last line, if no newline followed it. */
  end(): Buffer
  /** Lines answered so far. */
  lines(): number
}

export interface BulkOptions {
  readonly locate: (address: Address) => Describable
  /** Answers one line, newline included; `line` may have white space around it. */
  readonly answer: (line: string, locate: BulkOptions['locate'], now: number) => string
  /** Gives epoch milliseconds. */
  readonly now: () => number
}

export const NOT_AN_ADDRESS = 'Not an IPv4 or IPv6 address'

/** What is shown of a line that is no address. */
const SHOWN_CHARACTERS = 100

export function createBulk({ locate, answer, now }: BulkOptions): Bulk {
  let rest = ''
  let lines = 0
  return {
    push: (chunk) => {
      const time = now()
      const answers = new LineBuffer()
      let start = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
        answers.add(answer(rest + chunk.slice(start, end), locate, time))
        rest = ''
        lines++
        start = end + 1
      }
      rest = shorten(rest + chunk.slice(start))
      return answers.take()
    },
    end: () => {
      if (rest === '') return Buffer.alloc(0)
      lines++
      return Buffer.from(answer(rest, locate, now()))
    },
    lines: () => lines,
  }
}

/** Longer than any address and than what is shown of a line. */
const KEPT_CHARACTERS = 300

/**
 * Keeps of the start of a line what decides the answer, so that no line fills the memory. White
 * space in the middle is kept as one space: the ends of a torn address never join to a good one.
 */
function shorten(text: string): string {
  if (text.length <= KEPT_CHARACTERS) return text
  const kept = text.trim().slice(0, KEPT_CHARACTERS)
  return text.trimEnd() === text ? kept : `${kept} `
}

/** The line as a JSON object: a GeolocationResult without what concerns a request, or an error. */
export function toJsonLine(line: string, locate: BulkOptions['locate'], now: number): string {
  const text = line.trim()
  const address = parseAddress(text)
  if (address === null) return badLine(text)
  const { json, precision } = describe(address, locate(address), { now, degraded: false })
  return `{${json},"meta":{"precision":"${precision}"}}\n`
}

function badLine(text: string): string {
  const query = { type: 'ip', value: shownText(text) }
  const error = { code: 'BAD_REQUEST', message: NOT_AN_ADDRESS }
  return `${JSON.stringify({ query, error })}\n`
}

/** The start of a line that is no address. */
export function shownText(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS).toWellFormed()
}
