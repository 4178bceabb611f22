/** The near map is cut into squares of this size, in degrees. The first has its corner at 90° N, 180° W. */
export const TILE_DEGREES = 30
/** By how much tiles overlap on each side, so that no gap shows between two. */
export const TILE_OVERLAP = 0.1

export const TILE_COLUMNS = 360 / TILE_DEGREES
export const TILE_ROWS = 180 / TILE_DEGREES

/** Name of a tile, such as `6-1` for 0° to 30° E and 30° to 60° N. */
export function tileName(column: number, row: number): string {
  return `${column}-${row}`
}
