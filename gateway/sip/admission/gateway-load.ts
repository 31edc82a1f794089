import type { Edge } from '../../../media/types.ts'

/** Current load of the gateway. */
export class GatewayLoad {
  readonly #edge: Pick<Edge, 'usage'>
  readonly #counts: { readonly count: number }
  readonly #busyPercent: () => number
  #isDraining = false

  /**
   * `counts`: calls in progress, of every kind. `busyPercent`: per cent of the last second that the gateway
   * was busy; default 0.
   */
  constructor(
    edge: Pick<Edge, 'usage'>,
    counts: { readonly count: number },
    busyPercent: () => number = () => 0,
  ) {
    this.#edge = edge
    this.#counts = counts
    this.#busyPercent = busyPercent
  }

  /** Whether new calls are rejected, because the gateway shuts down. */
  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Rejects new calls from now on. */
  drain(): void {
    this.#isDraining = true
  }

  /** Per cent of the last second that the gateway was busy. */
  get busyPercent(): number {
    return this.#busyPercent()
  }

  /** Calls in progress. */
  get calls(): number {
    return this.#counts.count
  }

  /** Carrier media ports. */
  get ports(): { readonly used: number; readonly total: number } {
    return this.#edge.usage()
  }
}
