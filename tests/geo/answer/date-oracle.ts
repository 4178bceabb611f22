import assert from 'node:assert/strict'
import { execFileSync, type StdioOptions } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'

/** A zone and epoch seconds. */
export type Row = readonly [zone: string, times: readonly number[]]

/** Returns the text of an offset at epoch seconds. */
export type Ask = (zone: string, time: number) => string | undefined

type Variables = Readonly<Record<string, string>>

const MAX_OUTPUT_BYTES = 2 ** 24

/** Where the compiled zones are; `TZDIR` is the variable that `date` reads. */
export const DIRECTORY = process.env['TZDIR'] ?? '/usr/share/zoneinfo'

const PROBE = '[ "$(TZ=Asia/Kathmandu date -d @0 +%:z)" = +05:30 ] && date -f /dev/null'
/** Options of a test that needs `disagreements`. */
export const NEEDS_DATE = {
  skip: sh(PROBE, '', { TZDIR: DIRECTORY }) === undefined && 'needs GNU date and tzdata',
}

// Reads lines of a zone and its times; writes a paragraph with the offsets of each, one per line.
const DATE = `while read -r zone times; do
  printf '@%s\\n' $times | TZ="$zone" date -f - "+$FORMAT"
  echo
done`

/**
 * Lists where the system's `date` prints an offset, in `format`, that `ask` does not return. It
 * prints -00:00 for places without a local time; the API writes +00:00.
 */
export function disagreements(
  rows: readonly Row[],
  ask: Ask,
  { format }: { readonly format: string },
): string[] {
  const input = rows.map(([zone, times]) => `${[zone, ...times].join(' ')}\n`).join('')
  const output = sh(DATE, input, { FORMAT: format, TZDIR: DIRECTORY }) ?? ''
  const offsets = output.replace(/^-(?=00:00(?::00)?$)/gm, '+').split('\n\n')
  assert.equal(offsets.length, rows.length)
  return rows.flatMap(([zone, times], row) => {
    const expected = offsets[row]?.split('\n') ?? []
    const wrong = [...times.entries()].filter(([i, time]) => ask(zone, time) !== expected[i])
    return wrong.map(([i, time]) => `${zone} @${time}: ${ask(zone, time)}, date: ${expected[i]}`)
  })
}

/** The release of the system's timezone database, such as 2026f; undefined if not stated. */
export function systemRelease(): string | undefined {
  const path = `${DIRECTORY}/tzdata.zi`
  return existsSync(path) ? /\d{4}[a-z]+/.exec(readFileSync(path, 'latin1'))?.[0] : undefined
}

/**
 * The zones of the system. They begin with a capital letter, unlike the copies in posix/ and right/.
 * Factory is not a place: it stands for a clock that nobody has set.
 */
export function systemZones(): string[] {
  if (!existsSync(DIRECTORY)) return []
  const names = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
  const isZone = (name: string) => /^[A-Z]/.test(name) && name !== 'Factory'
  return names.filter((name) => isZone(name) && statSync(`${DIRECTORY}/${name}`).isFile())
}

/** Runs a script and returns its output; undefined if there is no shell or the script fails. */
function sh(script: string, input = '', variables: Variables = {}): string | undefined {
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
