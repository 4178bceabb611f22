import { commandText } from '../parts/clone-or-package.ts'
import { DAY_MS } from '../parts/durations.ts'
import { counted } from './check-age.ts'
import { type Finding, ok, warning } from './finding.ts'

/** A free list. Times are epoch milliseconds. */
interface List {
  readonly name: string
  /** When the version in use was last up to date; undefined: there is none. */
  readonly checkedAt?: number | undefined
  readonly failure?: { readonly reason: string } | undefined
}

/** The owners of the lists change them daily or weekly. */
const OLD_LIST_MS = 7 * DAY_MS

/** Checks how old the free lists are, and whether the last download of one failed. */
export function checkLists(lists: readonly List[], now: number): Finding[] {
  const bad = lists.flatMap(({ name, checkedAt = 0, failure }) => {
    const age = ageText(checkedAt, now)
    if (failure !== undefined) {
      const advice = `its earlier version stays in use; try ${commandText('geo', '--download')}`
      return [warning(`The list ${name} ${age}: ${failure.reason}`, advice)]
    }
    if (now - checkedAt <= OLD_LIST_MS) return []
    return [warning(`The list ${name} ${age}`, `run: ${commandText('geo', '--download')}`)]
  })
  if (lists.length === 0 || bad.length > 0) return bad
  const oldest = Math.min(...lists.map(({ checkedAt = 0 }) => checkedAt))
  return [ok(`${counted(lists.length, 'free list')}, the oldest ${ageText(oldest, now)}`)]
}

function ageText(checkedAt: number, now: number): string {
  if (checkedAt === 0) return 'was never downloaded'
  return `was up to date ${counted(Math.floor((now - checkedAt) / DAY_MS), 'day')} ago`
}
