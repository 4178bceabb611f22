import { hash } from 'node:crypto'
import type { Beacon } from '../contract/telemetry-schemas.ts'

type BeaconError = NonNullable<Beacon['errors']>[number]

/** An error as it is kept: its texts cut, its addresses without queries. */
export interface PageError {
  readonly message: string
  readonly type?: string
  readonly source?: string
  readonly line?: number
  readonly column?: number
  readonly stack?: string
}

const MAX = { message: 200, type: 100, source: 300, stack: 1000 }
const HASH_LENGTH = 16

export function toPageError({
  message,
  type,
  source,
  line,
  column,
  stack,
}: BeaconError): PageError {
  return {
    message: cut(message, MAX.message),
    ...(type !== undefined && { type: cut(type, MAX.type) }),
    ...(source !== undefined && { source: cut(source, MAX.source) }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(stack !== undefined && { stack: cut(stack, MAX.stack) }),
  }
}

/** What stands in a query may be anybody's secret. */
function cut(text: string, length: number): string {
  return text
    .replaceAll(/(https?:\/\/[^\s?#]*)[?#][^\s):]*/gi, '$1')
    .slice(0, length)
    .toWellFormed()
}

/** The same for errors that differ in numbers only, and in nothing else that a programmer sees. */
export function errorHash({ message, type = '', source = '', line = 0 }: PageError): string {
  const text = [message.replaceAll(/\d+/g, '0'), type, source, line].join('\n')
  return hash('sha256', text).slice(0, HASH_LENGTH)
}
