/** A statement in PostgreSQL's SQL. */
export interface Translated {
  readonly text: string
  readonly isWrite: boolean
}

const WRITE = /^\s*(insert|update|delete)\b/i
/** Texts and quoted names, which stay as they are, and what PostgreSQL spells differently. */
const PARTS = /'[^']*'|"[^"]*"(\.)?|\?|\bINDEXED BY "[^"]*"|\binstr\(|\bon conflict \(([^)]*)\)/gi

/**
 * Translates a statement of the stores, which drizzle writes in SQLite's SQL. They use only what both
 * databases have, except for the few words below.
 */
export function translate(sql: string): Translated {
  let params = 0
  const text = sql.replace(PARTS, (part, _dot, target?: string) => {
    if (part === '?') {
      params += 1
      return `$${params}`
    }
    // drizzle names the table of each column, which PostgreSQL does not permit here.
    if (target !== undefined) return `on conflict (${target.replaceAll(/"[^"]*"\./g, '')})`
    // A hint for SQLite's planner.
    if (/^indexed/i.test(part)) return ''
    return /^instr/i.test(part) ? 'strpos(' : part
  })
  return { text, isWrite: WRITE.test(sql) }
}
