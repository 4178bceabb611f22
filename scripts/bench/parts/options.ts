/** Options that every benchmark receives. */
export interface BenchOptions {
  readonly rounds: number
  readonly seconds: number
  readonly minutes: number
  /** A file for the plot; undefined: none is drawn. */
  readonly plot: string | undefined
  /** The folder whose node_modules contains the package maxmind. */
  readonly maxmindFolder: string
  /** The folder of the prepared databases. */
  readonly geoFolder: string
}
