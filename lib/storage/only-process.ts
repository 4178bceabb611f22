import type { Storage } from './storage.ts'

/** For a process that shares its database with no other: it holds the lock of the data folder. */
export const ONLY_PROCESS: Pick<Storage, 'leases' | 'flushes'> = {
  leases: {
    runAlone: async (_name, work) => {
      await work(NEVER)
      return true
    },
    runInTurn: (_name, work) => work(NEVER),
  },
  flushes: { run: (flush) => flush(), runOnAll: (flush) => flush() },
}

const NEVER = new AbortController().signal
