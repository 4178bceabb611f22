import * as v from 'valibot'
import type { Form } from './form.ts'
import { badRequest } from './stripe-error.ts'

export const Text = v.string()

export const Integer = v.pipe(
  v.string(),
  v.regex(/^-?\d+$/, 'Invalid integer'),
  v.transform(Number),
)

export const Decimal = v.pipe(
  v.string(),
  v.regex(/^-?\d+(\.\d+)?$/, 'Invalid decimal'),
  v.transform(Number),
)

export const Flag = v.pipe(
  v.picklist(['true', 'false'], 'Invalid boolean'),
  v.transform((text) => text === 'true'),
)

/** An empty text takes all entries away; an empty value takes one away. */
export const Metadata = v.union([v.literal(''), v.record(v.string(), v.string())])

export const Address = v.strictObject({
  line1: v.optional(Text),
  line2: v.optional(Text),
  city: v.optional(Text),
  state: v.optional(Text),
  postal_code: v.optional(Text),
  country: v.optional(Text),
})

export const Created = v.union([
  Integer,
  v.strictObject({
    gt: v.optional(Integer),
    gte: v.optional(Integer),
    lt: v.optional(Integer),
    lte: v.optional(Integer),
  }),
])

export const Page = {
  limit: v.optional(
    v.pipe(Integer, v.minValue(1, 'Invalid integer'), v.maxValue(100, 'Invalid integer')),
  ),
  starting_after: v.optional(Text),
  ending_before: v.optional(Text),
}

/** The parameters by their schema. Throws Stripe's 400 for the first that is wrong. */
export function readParams<Schema extends v.GenericSchema>(
  schema: Schema,
  form: Form,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, form, { abortEarly: true })
  if (result.success) return result.output
  throw toError(result.issues[0])
}

function toError(issue: v.BaseIssue<unknown>) {
  const [first = '', ...rest] = (issue.path ?? []).map((item) => String(item.key))
  const param = first + rest.map((name) => `[${name}]`).join('')
  if (issue.expected === 'never') {
    return badRequest(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param })
  }
  if (issue.received === 'undefined') {
    return badRequest(`Missing required param: ${param}.`, { code: 'parameter_missing', param })
  }
  const code = /integer/.test(issue.message) ? { code: 'parameter_invalid_integer' } : {}
  return badRequest(`Invalid ${param}: ${issue.message}`, { ...code, param })
}
