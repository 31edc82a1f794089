/** What a {@link Latch} may learn from. */
export interface LatchTarget {
  readonly address: string
  readonly port: number
  /** Further addresses; see `FarEnd.learnFrom`. */
  readonly learnFrom?: readonly string[]
}

/**
 * Strict source learning of one socket. Before it is latched, a source agrees when its IP address is the one that the SDP named (or
 * one that the caller vouches for); its port may differ, as network address translators change it. The first packet that agrees
 * fixes the source; from then on everybody else is refused until {@link aim} is called again. A packet from a stranger can
 * therefore neither bring audio in nor take audio away.
 */
export class Latch {
  #target: LatchTarget | undefined
  #anyPort: boolean
  #latched = false
  /** Where packets go: the learnt source, or what the SDP said until there is one. */
  address = ''
  port = 0

  /** With `anyPort` false the port must agree as well: for far ends on the same host. */
  constructor(anyPort: boolean) {
    this.#anyPort = anyPort
  }

  get latched(): boolean {
    return this.#latched
  }

  /**
   * Sets a target and permits one learning. While the target stays as it was, packets keep going to the source learnt before, so
   * that a session refresh does not cut off a far end behind a translator.
   */
  aim(target: LatchTarget): void {
    const same = this.#target?.address === target.address && this.#target.port === target.port
    this.#target = target
    this.#latched = false
    if (same) return
    this.address = target.address
    this.port = target.port
  }

  /** Whether a packet from there is acceptable now. Does not learn. */
  agrees(address: string, port: number): boolean {
    if (this.#latched) return port === this.port && address === this.address
    const target = this.#target
    if (!target) return false
    if (address === target.address) return this.#anyPort || port === target.port
    return target.learnFrom?.includes(address) === true
  }

  /** Fixes the source; the caller has checked {@link agrees} and the packet itself. True when it was learnt just now. */
  learn(address: string, port: number): boolean {
    if (this.#latched) return false
    this.#latched = true
    this.address = address
    this.port = port
    return true
  }
}
