import { decodeList } from '../../lib/address-lists/decode.ts'
import { findAddresses } from '../../lib/address-lists/find-addresses.ts'
import { Records } from '../../lib/address-lists/records.ts'
import { usageText } from '../../lib/parts/clone-or-package.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { isPublic } from '../../lib/parts/net/public-address.ts'
import { reasonOf } from '../../lib/parts/reason.ts'
import { readArguments } from '../parts/options.ts'
import { print, report, run } from '../parts/run.ts'
import { inputsOf, readBytes, STDIN } from './parts/input.ts'

const USAGE = `Usage: ${usageText('grepip', '[options] [FILE…]')}
Prints the lines of the files, or of stdin, that contain IPv4 or IPv6 addresses.
  -o, --only-matching     print only the addresses, one per line
  -4, --ipv4              find only IPv4 addresses
  -6, --ipv6              find only IPv6 addresses
  -x, --exclude-reserved  leave out private, local and other reserved addresses
  -h, --no-filename       do not print the name of the file, which is printed if there are several
The exit code is 0 if there is an address, 1 if there is none, 2 if a file cannot be read.
`

const OPTIONS = {
  'only-matching': { type: 'boolean', short: 'o' },
  ipv4: { type: 'boolean', short: '4' },
  ipv6: { type: 'boolean', short: '6' },
  'exclude-reserved': { type: 'boolean', short: 'x' },
  'no-filename': { type: 'boolean', short: 'h' },
} as const
type Options = ReturnType<typeof readArguments<{ readonly options: typeof OPTIONS }>>['values']

interface Outcome {
  isFound: boolean
  isUnreadable: boolean
}

await run(async () => {
  const { values, positionals } = readArguments({ options: OPTIONS, allowPositionals: true }, USAGE)
  const outcome = { isFound: false, isUnreadable: false }
  await print(() => search(inputsOf(positionals), values, outcome))
  if (outcome.isUnreadable) process.exitCode = 2
  else if (!outcome.isFound) process.exitCode = 1
})

async function* search(files: readonly string[], options: Options, outcome: Outcome) {
  const hasNames = files.length > 1 && options['no-filename'] !== true
  for (const file of files) {
    yield* searchFile(file, createMatches(options, hasNames ? file : undefined), outcome)
  }
}

/** Goes on with the next file after one that cannot be read, as grep does. */
async function* searchFile(file: string, matches: Matches, outcome: Outcome) {
  try {
    for await (const lines of readLines(file)) {
      const text = lines.flatMap(matches).join('')
      outcome.isFound ||= text !== ''
      yield text
    }
  } catch (error) {
    report(reasonOf(error))
    outcome.isUnreadable = true
  }
}

/** Each item is the lines that end in a part of the file. */
async function* readLines(file: string): AsyncGenerator<readonly string[]> {
  const records = new Records(undefined)
  for await (const text of decodeList(readBytes(file))) yield records.push(text)
  yield records.end()
}

/** What to print of a line. */
type Matches = (line: string) => string[]

/** `file`: the name to print before each line. */
function createMatches(options: Options, file: string | undefined): Matches {
  const start = file === undefined ? '' : `${file === STDIN ? '(standard input)' : file}:`
  const isWanted = createFilter(options)
  return (line) => {
    const addresses = findAddresses(line).filter(isWanted)
    if (options['only-matching'] === true) return addresses.map((address) => `${start}${address}\n`)
    return addresses.length === 0 ? [] : [`${start}${line}\n`]
  }
}

function createFilter(options: Options): (address: string) => boolean {
  const { ipv4 = false, ipv6 = false, 'exclude-reserved': excludesReserved = false } = options
  return (address) => {
    if (ipv4 !== ipv6 && address.includes(':') !== ipv6) return false
    const parsed = excludesReserved ? parseAddress(address) : null
    return parsed === null || isPublic(parsed)
  }
}
