import type { SteadyClock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { AgentLink } from '../agent-link.ts'
import type { GatewayHeaders } from '../gateway-headers.ts'
import type { Binding } from './bindings.ts'
import { nextHopOf, type Registrations } from './registrations.ts'

/** Options of {@link KeepAlive}. */
export interface KeepAliveOptions {
  readonly clock: SteadyClock
  readonly log: Pick<Log, 'debug'>
  readonly headers: GatewayHeaders
  /** Returns the time between two requests to the same contact, in ms. */
  readonly intervalMs: () => number
}

/** Time between two parts of a round, in ms. */
const stepMs = 1_000

/**
 * Sends OPTIONS to every UDP contact behind a NAT in turn, so that the NAT keeps its mapping and calls can
 * reach the phone. RFC 5626 section 4.4.2 leaves this to the phones, but few send keep-alives. Connections
 * need none. The responses are ignored: the registration of a lost phone expires.
 */
export class KeepAlive {
  readonly #registrations: Pick<Registrations, 'all'>
  readonly #link: Pick<AgentLink, 'srf' | 'connection'>
  readonly #options: KeepAliveOptions
  #round: Binding[] = []
  #share = 0
  #nextRound = 0
  #timer: Timer | undefined

  constructor(
    registrations: Pick<Registrations, 'all'>,
    link: Pick<AgentLink, 'srf' | 'connection'>,
    options: KeepAliveOptions,
  ) {
    this.#registrations = registrations
    this.#link = link
    this.#options = options
  }

  /** Starts; {@link close} stops. */
  start(): void {
    this.#wait()
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #wait(): void {
    this.#timer = this.#options.clock.after(stepMs, () => {
      this.#wait()
      this.#step()
    })
  }

  /** Sends a share of the round's requests, so that many phones do not cause a burst. */
  #step(): void {
    const { clock } = this.#options
    if (!this.#link.connection) return
    const intervalMs = this.#options.intervalMs()
    if (this.#round.length === 0 && clock.uptime() >= this.#nextRound) {
      this.#nextRound = clock.uptime() + intervalMs
      this.#round = [...this.#registrations.all()].filter(isBehindNat)
      this.#share = Math.ceil((this.#round.length * stepMs) / intervalMs)
    }
    for (const binding of this.#round.splice(0, this.#share)) this.#ping(binding)
  }

  #ping({ uri, source }: Binding): void {
    const { log, headers } = this.#options
    try {
      const options = { method: 'OPTIONS', headers: headers.request, proxy: nextHopOf(source) }
      this.#link.srf.request(uri.bare, options, (error) => {
        if (error) log.debug({ reason: String(error) }, 'keep-alive not sent')
      })
    } catch (error) {
      log.debug({ reason: String(error) }, 'keep-alive not sent')
    }
  }
}

/** Whether the contact names another address than the source of the REGISTER. */
const isBehindNat = ({ uri, source }: Binding): boolean =>
  source.transport === 'udp' && (uri.host !== source.address || (uri.port ?? 5060) !== source.port)
