import { Session } from 'node:inspector/promises'
import { setTimeout as wait } from 'node:timers/promises'

export type ProfileKind = 'cpu' | 'heap'

/** What a profile tells, as JSON; `busy`: another one is being made. */
export type Profiled = { readonly json: string } | 'busy' | 'not-on-this-runtime'

export type Profile = (kind: ProfileKind, ms: number, signal: AbortSignal) => Promise<Profiled>

/** Of JSON-RPC, in which the inspector speaks. */
const METHOD_NOT_FOUND = '-32601'

/** Watches this process for `ms`, once at a time. Throws where `signal` breaks it off. */
export function createProfile(): Profile {
  let isBusy = false
  return async (kind, ms, signal) => {
    if (isBusy) return 'busy'
    isBusy = true
    const session = new Session()
    session.connect()
    try {
      const profile = await (kind === 'cpu' ? profileCpu : profileHeap)(session, ms, signal)
      return { json: JSON.stringify(profile) }
    } catch (error) {
      if (isUnknownCommand(error)) return 'not-on-this-runtime'
      throw error
    } finally {
      session.disconnect()
      isBusy = false
    }
  }
}

/** What took processor time: the content of a .cpuprofile. */
async function profileCpu(session: Session, ms: number, signal: AbortSignal) {
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await wait(ms, undefined, { signal })
  return (await session.post('Profiler.stop')).profile
}

/**
 * What took memory and still has it, by the code that asked for it: the content of a .heapprofile.
 * No snapshot of the heap: that stops the process for seconds, and holds all secrets.
 */
async function profileHeap(session: Session, ms: number, signal: AbortSignal) {
  await session.post('HeapProfiler.startSampling')
  await wait(ms, undefined, { signal })
  return (await session.post('HeapProfiler.stopSampling')).profile
}

/** Bun has no sampling of the heap. */
function isUnknownCommand(error: unknown): boolean {
  return error instanceof Error && error.message.includes(METHOD_NOT_FOUND)
}
