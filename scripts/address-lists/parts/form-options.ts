import { type Corrections, KINDS, type Kind } from '../../../lib/address-lists/form.ts'
import { LOG_FORMATS } from '../../../lib/address-lists/log-formats.ts'
import { FLAG, TEXT } from '../../parts/options.ts'
import { UsageError } from '../../parts/run.ts'

export const FORM_OPTIONS = { as: TEXT, column: TEXT, anywhere: FLAG, last: FLAG } as const

export const FORM_USAGE = `If the format is not recognised correctly:
  --as KIND        ${Object.keys(KINDS).join(', ')};
                   or the program that wrote a log: ${Object.keys(LOG_FORMATS).join(', ')}
  --column NAME    the column or field with the addresses, or its number
  --anywhere       take addresses anywhere in the line
  --last           look up the last of several addresses in a row, not the first
`

/** What the user says about the form of a list, in place of what is recognised. */
export interface FormOptions {
  readonly corrections: Corrections
  /** The name of the column with the addresses, or its number from 1. */
  readonly column: string | undefined
}

interface Values {
  readonly as?: string | undefined
  readonly column?: string | undefined
  readonly anywhere?: boolean | undefined
  readonly last?: boolean | undefined
}

/** Throws an error that contains `usage`. */
export function toFormOptions({ as, column, anywhere, last }: Values, usage: string): FormOptions {
  return {
    column,
    corrections: {
      ...(as !== undefined && readKind(as, usage)),
      ...(anywhere === true && { column: null }),
      take: last === true ? 'last' : 'first',
    },
  }
}

function readKind(text: string, usage: string): Corrections {
  if (Object.hasOwn(LOG_FORMATS, text)) return LOG_FORMATS[text] ?? {}
  // safe: the names of a literal object
  const kind = (Object.keys(KINDS) as Kind[]).find((name) => name === text)
  if (kind === undefined) throw new UsageError(`--as "${text}" is not a kind of list`, usage)
  return { kind }
}
