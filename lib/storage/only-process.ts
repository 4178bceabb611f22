import type { Storage } from './storage.ts'

/** Waits for no other process: the lock of the data folder keeps all others from the database. */
export const ONLY_PROCESS: Pick<Storage, 'leases' | 'flushes'> = {
  leases: {
    runAlone: async (_name, work) => {
      await work(NEVER)
      return true
    },
    waitAndRun: (_name, work) => work(NEVER),
  },
  flushes: { run: (flush) => flush(), runOnAll: (flush) => flush() },
}

const NEVER = new AbortController().signal
