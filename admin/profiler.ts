import { Session } from 'node:inspector/promises'
import { setTimeout as wait } from 'node:timers/promises'

export type ProfileKind = 'cpu' | 'heap'

/** A profile as JSON. `busy`: another one is running. */
export type Profiled = { readonly json: string } | 'busy' | 'not-on-this-runtime'

export type Profile = (kind: ProfileKind, ms: number, signal: AbortSignal) => Promise<Profiled>

/** Error code of JSON-RPC, the protocol of the inspector. */
const METHOD_NOT_FOUND = '-32601'

/** Returns a function that profiles this process for `ms`. It throws if `signal` aborts it. */
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

/** Returns which code used processor time, in the .cpuprofile format. */
async function profileCpu(session: Session, ms: number, signal: AbortSignal) {
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await wait(ms, undefined, { signal })
  return (await session.post('Profiler.stop')).profile
}

/**
 * Returns how much memory each part of the code holds, in the .heapprofile format. A heap snapshot
 * would stop the process for seconds and contain all secrets.
 */
async function profileHeap(session: Session, ms: number, signal: AbortSignal) {
  await session.post('HeapProfiler.startSampling')
  await wait(ms, undefined, { signal })
  return (await session.post('HeapProfiler.stopSampling')).profile
}

/** Bun cannot sample the heap. */
function isUnknownCommand(error: unknown): boolean {
  return error instanceof Error && error.message.includes(METHOD_NOT_FOUND)
}
