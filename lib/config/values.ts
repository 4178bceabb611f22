import * as v from 'valibot'

/* The kinds of values that variables have. */

export const Text = v.string()
/** Docker keeps the quotes of its files of variables. */
export const Unquoted = v.pipe(
  Text,
  v.transform((text) => text.trim().replace(/^(["'])(.*)\1$/, '$2')),
)

export function matching(pattern: RegExp, message: string) {
  return v.pipe(Text, v.regex(pattern, message))
}

/** A whole number, as decimal digits. */
export function wholeNumber(least: number, most: number, name = 'number') {
  const message = `must be a ${name} from ${least} to ${most}`
  return v.pipe(
    matching(/^\d{1,6}$/, message),
    v.toNumber(),
    v.minValue(least, message),
    v.maxValue(most, message),
  )
}

export const Port = wholeNumber(0, 65_535, 'port number')

export const HttpUrl = v.pipe(
  matching(/^https?:\/\/[^/?#]+/, 'must be an http or https URL'),
  v.url('must be an http or https URL'),
  v.transform((text) => text.replace(/\/+$/, '')),
)

export const Flag = v.pipe(
  v.picklist(['0', '1'], 'must be 0 or 1'),
  v.transform((text) => text === '1'),
)

export const List = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
  v.filterItems((part) => part !== ''),
)
