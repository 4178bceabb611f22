import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach } from 'node:test'
import { processFolder } from '../temp-folder.ts'
import { makeTestDatabase } from './test-database.ts'

/**
 * Returns a function that opens an empty database of the chosen kind, for the tests of a store, with two
 * connections to it. Both are closed after the test.
 */
export function storeOfTest() {
  const folder = processFolder()
  let closing = new AsyncDisposableStack()
  afterEach(async () => {
    await closing.disposeAsync()
    closing = new AsyncDisposableStack()
  })
  return async () => {
    const database = await makeTestDatabase(mkdtempSync(join(folder, 'store-')))
    closing.defer(database.release)
    const [one, other] = [database.connect(), database.connect()]
    closing.defer(one.close)
    closing.defer(other.close)
    return { db: one.db, other: other.db }
  }
}
