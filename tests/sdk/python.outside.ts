import { describe, it } from 'node:test'
import { runInClient, withClientService } from './parts/client-service.ts'

// run: alone

describe('the Python client', { timeout: 600_000 }, () => {
  const environment = withClientService()

  it('builds, installs and passes its tests', async () => {
    await runInClient('python', ['sh', 'test.sh'], environment())
  })
})
