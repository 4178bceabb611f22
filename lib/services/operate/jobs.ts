import * as v from 'valibot'
import type { Billing } from '../../billing/billing.ts'
import type { NamedFinding } from '../../doctor/finding.ts'
import type { RunScript } from '../../parts/process/run-script.ts'
import type { Foundation } from '../foundation.ts'
import { createComparison } from './comparison.ts'
import { createJob } from './job.ts'

const Findings: v.GenericSchema<unknown, NamedFinding[]> = v.array(
  v.variant('state', [
    v.object({ check: v.string(), state: v.literal('ok'), text: v.string() }),
    v.object({
      check: v.string(),
      state: v.picklist(['warning', 'wrong']),
      text: v.string(),
      advice: v.string(),
    }),
  ]),
)

/** The jobs that operators start on their pages. Without `runScript`, those that need another process fail. */
export function openOperatorJobs(
  { log, now }: Pick<Foundation, 'log' | 'now'>,
  billing: Billing,
  runScript: RunScript = refuse,
) {
  const runLogged: RunScript = async (name, ...args) => {
    try {
      return await runScript(name, ...args)
    } catch (error) {
      log.error({ err: error, command: name }, 'a command that an operator started has failed')
      throw error
    }
  }
  return {
    /** Runs the checks of `npm run doctor` in another process: they may take seconds. */
    doctor: createJob(
      async () => v.parse(Findings, JSON.parse(await runLogged('doctor', '--json'))),
      now,
    ),
    /** Makes an archive in the backup folder, as `npm run backup` does. Returns its path. */
    backup: createJob(async () => (await runLogged('backup')).trim(), now),
    comparison: createComparison(billing, log, now),
  }
}

async function refuse(): Promise<never> {
  throw new Error('This server starts no other processes')
}
