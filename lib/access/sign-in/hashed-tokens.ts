import type { DBAdapter, Where } from 'better-auth'
import { hashToken } from '../session-token.ts'

/**
 * Stores session tokens as hashes. better-auth would store the tokens themselves, so that a copy of
 * the database would be enough to sign in. A row found by its token is returned with that token.
 */
export function hashTokens(adapter: DBAdapter): DBAdapter {
  const hashed: DBAdapter = {
    ...adapter,
    create: async (args) => {
      const token = tokenOf(args.model, args.data)
      if (token === undefined) return adapter.create(args)
      const data = { ...args.data, token: hashToken(token) }
      return showToken(await adapter.create({ ...args, data }), token)
    },
    findOne: async (args) => showToken(await adapter.findOne(hashWhere(args)), queriedToken(args)),
    findMany: (args) => adapter.findMany(hashWhere(args)),
    count: (args) => adapter.count(hashWhere(args)),
    update: async (args) => showToken(await adapter.update(hashWhere(args)), queriedToken(args)),
    updateMany: (args) => adapter.updateMany(hashWhere(args)),
    delete: (args) => adapter.delete(hashWhere(args)),
    deleteMany: (args) => adapter.deleteMany(hashWhere(args)),
    // Not a real transaction: the statements of better-auth are committed one by one.
    transaction: (work) => work(hashed),
  }
  return hashed
}

interface Query {
  readonly model: string
  readonly where?: Where[] | undefined
}

function tokenOf(model: string, data: object): string | undefined {
  const isToken = model === 'session' && 'token' in data && typeof data.token === 'string'
  return isToken ? String(data.token) : undefined
}

function isTokenOf(model: string, { field }: Where): boolean {
  return model === 'session' && field === 'token'
}

function hashWhere<Args extends Query>(args: Args): Args {
  if (args.where === undefined) return args
  const where = args.where.map((part) =>
    isTokenOf(args.model, part) ? { ...part, value: hashValue(part.value) } : part,
  )
  return { ...args, where }
}

function hashValue(value: Where['value']): Where['value'] {
  if (Array.isArray(value)) return value.map((token) => hashToken(String(token)))
  return hashToken(String(value))
}

function queriedToken({ model, where = [] }: Query): string | undefined {
  const value = where.find((part) => isTokenOf(model, part))?.value
  return typeof value === 'string' ? value : undefined
}

function showToken<Row>(row: Row, token: string | undefined): Row {
  return row === null || token === undefined ? row : { ...row, token }
}
