export const COUNT = new Intl.NumberFormat('en')

export function rowsOf(count: number): string {
  return `${COUNT.format(count)} ${count === 1 ? 'row' : 'rows'}`
}

/** An element of the page. */
export function part<T extends HTMLElement>(id: string): T {
  // safe: pages/dashboard/batch.tsx has all that the script asks for
  return document.getElementById(id) as T
}
