import type Stripe from 'stripe'
import * as v from 'valibot'
import type { Form } from './form.ts'
import { badRequest, missingParam } from './stripe-error.ts'

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

/** An empty text removes all entries; an empty value removes one. */
export const Metadata = v.union([v.literal(''), v.record(v.string(), v.string())])

export const Address = optional({
  line1: Text,
  line2: Text,
  city: Text,
  state: Text,
  postal_code: Text,
  country: Text,
})

export const EMPTY_ADDRESS: Stripe.Address = {
  city: null,
  country: null,
  line1: null,
  line2: null,
  postal_code: null,
  state: null,
}

export const AutomaticTaxParam = v.strictObject({ enabled: Flag })

export const Page = optional({
  limit: v.pipe(Integer, v.minValue(1, 'Invalid integer'), v.maxValue(100, 'Invalid integer')),
  starting_after: Text,
})

/** A schema of parameters that are all optional. */
export function optional<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.partial(v.strictObject(entries))
}

/** A schema of required parameters and of `others`, which are optional. */
export function withOptional<Required extends v.ObjectEntries, Others extends v.ObjectEntries>(
  required: Required,
  others: Others,
) {
  return v.strictObject({ ...required, ...optional(others).entries })
}

/** Parses the parameters. Throws Stripe's 400 for the first invalid one. */
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
  if (issue.received === 'undefined') return missingParam(param)
  const code = /integer/.test(issue.message) ? { code: 'parameter_invalid_integer' } : {}
  return badRequest(`Invalid ${param}: ${issue.message}`, { ...code, param })
}

/** Throws Stripe's 400 if more than one of the parameters is given. */
export function requireAtMostOne<Name extends string>(
  params: { readonly [Param in Name]?: unknown },
  ...names: Name[]
): void {
  if (names.filter((name) => params[name] !== undefined).length <= 1) return
  throw badRequest(`You may only specify one of these parameters: ${names.join(', ')}.`)
}

/** Merges metadata like Stripe: an empty value removes a name, '' removes all, others stay. */
export function mergeMetadata(
  old: Readonly<Record<string, string>>,
  change: v.InferOutput<typeof Metadata> | undefined,
): Record<string, string> {
  if (change === undefined) return { ...old }
  if (change === '') return {}
  const merged = Object.entries({ ...old, ...change }).filter(([, value]) => value !== '')
  return Object.fromEntries(merged)
}
