/** Options that every benchmark receives. */
export interface BenchOptions {
  readonly rounds: number
  readonly seconds: number
  readonly minutes: number
  /** Requests a second of the soak; undefined: half of what the server can answer. */
  readonly rate?: number | undefined
  /** A file for the plot; undefined: none is drawn. */
  readonly plot: string | undefined
  /** The folder whose node_modules contains the package maxmind. */
  readonly maxmindFolder: string
  /** The folder of the prepared databases. */
  readonly geoFolder: string
}
