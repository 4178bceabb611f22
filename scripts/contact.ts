import * as v from 'valibot'
import { commandText, usageText } from '../lib/parts/clone-or-package.ts'
import { type Accounts, withAccounts } from './parts/accounts.ts'
import {
  inquiryJson,
  inquiryTable,
  inquiryText,
  removeOne,
  retryAllDead,
  retryOne,
} from './parts/inquiries.ts'
import { checkOptions, FLAG, readArguments, TEXT } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('contact', '[option]')}
Without an option, lists all inquiries, oldest first. ID may be the beginning of an id.
  --show ID          show the inquiry with all fields
  --json             list or show as JSON
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
    json: v.optional(v.literal(true)),
  }),
  v.check(({ json, ...actions }) => {
    const [action, another] = Object.keys(actions)
    return another === undefined && (json === undefined || [undefined, 'show'].includes(action))
  }, 'cannot be used together'),
)

await run(async () => {
  const options = { show: TEXT, retry: TEXT, remove: TEXT, 'retry-dead': FLAG, json: FLAG }
  const { values } = readArguments({ options }, USAGE)
  const wanted = checkOptions(Options, { ...values }, USAGE)
  await withAccounts(commandText('contact'), (accounts) => act(accounts, wanted), 'refuse')
})

async function act(accounts: Accounts, wanted: v.InferOutput<typeof Options>): Promise<void> {
  const { show, retry, remove, json, 'retry-dead': retryDead } = wanted
  if (retry !== undefined) {
    report(`Queued ${await retryOne(accounts, retry)}; a running server delivers it`)
  } else if (remove !== undefined) {
    report(`Removed ${await removeOne(accounts, remove)}`)
  } else if (retryDead) {
    report(`Queued ${await retryAllDead(accounts)}; a running server delivers them`)
  } else if (json) {
    process.stdout.write(await inquiryJson(accounts, show))
  } else if (show !== undefined) {
    process.stdout.write(await inquiryText(accounts, show))
  } else {
    process.stdout.write(await inquiryTable(accounts))
  }
}
