import type { SteadyClock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Headers, SrfLike } from '../srf.ts'
import type { Binding } from './bindings.ts'
import { nextHopOf, type Registrations } from './registrations.ts'

/** Collaborators and settings of {@link KeepAlive}. */
export interface KeepAliveDeps {
  readonly registrations: Pick<Registrations, 'all'>
  readonly srf: Pick<SrfLike, 'request'>
  /** False while the agent is not there. */
  readonly isConnected: () => boolean
  /** Time between two requests to the same contact, in ms. */
  readonly intervalMs: number
  readonly clock: SteadyClock
  readonly log: Pick<Log, 'debug'>
  readonly userAgent: string
}

/** Between two parts of a round. */
const stepMs = 1_000

/**
 * Sends OPTIONS to every UDP contact behind a NAT in turn, so that the NAT lets calls in. Few phones keep it
 * open by themselves (RFC 5626 section 4.4.2 leaves it to them). Connections need no keep-alive. Answers do
 * not matter: a lost phone's registration expires.
 */
export class KeepAlive {
  readonly #deps: KeepAliveDeps
  #round: Binding[] = []
  #share = 0
  #nextRound = 0
  #timer: Timer | undefined

  constructor(deps: KeepAliveDeps) {
    this.#deps = deps
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
    this.#timer = this.#deps.clock.after(stepMs, () => {
      this.#wait()
      this.#step()
    })
  }

  /** A share of the round, so that many phones are no burst. */
  #step(): void {
    const { registrations, intervalMs, isConnected, clock } = this.#deps
    if (!isConnected()) return
    if (this.#round.length === 0 && clock.uptime() >= this.#nextRound) {
      this.#nextRound = clock.uptime() + intervalMs
      this.#round = [...registrations.all()].filter(isBehindNat)
      this.#share = Math.ceil((this.#round.length * stepMs) / intervalMs)
    }
    for (const binding of this.#round.splice(0, this.#share)) this.#ping(binding)
  }

  #ping({ uri, source }: Binding): void {
    const { srf, log, userAgent } = this.#deps
    const headers: Headers = userAgent === '' ? {} : { 'User-Agent': userAgent }
    try {
      srf.request(uri.bare, { method: 'OPTIONS', headers, proxy: nextHopOf(source) }, (error) => {
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
