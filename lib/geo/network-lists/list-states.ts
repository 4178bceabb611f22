import { join } from 'node:path'
import * as v from 'valibot'
import { readState, sourceState, writeState } from '../download/kept-source.ts'
import { FREE_LISTS, type FreeList } from './free-lists.ts'

const NAME = 'lists.json'

const State = v.object({
  ...sourceState,
  /** Networks of the stored version. */
  networks: v.optional(v.pipe(v.number(), v.integer())),
})
/** The result of the last downloads of a list. Times are epoch milliseconds. */
export type ListState = v.InferOutput<typeof State>

const States = v.record(v.string(), State)
export type ListStates = v.InferOutput<typeof States>

/** Reads the states by the ids of their lists. A missing or damaged file has none. */
export function readListStates(directory: string): ListStates {
  return readState(join(directory, NAME), States, {})
}

export function writeListStates(directory: string, states: ListStates): Promise<void> {
  return writeState(directory, NAME, states)
}

/** The lists that a download has tried, in order of priority, with their states. */
export function triedLists(directory: string): (ListState & Pick<FreeList, 'id' | 'name'>)[] {
  const states = readListStates(directory)
  return FREE_LISTS.flatMap(({ id, name }) => {
    const state = states[id]
    return state === undefined ? [] : [{ id, name, ...state }]
  })
}
