/**
 * A cell of CSV. Escapes texts that a spreadsheet would run as a formula (OWASP, CSV Injection),
 * because others choose the names of places and networks. Numbers are safe, even negative ones.
 */
export function csvCell(value: string | number | boolean | undefined): string {
  if (typeof value !== 'string') return String(value ?? '')
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
}
