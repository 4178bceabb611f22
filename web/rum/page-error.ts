import type { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'

export type PageError = NonNullable<Beacon['errors']>[number]

/** The properties of an `ErrorEvent`; a rejection has only the thrown value. */
export interface Failure {
  readonly message?: string
  readonly filename?: string
  readonly lineno?: number
  readonly colno?: number
  /** Any value can be thrown. */
  readonly error: unknown
}

const MESSAGE_LENGTH = 200
const SOURCE_LENGTH = 300
const TYPE_LENGTH = 100
const STACK_LENGTH = 1000
/** Text after this many characters is ignored, because a message may contain a whole document. */
const READ_LENGTH = 4000

/** Shortens an error for a beacon, and removes the query strings of URLs. */
export function toPageError({ message, filename, lineno, colno, error }: Failure): PageError {
  const type = textOf(error, 'name', TYPE_LENGTH)
  const source = cleanText(filename, SOURCE_LENGTH)
  const text = textOf(error, 'message', READ_LENGTH)
  // Chrome's stacks begin with the message: if it is long, nothing else would be kept of them.
  const stack = textOf(error, 'stack', READ_LENGTH)
    .split(text)
    .join(text.slice(0, MESSAGE_LENGTH))
    .slice(0, STACK_LENGTH)
  return {
    message:
      cleanText(message, MESSAGE_LENGTH) ||
      text.slice(0, MESSAGE_LENGTH) ||
      thrownText(error) ||
      'Unknown error',
    ...(type && { type }),
    ...(source && { source }),
    ...(lineno && { line: lineno }),
    ...(colno && { column: colno }),
    ...(stack && { stack }),
  }
}

/** Whether both errors have the same message and were thrown at the same place. */
export function isSameError(one: PageError, other: PageError): boolean {
  return (
    one.message === other.message &&
    one.source === other.source &&
    one.line === other.line &&
    one.column === other.column
  )
}

const URL_WITH_QUERY = /(https?:\/\/[^\s?#]*)[?#][^\s)'"<>]*/g
const POSITION = /(:\d+){1,2}$/

function cleanText(text: unknown, length: number): string {
  if (typeof text !== 'string') return ''
  const withoutQueries = text
    .slice(0, READ_LENGTH)
    .replace(URL_WITH_QUERY, (whole, url) => `${url}${POSITION.exec(whole)?.[0] ?? ''}`)
  return withoutQueries.slice(0, length)
}

function textOf(error: unknown, name: 'name' | 'message' | 'stack', length: number): string {
  return cleanText(isObject(error) ? error[name] : undefined, length)
}

/** A thrown string or number. Skips objects: their text says nothing, and converting them may throw. */
function thrownText(error: unknown): string {
  return isObject(error) ? '' : cleanText(String(error), MESSAGE_LENGTH)
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null
}
