import type { Edge } from '../../../media/types.ts'

/** Current load of the gateway. */
export class GatewayLoad {
  /** New calls are refused; default false. */
  isDraining = false
  readonly #edge: Pick<Edge, 'usage'>
  readonly #counts: { readonly count: number }
  readonly #busyPercent: () => number

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
