import { mintKey } from '../../lib/access/api-key.ts'
import type { SqliteDb } from '../../lib/db/open.ts'

const KEYS_PER_USER = 5

/** Adds `count` secret keys, five per user. Returns their texts. */
export function fillKeys({ $client }: SqliteDb, count: number): string[] {
  const addUser = $client.prepare(
    'INSERT INTO users (id, email, plan, created_at) VALUES (?, ?, ?, 0)',
  )
  const addKey = $client.prepare(
    `INSERT INTO api_keys (id, user_id, hash, prefix, name, type, created_at)
     VALUES (?, ?, ?, ?, 'bench', 'secret', 0)`,
  )
  let user = ''
  const add = (_: unknown, n: number): string => {
    if (n % KEYS_PER_USER === 0) {
      user = crypto.randomUUID()
      addUser.run(user, `${user}@example.com`, 'free')
    }
    const { text, id, hash, prefix } = mintKey('secret')
    addKey.run(id, user, hash, prefix)
    return text
  }
  return $client.transaction(() => Array.from({ length: count }, add))()
}
