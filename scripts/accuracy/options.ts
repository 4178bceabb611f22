import { usageText } from '../../lib/parts/clone-or-package.ts'
import { inputsOf } from '../address-lists/parts/input.ts'
import { FLAG, readArguments, TEXT } from '../parts/options.ts'
import { UsageError } from '../parts/run.ts'

const USAGE = `Usage: ${usageText('accuracy', '[options] truth.csv')}
Measures how often the databases here are right: each provider alone, and all of them together. It looks up
one address of each prefix in the file, or in stdin. The file has a header line with the columns prefix
and country and, if known, region, city, lat, lon and group, or is a geofeed (RFC 8805).
  --json           print all figures as JSON
  --html FILE      also write a page with plots and tables that needs no other file
  --suggest        look for an order of the providers that is better, and print it for MERIDIAN_GEO
  --table          print only the shares of right answers that include=confidence shows, as JSON
  --help           show this

The databases are those of MERIDIAN_GEO or the bundled ones; nothing is sent to a server.
`

export interface Task {
  /** The file, or STDIN. */
  readonly input: string
  readonly json: boolean
  readonly suggest: boolean
  readonly table: boolean
  /** The file for the page. */
  readonly html: string | undefined
}

/** Reads the command line. Throws an error that contains the usage. */
export function readTask(): Task {
  const options = { json: FLAG, suggest: FLAG, html: TEXT, table: FLAG }
  const { values, positionals } = readArguments({ options, allowPositionals: true }, USAGE)
  const [input = '', another] = inputsOf(positionals)
  if (another !== undefined) throw new UsageError('Name one file', USAGE)
  return {
    input,
    json: values.json === true,
    suggest: values.suggest === true,
    table: values.table === true,
    html: values.html,
  }
}
