import type { Engine, Execute } from '../db/engine.ts'
import type { Outcome, Query } from '../parts/sql.ts'

interface Open {
  readonly execute: Execute
  readonly decision: PromiseWithResolvers<void>
  /** Settles when the transaction has ended. */
  readonly ended: Promise<void>
}

/** Transactions of another thread. `begin` returns a number by which that thread refers to each. */
export function createTransactions(engine: Engine) {
  const open = new Map<number, Open>()
  let lastId = 0
  const find = (id: number): Open => {
    const transaction = open.get(id)
    if (transaction === undefined) throw new Error(`no open transaction has the number ${id}`)
    return transaction
  }
  const take = (id: number): Open => {
    const transaction = find(id)
    open.delete(id)
    return transaction
  }
  return {
    begin: (): Promise<number> =>
      new Promise((resolve, reject) => {
        const decision = Promise.withResolvers<void>()
        const ended = engine.transact((execute) => {
          lastId += 1
          open.set(lastId, { execute, decision, ended })
          resolve(lastId)
          return decision.promise
        })
        ended.catch(reject)
      }),
    executeIn: async (id: number, query: Query, only?: 'first row'): Promise<Outcome> =>
      find(id).execute(query, only),
    commit: async (id: number): Promise<void> => {
      const { decision, ended } = take(id)
      decision.resolve()
      await ended
    },
    rollBack: async (id: number): Promise<void> => {
      const { decision, ended } = take(id)
      decision.reject(new Error('rolled back'))
      await ended.catch(() => {})
    },
  }
}
