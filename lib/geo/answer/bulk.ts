import { SHOWN_CHARACTERS } from '../../contract/common.ts'
import { type Address, parseAddress } from '../../parts/net/address.ts'
import { addressOfEndpoint, bareEntry } from '../../parts/net/endpoint.ts'
import type { Library } from '../library.ts'
import { type AnswerOptions, createFindExtras, createShape } from './shape.ts'
import { writeResult } from './write-result.ts'

export const NOT_AN_ADDRESS = 'Not an IPv4 or IPv6 address'

/**
 * Splits a text that arrives in chunks into lines, and removes the white space around them. `end` returns
 * a last line without a newline.
 */
export function createLines() {
  let rest = ''
  return {
    push: (chunk: string): string[] => {
      const lines: string[] = []
      let start = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
        lines.push((rest + chunk.slice(start, end)).trim())
        rest = ''
        start = end + 1
      }
      rest = shorten(rest + chunk.slice(start))
      return lines
    },
    end: (): string[] => (rest === '' ? [] : [rest.trim()]),
  }
}

/** Longer than any address, and than the part of a line that an error shows. */
const KEPT_CHARACTERS = 300

/**
 * Keeps the start of a line, which decides the answer, so that a long line cannot fill the memory. What may be
 * around an address becomes one space at the end of `text`, so that the next chunk does not continue the last word.
 * An ellipsis stands for what is cut off, so that the rest is not taken for an address.
 */
function shorten(text: string): string {
  if (text.length <= KEPT_CHARACTERS) return text
  const entry = bareEntry(text)
  const kept = entry.length > KEPT_CHARACTERS ? `${entry.slice(0, KEPT_CHARACTERS)}…` : entry
  return entry !== '' && text.endsWith(entry) ? kept : `${kept} `
}

/**
 * Returns a function that answers one line. The answer is JSON: a GeolocationResult whose `meta` has only
 * `precision`, or an error. `now` is epoch milliseconds.
 */
export function createAnswerJson(
  geo: Pick<Library, 'find' | 'prefix' | 'names' | 'findPrivacy' | 'findOthers'>,
  options: AnswerOptions,
): (text: string, now: number) => string {
  const whole = { degraded: false }
  const shape = createShape(geo, options, whole)
  const findExtras = createFindExtras(geo, options, whole)
  return (text, now) => {
    const address = parseEntry(text)
    if (address === null) return notAnAddress(text)
    const extras = findExtras?.(address)
    const { json, precision } = writeResult(address, geo.find(address), { now, ...whole, extras })
    const answer = `{${json},"meta":{"precision":"${precision}"}}`
    return shape === undefined ? answer : shape(answer, address)
  }
}

/** An address as programs write it, such as `[2001:db8::1]:443`. Lists of addresses hold no versions. */
export function parseEntry(text: string): Address | null {
  return parseAddress(text) ?? parseWritten(bareEntry(text))
}

function parseWritten(entry: string): Address | null {
  return parseAddress(addressOfEndpoint(entry, { afterDot: true }) ?? '')
}

/** The answer to a text that is not an address. */
export function notAnAddress(text: string): string {
  const query = { type: 'ip', value: shownText(text) }
  const error = { code: 'BAD_REQUEST', message: NOT_AN_ADDRESS }
  return JSON.stringify({ query, error })
}

/** The start of a text that is not an address. */
export function shownText(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS).toWellFormed()
}
