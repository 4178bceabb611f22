import * as v from 'valibot'
import { type Accounts, withAccounts } from './accounts.ts'
import { inquiryTable, inquiryText, removeOne, retryAllDead, retryOne } from './inquiries.ts'
import { checkOptions, FLAG, splitOptions, TEXT } from './options.ts'
import { report, run } from './run.ts'

const USAGE = `Usage: npm run --silent contact
                     list all inquiries, oldest first
or with one of these; an ID may be cut short
  --show ID          show one, whole
  --retry ID         queue one anew, such as one that was given up or kept
  --retry-dead       queue all anew that were given up
  --remove ID        remove one for good`

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
  const values = splitOptions(process.argv.slice(2), options, USAGE)
  const command = checkOptions(Options, { ...values }, USAGE)
  await withAccounts('npm run contact', (accounts) => obey(accounts, command))
})

async function obey(accounts: Accounts, command: v.InferOutput<typeof Options>): Promise<void> {
  const { show, retry, remove } = command
  if (show !== undefined) {
    process.stdout.write(inquiryText(accounts, show))
  } else if (retry !== undefined) {
    report(`Queued ${await retryOne(accounts, retry)}; a running server delivers it`)
  } else if (remove !== undefined) {
    report(`Removed ${await removeOne(accounts, remove)}`)
  } else if (command['retry-dead'] === true) {
    report(`Queued ${await retryAllDead(accounts)}; a running server delivers them`)
  } else {
    process.stdout.write(inquiryTable(accounts))
  }
}
