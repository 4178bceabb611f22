import * as v from 'valibot'
import { acceptStripeAccount } from '../lib/billing/mirror/learn-account.ts'
import { commandText, usageText } from '../lib/parts/clone-or-package.ts'
import { audit, type ConfiguredAccounts, withAccounts } from './parts/accounts.ts'
import { findMismatches, mismatchText, openBilling, requireStripe } from './parts/billing.ts'
import { checkOptions, FLAG, readArguments } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('billing', '[options]')}
Lists where the database and Stripe disagree, and which prices users pay that the settings do not name.
  --json            list as JSON
  --repair          repair customers that belong to no user and outdated plans, as the server does hourly
  --accept-account  with --repair: Stripe's account or mode was changed on purpose; customers that
                    it does not know lose their plans`

const Flag = v.optional(v.literal(true))
const Options = v.pipe(
  v.strictObject({ json: Flag, repair: Flag, 'accept-account': Flag }),
  v.check(
    (options) => options['accept-account'] === undefined || options.repair === true,
    'cannot include --accept-account without --repair',
  ),
)

await run(async () => {
  const options = { json: FLAG, repair: FLAG, 'accept-account': FLAG }
  const { values } = readArguments({ options }, USAGE)
  const wanted = checkOptions(Options, { ...values }, USAGE)
  const act = async (accounts: ConfiguredAccounts) => {
    const { stripe } = accounts.config
    requireStripe(stripe)
    const billing = openBilling(accounts, stripe)
    if (wanted['accept-account'] === true) {
      const auditOf = (...about: [string, Parameters<typeof audit>[2]]) => audit(accounts, ...about)
      for (const customer of await acceptStripeAccount(billing, auditOf)) {
        report(`Released the customer ${customer}, which Stripe does not know`)
      }
    }
    const mode = wanted.repair === true ? 'repair' : 'compare'
    const found = await findMismatches(billing, accounts, mode)
    process.stdout.write(mismatchText(found, mode, wanted.json === true ? 'json' : 'table'))
  }
  await withAccounts(commandText('billing'), act, 'refuse')
})
