import { digestPages, type MovedRows, type Pages, type Row } from './rows.ts'
import type { MovedTable } from './tables.ts'
import { type MoveWatcher, naming } from './watcher.ts'

/** How to copy a table. */
export interface Copying {
  readonly table: MovedTable
  /** The rows, in the order of their key. */
  readonly rows: Pages
  readonly insert: (page: readonly Row[]) => unknown
  /** Reads back what was inserted, in the same order. Called once all rows are inserted. */
  readonly readCopy: () => Pages | Promise<Pages>
}

/** Copies the rows of a table, and compares the hash of the copy with that of the original. */
export function copyTable(options: Copying & MoveWatcher): Promise<MovedRows> {
  const { table, rows, insert, readCopy, onRows, onTable } = options
  return naming(table, async () => {
    let done = 0
    const original = await digestPages(rows, async (page) => {
      await insert(page)
      done += page.length
      onRows(table.name, done)
    })
    const copy = await digestPages(await readCopy())
    const moved = { table: table.name, ...original, ok: copy.sha256 === original.sha256 }
    onTable(moved)
    return moved
  })
}
