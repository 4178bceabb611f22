import { type ParseArgsConfig, parseArgs } from 'node:util'
import * as v from 'valibot'

export const TEXT = { type: 'string' } as const
export const FLAG = { type: 'boolean' } as const

export const Email = v.pipe(v.string('is missing'), v.email('must be an e-mail address'))

/** Splits the arguments into options. Throws an error that shows how the command is used. */
export function splitOptions<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  }
}

/** Checks the options. Throws an error that names the first bad one and shows the usage. */
export function checkOptions<Schema extends v.GenericSchema>(
  schema: Schema,
  values: object,
  usage: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, values, { abortEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`--${v.getDotPath(issue) ?? 'options'} ${issue.message}\n\n${usage}`)
}
