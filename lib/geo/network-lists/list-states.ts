import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { replaceFile } from '../files/replace-file.ts'
import { FREE_LISTS, type FreeList } from './free-lists.ts'

const NAME = 'lists.json'

const Time = v.pipe(v.number(), v.integer(), v.minValue(0))

const State = v.object({
  /** When the stored version was last the owner's newest; absent if none is stored. */
  checkedAt: v.optional(Time),
  /** Last-Modified of the stored version. */
  modifiedAt: v.optional(Time),
  /** Networks of the stored version. */
  networks: v.optional(v.pipe(v.number(), v.integer())),
  /** Why the last download failed or was refused; absent if it succeeded. */
  failure: v.optional(v.object({ at: Time, reason: v.string() })),
})
/** The result of the last downloads of a list. Times are epoch milliseconds. */
export type ListState = v.InferOutput<typeof State>

const States = v.record(v.string(), State)
export type ListStates = v.InferOutput<typeof States>

/** Reads the states by the ids of their lists. A missing or damaged file has none. */
export function readListStates(directory: string): ListStates {
  try {
    return v.parse(States, JSON.parse(readFileSync(join(directory, NAME), 'utf8')))
  } catch {
    return {}
  }
}

export async function writeListStates(directory: string, states: ListStates): Promise<void> {
  const json = `${JSON.stringify(states, null, 2)}\n`
  await replaceFile(directory, NAME, (partial) => writeFile(partial, json))
}

/** The lists that a download has tried, in order of priority, with their states. */
export function triedLists(directory: string): (ListState & Pick<FreeList, 'id' | 'name'>)[] {
  const states = readListStates(directory)
  return FREE_LISTS.flatMap(({ id, name }) => {
    const state = states[id]
    return state === undefined ? [] : [{ id, name, ...state }]
  })
}
