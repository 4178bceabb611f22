import { meetParent } from '../lib/parts/process/parent-process.ts'
import { reasonOf } from '../lib/parts/reason.ts'

/** A further process of a server on PostgreSQL: see lib/parts/process/node-processes.ts. */
async function serve(): Promise<void> {
  const parent = await meetParent()
  try {
    // Only now, since loading it takes a second.
    const { start } = await import('./start.ts')
    await start(parent)
  } catch (error) {
    parent.fail(reasonOf(error))
  }
}

if (process.send !== undefined) await serve()
