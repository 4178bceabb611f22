import * as v from 'valibot'
import { ERROR_STATUS, type ErrorCode } from '../parts/errors.ts'

export const Timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.description('ISO 8601 date and time, UTC'),
)

export const RequestId = v.pipe(
  v.string(),
  v.uuid(),
  v.description('Equal to the X-Request-Id header of the answer'),
)

const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[] // safe: the keys of a const table

/** An error of a batch shows at most this many characters of the text. */
export const SHOWN_CHARACTERS = 100

/** What was looked up. */
export const Asked = strictObject('What was looked up', {
  type: text('Its kind: ip or asn'),
  value: text(`As the request has it; in batches at most its first ${SHOWN_CHARACTERS} characters`),
})

export const ApiErrorBody = strictObject('What went wrong', {
  error: strictObject('The kind of error, and what to do about it', {
    code: v.pipe(v.picklist(ERROR_CODES), v.description('Stable; the message may change')),
    message: text('What is wrong, for people'),
    field: v.optional(
      v.pipe(
        v.string(),
        v.description('The part of the query, body or path that is wrong, such as ips.3'),
      ),
    ),
    documentation: v.optional(
      v.pipe(v.string(), v.description('The page of the API reference about this operation')),
    ),
  }),
  meta: v.optional(strictObject('About the request', { requestId: RequestId })),
  query: v.optional(Asked),
})
export type ApiErrorBody = v.InferOutput<typeof ApiErrorBody>

export const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A field that is a text. */
export function text(description: string) {
  return v.pipe(v.string(), v.description(description))
}

/** A field that is true or false. */
export function flag(description: string) {
  return v.pipe(v.boolean(), v.description(description))
}

/** A field that is a whole number from 0 on. */
export function count(description: string) {
  return v.pipe(Count, v.description(description))
}

const QUOTED_CHARACTERS = 100

/** Quotes an invalid value for a message: the first 100 characters of its JSON. */
export function quoted(value: unknown): string {
  return JSON.stringify(value)?.slice(0, QUOTED_CHARACTERS) ?? 'nothing'
}

/** An object schema with a description. Unknown fields are dropped. */
export function object<Entries extends v.ObjectEntries>(description: string, entries: Entries) {
  return v.pipe(v.object(entries), v.description(description))
}

/** An object schema with a description. Unknown fields are refused. */
export function strictObject<Entries extends v.ObjectEntries>(
  description: string,
  entries: Entries,
) {
  return v.pipe(v.strictObject(entries), v.description(description))
}

/** Text of at most `most` code points, which is how JSON Schema counts length. */
export function textUpTo(most: number) {
  return v.pipe(
    v.string(),
    v.check(
      (text) => text.length <= most || [...text].length <= most,
      `must have at most ${most} characters`,
    ),
    v.metadata({ maxLength: most }),
  )
}

/**
 * Refuses blanks, control characters, and those that set the direction of the text around them. Works with
 * and without the flag `u`, because JSON Schema validators set that flag.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses them
const SINGLE_LINE = /^(?=[\s\S]*\S)[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$/

/** A line of text that is not blank, such as a name. */
export function singleLine(most: number) {
  return v.pipe(
    textUpTo(most),
    v.regex(SINGLE_LINE, 'must not be blank, and must have no control characters'),
  )
}

/** The largest number that `wholeNumber` reads. */
const MAX_OFFSET = 999_999_999

interface WholeNumber {
  readonly fallback: number
  readonly least: number
  readonly most: number
}

/** A whole number in a query. Whatever is wrong with it, the message names the range. */
function wholeNumber({ fallback, least, most }: WholeNumber) {
  const message = `must be a whole number from ${least} to ${most}`
  return v.pipe(
    v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, message)), String(fallback)),
    v.toNumber(),
    v.number(),
    v.integer(),
    v.minValue(least, message),
    v.maxValue(most, message),
    v.metadata({ default: fallback }),
  )
}

interface Page {
  /** What a page lists, in the plural, such as `Entries`. */
  readonly name: string
  /** How many a page has by default, and at most. */
  readonly usual: number
  readonly most: number
}

/** The query of a list that is read in pages. */
export function pageOf({ name, usual, most }: Page) {
  return {
    limit: v.pipe(
      wholeNumber({ fallback: usual, least: 1, most }),
      v.description(`${name} per page`),
    ),
    offset: v.pipe(
      wholeNumber({ fallback: 0, least: 0, most: MAX_OFFSET }),
      v.description(`${name} to skip`),
    ),
  }
}

export const UrlText = v.pipe(v.string(), v.url())

/** Some of the names, separated by commas. */
export function listOf(names: readonly string[], message: string) {
  const name = names.map((one) => one.replaceAll('.', '\\.')).join('|')
  const unknownIn = (text: string) => text.split(',').find((one) => !names.includes(one))
  return v.pipe(
    v.string(),
    v.regex(
      new RegExp(`^(${name})(,(${name}))*$`),
      ({ input }) =>
        `${message}; ${quoted(unknownIn(input))} is not one${hint(names, unknownIn(input))}`,
    ),
  )
}

const LIST_PATTERN = /^\^\(([^()]+)\)\(,\(\1\)\)\*\$$/

/** The names in the pattern of a `listOf`; undefined for any other pattern. */
export function namesOfList(pattern: string | undefined): string[] | undefined {
  return LIST_PATTERN.exec(pattern ?? '')?.[1]
    ?.replaceAll('\\.', '.')
    .split('|')
}

/**
 * Names the field whose last part was given, such as `location.city` for `city`, if only one is nearest to the
 * top; else nothing.
 */
export function hint(names: readonly string[], given: unknown): string {
  const depth = (name: string) => name.split('.').length
  const found = names.filter((one) => one.endsWith(`.${given}`))
  const top = Math.min(...found.map(depth))
  const [name, ...others] = found.filter((one) => depth(one) === top)
  if (name === undefined || others.length > 0) return ''
  return `, did you mean ${name}?`
}
