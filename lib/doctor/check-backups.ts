import { type Finding, ok, warning } from './finding.ts'

const HOUR_MS = 60 * 60 * 1000
const OLD_MS = 48 * HOUR_MS

/** Whether there is a backup that is not old. `latest` in epoch milliseconds. */
export function checkBackups(
  directory: string,
  latest: number | undefined,
  now: number,
): Finding[] {
  const advice = 'run npm run backup every day, and keep copies on another machine'
  if (latest === undefined) return [warning(`There is no backup in ${directory}`, advice)]
  const text = `The latest backup in ${directory} is ${Math.floor((now - latest) / HOUR_MS)} hours old`
  return [now - latest > OLD_MS ? warning(text, advice) : ok(text)]
}
