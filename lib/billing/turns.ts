/** Does the work of a user when what was asked for before is done: so a decision holds until then. */
export type InTurn = <Result>(userId: string, work: () => Promise<Result>) => Promise<Result>

export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (userId, work) => {
    const before = last.get(userId) ?? Promise.resolve()
    const mine = before.then(work, work)
    const leave = () => {
      if (last.get(userId) === mine) last.delete(userId)
    }
    last.set(userId, mine)
    void mine.then(leave, leave)
    return mine
  }
}
