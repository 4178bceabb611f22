/** A call as it came, for whoever wants to replay it. */
export interface ApiCall {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly status: number
}
