import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { openDatabase } from '../database.ts'
import { replaceFile } from '../files/replace-file.ts'
import { reasonOfFailure } from './failure.ts'
import type { FetchedNetworks } from './fetched-networks.ts'

/** Epoch milliseconds. */
export const Time = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The state of a source: its last accepted version is kept in a file. */
export const sourceState = {
  /** When the stored version was last the newest; absent if none is stored. */
  checkedAt: v.optional(Time),
  /** Last-Modified of the stored version. */
  modifiedAt: v.optional(Time),
  /** Why the last update failed or was refused; absent if it succeeded. */
  failure: v.optional(v.object({ at: Time, reason: v.string() })),
}

/** Reads what `writeState` has written. Returns `otherwise` if the file is missing or damaged. */
export function readState<Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
  otherwise: v.InferOutput<Schema>,
): v.InferOutput<Schema> {
  try {
    return v.parse(schema, JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return otherwise
  }
}

export async function writeState(directory: string, name: string, state: object): Promise<void> {
  const json = `${JSON.stringify(state, null, 2)}\n`
  await replaceFile(directory, name, (partial) => writeFile(partial, json))
}

interface Compiled {
  /** File name of the database. */
  readonly file: string
  /** What a failure calls it. */
  readonly name: string
}

/**
 * Compiles kept sources into a database, and puts it into use if it can be opened. If `compile` returns
 * undefined, removes the database. Returns the failure, if there is one.
 */
export async function updateCompiled(
  directory: string,
  { file, name }: Compiled,
  compile: () => Promise<Uint8Array | undefined>,
): Promise<FetchedNetworks[]> {
  const path = join(directory, file)
  try {
    const bytes = await compile()
    if (bytes === undefined) {
      await rm(path, { force: true })
      return []
    }
    await replaceFile(directory, file, async (partial) => {
      await writeFile(partial, bytes)
      await openDatabase(partial, { map: false, regionCode: () => undefined })
    })
    return []
  } catch (error) {
    return [{ name, outcome: 'failed', reason: reasonOfFailure(path, error) }]
  }
}
