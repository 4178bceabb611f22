import * as v from 'valibot'
import { commandText, usageText } from '../lib/own-code.ts'
import { withAccounts } from './parts/accounts.ts'
import { inquiryTable, inquiryText, removeOne, retryAllDead, retryOne } from './parts/inquiries.ts'
import { checkOptions, FLAG, readArguments, TEXT } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('contact', '[option]')}
Without an option, lists all inquiries, oldest first. ID may be the beginning of an id.
  --show ID          show the inquiry with all fields
  --retry ID         queue the inquiry again
  --retry-dead       queue all undeliverable inquiries again
  --remove ID        remove the inquiry permanently`

const Id = v.optional(v.pipe(v.string(), v.minLength(1, 'is missing')))
const Options = v.pipe(
  v.strictObject({
    show: Id,
    retry: Id,
    remove: Id,
    'retry-dead': v.optional(v.literal(true)),
  }),
  v.check((options) => Object.keys(options).length <= 1, 'cannot be used together'),
)

await run(async () => {
  const options = { show: TEXT, retry: TEXT, remove: TEXT, 'retry-dead': FLAG }
  const { values } = readArguments({ options }, USAGE)
  const { show, retry, remove, ...flags } = checkOptions(Options, { ...values }, USAGE)
  await withAccounts(commandText('contact'), async (accounts) => {
    if (show !== undefined) {
      process.stdout.write(await inquiryText(accounts, show))
    } else if (retry !== undefined) {
      report(`Queued ${await retryOne(accounts, retry)}; a running server delivers it`)
    } else if (remove !== undefined) {
      report(`Removed ${await removeOne(accounts, remove)}`)
    } else if (flags['retry-dead'] === true) {
      report(`Queued ${await retryAllDead(accounts)}; a running server delivers them`)
    } else {
      process.stdout.write(await inquiryTable(accounts))
    }
  })
})
