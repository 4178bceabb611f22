/** What may contain semicolons, or a semicolon. */
const PARTS = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|;/g

/**
 * Splits SQL at the semicolons between its statements. Citus sends the whole text to its workers, which
 * accept one statement at a time.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = []
  let start = 0
  for (const { 0: part, index } of sql.matchAll(PARTS)) {
    if (part !== ';') continue
    statements.push(sql.slice(start, index))
    start = index + 1
  }
  return [...statements, sql.slice(start)].map((text) => text.trim()).filter(isStatement)
}

/** Whether the text has more than comments. */
function isStatement(text: string): boolean {
  return text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== ''
}
