import { describe, it } from 'node:test'
import { runInClient, withClientService } from './parts/client-service.ts'

// run: alone

describe('the Go client', { timeout: 600_000 }, () => {
  const environment = withClientService()

  it('is used by another module and passes its tests', async () => {
    await runInClient('go', ['sh', 'test.sh'], environment())
  })
})
