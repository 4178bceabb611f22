import assert from 'node:assert/strict'
import { execFileSync, type StdioOptions } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'

/** A zone, or a rule in the form of POSIX, and epoch seconds. */
export type Row = readonly [zone: string, times: readonly number[]]

/** The text of an offset at epoch seconds. */
export type Ask = (zone: string, time: number) => string | undefined

type Variables = Readonly<Record<string, string>>

const MAX_OUTPUT_BYTES = 2 ** 24

export const DIRECTORY = '/usr/share/zoneinfo'

const PROBE = '[ "$(TZ=Asia/Kathmandu date -d @0 +%:z)" = +05:30 ] && date -f /dev/null'
/** Options of a test that needs `disagreements`. */
export const NEEDS_DATE = {
  skip: sh(PROBE, '', { TZDIR: DIRECTORY }) === undefined && 'needs GNU date and tzdata',
}

// Reads lines of a zone and its times, writes a paragraph of lines for each: its offsets.
const DATE = `while read -r zone times; do
  printf '@%s\\n' $times | TZ="$zone" date -f - "+$FORMAT"
  echo
done`

const STEP = 20 * 86_400

/**
 * Where the system's date gives another offset, in `format` and out of the zone files of
 * `directory`. It writes -00:00 where nobody keeps a local time; the API writes +00:00.
 */
export function disagreements(
  rows: readonly Row[],
  ask: Ask,
  { format = '%::z', directory = DIRECTORY } = {},
): string[] {
  const input = rows.map(([zone, times]) => `${[zone, ...times].join(' ')}\n`).join('')
  const output = sh(DATE, input, { FORMAT: format, TZDIR: directory }) ?? ''
  const offsets = output.replace(/^-(?=00:00(?::00)?$)/gm, '+').split('\n\n')
  assert.equal(offsets.length, rows.length)
  return rows.flatMap(([zone, times], row) => {
    const expected = offsets[row]?.split('\n') ?? []
    const wrong = [...times.entries()].filter(([i, time]) => ask(zone, time) !== expected[i])
    return wrong.map(([i, time]) => `${zone} @${time}: ${ask(zone, time)}, date: ${expected[i]}`)
  })
}

/** The zones of the system. Only names with a capital: no copies below posix/ or right/. */
export function systemZones(): string[] {
  if (!existsSync(DIRECTORY)) return []
  const names = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /^[A-Z]/.test(name) && statSync(`${DIRECTORY}/${name}`).isFile())
}

/** A time every twenty days, and both sides of each change that `ask` gives between them. */
export function timesAround(ask: Ask, zone: string, from: number, to: number): number[] {
  const times: number[] = []
  for (let start = from; start < to; start += STEP) {
    times.push(start)
    let [low, high] = [start, start + STEP]
    if (ask(zone, low) === ask(zone, high)) continue
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (ask(zone, middle) === ask(zone, low)) low = middle
      else high = middle
    }
    times.push(low, high)
  }
  return times
}

/** What a script writes; undefined where there is no shell or the script fails. */
export function sh(script: string, input = '', variables: Variables = {}): string | undefined {
  const stdio: StdioOptions = ['pipe', 'pipe', 'ignore']
  const options = {
    input,
    stdio,
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { ...process.env, ...variables },
  }
  try {
    return execFileSync('sh', ['-c', script], { ...options, encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
