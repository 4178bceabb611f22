import { hash } from 'node:crypto'
import type { Beacon } from '../../contract/telemetry/telemetry-schemas.ts'
import { cutText } from './cut-text.ts'

type BeaconError = NonNullable<Beacon['errors']>[number]

/** A stored error, with shortened texts and without the query strings of URLs. */
export type PageError = Readonly<BeaconError>

const MAX_LENGTHS = { message: 200, type: 100, source: 300, stack: 1000 }
const TEXTS = ['message', 'type', 'source', 'stack'] as const
const HASH_LENGTH = 16

export function toPageError(error: BeaconError): PageError {
  const kept = { ...error, ...(error.stack !== undefined && { stack: withShortMessage(error) }) }
  for (const name of TEXTS) {
    const text = kept[name]
    if (text !== undefined) kept[name] = cut(text, MAX_LENGTHS[name])
  }
  return kept
}

/** Chrome's stacks begin with the message: if it is long, nothing else would be kept of them. */
function withShortMessage({ message, stack = '' }: BeaconError): string {
  return stack.replace(message, () => message.slice(0, MAX_LENGTHS.message))
}

/** The query string and fragment of a URL, without the line and column that stacks put behind it. */
const QUERY = /(https?:\/\/[^\s?#]*)[?#][^\s)]*?(?=(?::\d+){0,2}(?:[\s)]|$))/gi

/** Also removes the query strings of URLs, because they may contain secrets. */
function cut(text: string, length: number): string {
  return cutText(text.replaceAll(QUERY, '$1'), length)
}

/** Returns the same hash for errors at the same place whose messages differ only in numbers. */
export function errorHash({ message, type = '', source = '', line = 0 }: PageError): string {
  const text = [message.replaceAll(/\d+/g, '0'), type, source, line].join('\n')
  return hash('sha256', text).slice(0, HASH_LENGTH)
}
