import { type ParseArgsConfig, parseArgs } from 'node:util'
import * as v from 'valibot'
import { reasonOf } from '../../lib/parts/reason.ts'
import { UsageError, UsageRequest } from './run.ts'

export const TEXT = { type: 'string' } as const
export const FLAG = { type: 'boolean' } as const

/**
 * Reads the command line, or `args` if given. Throws an error that contains the usage, or, for `--help`, a
 * `UsageRequest`.
 */
export function readArguments<Config extends ParseArgsConfig>(config: Config, usage: string) {
  if ((config.args ?? process.argv.slice(2)).includes('--help')) throw new UsageRequest(usage)
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(reasonOf(error), usage)
  }
}

/** Checks the options. Throws an error that names the first bad one and contains the usage. */
export function checkOptions<Schema extends v.GenericSchema>(
  schema: Schema,
  values: object,
  usage: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, values, { abortEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues
  const name = v.getDotPath(issue)
  const subject = name === null ? 'The options' : `--${name}`
  throw new UsageError(`${subject} ${issue.message}`, usage)
}
