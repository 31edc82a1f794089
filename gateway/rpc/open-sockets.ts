import type { WebSocketLimits } from '../../config/types.ts'
import type { Clock } from '../core/clock.ts'
import type { Code } from '../core/errors/catalogue.ts'
import { FixedWindowLimiter } from '../core/rates.ts'

/** What is bounded of connections before anybody knows who connects. */
export interface SocketLimits extends Pick<WebSocketLimits, 'connections' | 'waiting' | 'waitingPerAddress'> {
  /** Of one network address, at once. */
  readonly perAddress: number
  /** Of one network address, within a minute. */
  readonly perAddressMinute: number
}

/** Why a connection is refused. */
export interface SocketRejection {
  readonly code: Extract<Code, 'over_connection_limit' | 'too_many_requests'>
  /** The limit that is reached, by its name, and its value. */
  readonly reached: keyof SocketLimits
  readonly limit: number
}

interface Network {
  open: number
  waiting: number
}

/** A connection that is counted. Both methods are idempotent. */
export interface CountedSocket {
  /** It waits no longer for who it is. */
  signedIn(): void
  closed(): void
}

/** Counts open connections, by network address, and those that have not signed in. */
export class OpenSockets {
  #limits: SocketLimits
  readonly #arrivals: FixedWindowLimiter
  /** Those that have connections open. */
  readonly #networks = new Map<string, Network>()
  #open = 0
  #waiting = 0

  constructor(clock: Pick<Clock, 'now'>, limits: SocketLimits) {
    this.#limits = limits
    this.#arrivals = new FixedWindowLimiter(clock, { attempts: limits.perAddressMinute, windowMs: 60_000 })
  }

  /** Counts against these limits from now on; connections that are open stay. */
  change(limits: SocketLimits): void {
    this.#limits = limits
    this.#arrivals.change(limits.perAddressMinute)
  }

  /** Network addresses that have connections open. */
  get networks(): number {
    return this.#networks.size
  }

  /** Connections that have not signed in. */
  get waiting(): number {
    return this.#waiting
  }

  /** Why no further connection of a network is taken; undefined where one may be. Counts it in its minute. */
  refusal(network: string): SocketRejection | undefined {
    const { connections, waiting, waitingPerAddress, perAddress, perAddressMinute } = this.#limits
    const of = this.#networks.get(network) ?? { open: 0, waiting: 0 }
    const code = 'over_connection_limit'
    if (this.#open >= connections) return { code, reached: 'connections', limit: connections }
    if (of.open >= perAddress) return { code, reached: 'perAddress', limit: perAddress }
    // A network that has none of them is not kept out by others that have many.
    if (this.#waiting >= waiting && of.waiting > 0) return { code, reached: 'waiting', limit: waiting }
    if (of.waiting >= waitingPerAddress)
      return { code, reached: 'waitingPerAddress', limit: waitingPerAddress }
    if (this.#arrivals.take(network) > 0)
      return { code: 'too_many_requests', reached: 'perAddressMinute', limit: perAddressMinute }
    return undefined
  }

  /** One more of a network. */
  add(network: string): CountedSocket {
    const of = this.#networks.get(network) ?? { open: 0, waiting: 0 }
    this.#networks.set(network, of)
    let [open, waiting] = [true, true]
    this.#open++
    this.#waiting++
    of.open++
    of.waiting++
    const signedIn = () => {
      if (!waiting) return
      waiting = false
      this.#waiting--
      of.waiting--
    }
    const closed = () => {
      if (!open) return
      signedIn()
      open = false
      this.#open--
      of.open--
      if (of.open === 0) this.#networks.delete(network)
    }
    return { signedIn, closed }
  }
}
