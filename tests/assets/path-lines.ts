export type Point = readonly [x: number, y: number]

/** The lines of path data, of which each has one absolute point and then relative ones. */
export function linesIn(data: string, unitsPerDegree: number): Point[][] {
  return data
    .split('M')
    .slice(1)
    .map((line) => {
      const numbers = (line.match(/-?\d+/g) ?? []).map(Number)
      let [x, y] = [0, 0]
      return Array.from({ length: numbers.length / 2 }, (_, at): Point => {
        x += numbers[2 * at] ?? 0
        y += numbers[2 * at + 1] ?? 0
        return [x / unitsPerDegree, y / unitsPerDegree]
      })
    })
}

/** Whether a ray to the east crosses the closed lines an odd number of times. */
export function isInside(lines: readonly Point[][], longitude: number, latitude: number): boolean {
  const crossings = lines.flatMap((line) =>
    line.filter(([x, y], at) => {
      const [toX, toY] = line[(at + 1) % line.length] ?? [x, y]
      if (y > -latitude === toY > -latitude) return false
      return longitude < x + ((-latitude - y) / (toY - y)) * (toX - x)
    }),
  )
  return crossings.length % 2 === 1
}
