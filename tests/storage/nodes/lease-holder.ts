import { openPgStorage } from '../../../lib/storage/open-pg-storage.ts'
import { openTestPool } from '../../support/database/postgres-server.ts'

/* A node that holds the lease `work` until it is killed: `node lease-holder.ts URL`. */
const pool = openTestPool(process.argv[2] ?? '')
const { leases } = await openPgStorage({ pool, version: 'test', now: Date.now, onError: () => {} })
await leases.runAlone('work', async () => {
  process.stdout.write('begun\n')
  await new Promise((resolve) => setInterval(resolve, 2 ** 30))
})
