import * as v from 'valibot'
import { commandText, usageText } from '../lib/parts/clone-or-package.ts'
import { type ConfiguredAccounts, withAccounts } from './parts/accounts.ts'
import { listMismatches, openBilling, repairMismatches, requireStripe } from './parts/billing.ts'
import { checkOptions, FLAG, readArguments } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('billing', '[options]')}
Lists where the database and Stripe disagree, and which prices users pay that the settings do not name.
  --json            list as JSON
  --repair          first repair what can be repaired: customers of the wrong user, outdated plans
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
    if (wanted.repair === true) {
      const account = wanted['accept-account'] === true ? 'accept' : 'keep'
      for (const line of await repairMismatches(billing, accounts, account)) report(line)
    }
    process.stdout.write(await listMismatches(billing, wanted.json === true ? 'json' : 'table'))
  }
  await withAccounts(commandText('billing'), act, 'refuse')
})
