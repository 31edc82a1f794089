import type { WebSocketLimits } from '../../config/types.ts'
import type { Clock } from '../core/clock.ts'
import type { Code } from '../core/errors/catalogue.ts'
import { FixedWindowLimiter } from '../core/rates.ts'

/** Limits of connections that apply before the client is authenticated. */
export interface SocketLimits extends Pick<WebSocketLimits, 'connections' | 'waiting' | 'waitingPerAddress'> {
  /** Maximum number of concurrent connections per network. */
  readonly perAddress: number
  /** Maximum number of new connections per network and minute. */
  readonly perAddressMinute: number
}

/** Reason for rejecting a connection. */
export interface SocketRejection {
  readonly code: Extract<Code, 'over_connection_limit' | 'too_many_requests'>
  /** Name of the limit that was reached. */
  readonly reached: keyof SocketLimits
  /** Value of that limit. */
  readonly limit: number
}

interface Network {
  open: number
  waiting: number
}

/** Counted connection. Both methods are idempotent. */
export interface CountedSocket {
  /** Stops counting the connection as unauthenticated. */
  signedIn(): void
  closed(): void
}

/** Counts open and unauthenticated connections by network. */
export class OpenSockets {
  #limits: SocketLimits
  readonly #arrivals: FixedWindowLimiter
  /** Networks with open connections. */
  readonly #networks = new Map<string, Network>()
  #open = 0
  #waiting = 0

  constructor(clock: Pick<Clock, 'now'>, limits: SocketLimits) {
    this.#limits = limits
    this.#arrivals = new FixedWindowLimiter(clock, { attempts: limits.perAddressMinute, windowMs: 60_000 })
  }

  /** Changes the limits; open connections stay. */
  change(limits: SocketLimits): void {
    this.#limits = limits
    this.#arrivals.change(limits.perAddressMinute)
  }

  /** Number of networks with open connections. */
  get networks(): number {
    return this.#networks.size
  }

  /** Number of connections that have not signed in. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Returns the reason for rejecting a new connection of a network, or undefined to accept it. Counts the
   * attempt.
   */
  refusal(network: string): SocketRejection | undefined {
    const { connections, waiting, waitingPerAddress, perAddress, perAddressMinute } = this.#limits
    const counts = this.#networks.get(network) ?? { open: 0, waiting: 0 }
    const code = 'over_connection_limit'
    if (this.#open >= connections) return { code, reached: 'connections', limit: connections }
    if (counts.open >= perAddress) return { code, reached: 'perAddress', limit: perAddress }
    // A network with no unauthenticated connection is accepted even if other networks have too many.
    if (this.#waiting >= waiting && counts.waiting > 0) return { code, reached: 'waiting', limit: waiting }
    if (counts.waiting >= waitingPerAddress)
      return { code, reached: 'waitingPerAddress', limit: waitingPerAddress }
    if (this.#arrivals.take(network) > 0)
      return { code: 'too_many_requests', reached: 'perAddressMinute', limit: perAddressMinute }
    return undefined
  }

  /** Counts a new connection of a network. */
  add(network: string): CountedSocket {
    const counts = this.#networks.get(network) ?? { open: 0, waiting: 0 }
    this.#networks.set(network, counts)
    let isOpen = true
    let isWaiting = true
    this.#open++
    this.#waiting++
    counts.open++
    counts.waiting++
    const signedIn = () => {
      if (!isWaiting) return
      isWaiting = false
      this.#waiting--
      counts.waiting--
    }
    const closed = () => {
      if (!isOpen) return
      signedIn()
      isOpen = false
      this.#open--
      counts.open--
      if (counts.open === 0) this.#networks.delete(network)
    }
    return { signedIn, closed }
  }
}
