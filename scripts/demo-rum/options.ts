import * as v from 'valibot'
import { parseSiteName } from '../../lib/accounts/sites.ts'
import { EmailAddress } from '../../lib/parts/email-address.ts'
import { checkOptions, readArguments, TEXT } from '../parts/options.ts'

const MAX_DAYS = 90

const USAGE = `Usage: npm run demo:rum -- --site https://shop.example
  --site https://shop.example  the visited site; it is added if it is new
  --days 7                     number of days, 1 to ${MAX_DAYS}; default: 7
  --views 2000                 page views per day, 1 to 100000; default: 2000
  --email you@example.com      the owner of the site; added if new; default: demo@example.com`

const count = (most: number) => {
  const range = `must be a whole number from 1 to ${most}`
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,6}$/, range),
    v.transform(Number),
    v.minValue(1, range),
    v.maxValue(most, range),
  )
}

const DemoOptions = v.strictObject({
  site: v.pipe(
    v.string('is missing'),
    v.transform(parseSiteName),
    v.string('must be an origin such as https://shop.example'),
  ),
  days: v.optional(count(MAX_DAYS), '7'),
  views: v.optional(count(100_000), '2000'),
  email: v.optional(EmailAddress, 'demo@example.com'),
})
export type DemoOptions = v.InferOutput<typeof DemoOptions>

/** Reads the arguments of the command. Throws an error that includes the usage. */
export function readDemoOptions(args: string[]): DemoOptions {
  const options = { site: TEXT, days: TEXT, views: TEXT, email: TEXT }
  const { values } = readArguments({ args, options }, USAGE)
  return checkOptions(DemoOptions, { site: undefined, ...values }, USAGE)
}
