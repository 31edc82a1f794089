import type { Clock, Timer } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import { createSrf, type SrfLike } from './srf.ts'

/** Where the SIP agent listens for us. */
export interface AgentAddress {
  readonly host: string
  readonly port: number
  readonly secret: string
  /** Our own agent, and not a drachtio-server. */
  readonly isEmbedded: boolean
}

/** What the two kinds of agents differ in. */
export interface Capabilities {
  /**
   * `Require: 100rel` may be put on a provisional response. A drachtio-server can crash of it: a caller that
   * sends no PRACK is enough.
   */
  readonly hasReliableProvisionals: boolean
  /**
   * Who runs session timers (RFC 4028). The embedded `agent` leaves them to us, and our own clock; a
   * drachtio-`server` runs its own as soon as it sees Session-Expires, so that ours stay off.
   */
  readonly sessionTimers: 'agent' | 'server'
  /**
   * A 100 is handed over too; a drachtio-server keeps it to itself, so that a slow far side looks like a
   * silent one.
   */
  readonly reportsTrying: boolean
  /**
   * It understands private headers of ours, and keeps them from the network; a drachtio-server would send
   * them.
   */
  readonly hasPrivateHeaders: boolean
  /**
   * A CANCEL that comes behind our 200 is answered with 200, and the call goes on (RFC 3261 section 9.2). A
   * drachtio-server answers 481; a caller that gives up then, without ACK and BYE, is hung up 32 s later.
   */
  readonly handlesLateCancel: boolean
  /** Longest message that may be handed over, in bytes with its leading line. */
  readonly maxFrameBytes: number
}

/** What an agent can do, by which of the two kinds it is. */
export const capabilitiesOf = ({ isEmbedded }: Pick<AgentAddress, 'isEmbedded'>): Capabilities =>
  isEmbedded
    ? {
        hasReliableProvisionals: true,
        sessionTimers: 'agent',
        reportsTrying: true,
        handlesLateCancel: true,
        hasPrivateHeaders: true,
        maxFrameBytes: 65_536,
      }
    : {
        hasReliableProvisionals: false,
        sessionTimers: 'server',
        reportsTrying: false,
        handlesLateCancel: false,
        hasPrivateHeaders: false,
        maxFrameBytes: 4_036,
      }

/** One connection to the agent. A leg belongs to the one it was made on: no dialog outlives it. */
export interface Connection {
  /** Goes to false for ever when the connection is lost. */
  readonly isAlive: boolean
}

/** What a link to the SIP agent needs. */
export interface AgentLinkOptions {
  readonly agent: AgentAddress
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** From the loss of a connection to the end of its legs; default 3 s. */
  readonly graceMs?: number
  /** Default drachtio-srf. */
  readonly srf?: SrfLike
}

/**
 * The connection to the SIP agent. drachtio-srf reconnects by itself; what was pending on a lost connection
 * never settles there, which is why {@link onLost} tells whose legs are to be ended.
 */
export class AgentLink {
  readonly srf: SrfLike
  readonly capabilities: Capabilities
  #options: AgentLinkOptions
  #connection: { isAlive: boolean } | undefined
  #hostports: readonly string[] = []
  #onLost: (connection: Connection) => void = () => {}
  #grace = new Set<Timer>()
  #opening: { resolve: () => void; reject: (error: Error) => void } | undefined
  #started = false
  #closed = false

  constructor(options: AgentLinkOptions) {
    this.#options = options
    this.srf = options.srf ?? createSrf()
    this.capabilities = capabilitiesOf(options.agent)
  }

  /** The present connection; undefined while there is none. */
  get connection(): Connection | undefined {
    return this.#connection
  }

  /** What the agent listens on, each `transport/address:port`; empty before the first connection. */
  get hostports(): readonly string[] {
    return this.#hostports
  }

  /** The one listener for a connection that was lost {@link AgentLinkOptions.graceMs} ago. */
  onLost(listener: (connection: Connection) => void): void {
    this.#onLost = listener
  }

  /**
   * Connects. Rejects with `control_lost` when the secret is wrong, or nothing accepts us within `timeoutMs`
   * (default 10 s).
   */
  async connect(timeoutMs = 10_000): Promise<void> {
    const { agent, clock } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#opening = { resolve, reject }
    const timer = clock.after(timeoutMs, () => reject(this.#failure('it does not answer')))
    this.#listen()
    const { host, port, secret } = agent
    this.srf.connect({ host, port, secret, ...(!agent.isEmbedded && { enablePing: true }) })
    try {
      await promise
    } catch (error) {
      this.close()
      throw error
    } finally {
      timer.cancel()
      this.#opening = undefined
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const timer of this.#grace) timer.cancel()
    this.#grace.clear()
    this.#stopReconnecting()
    if (this.#connection) {
      this.#connection.isAlive = false
      this.#connection = undefined
      try {
        this.srf.disconnect()
      } catch {
        // It was lost in this very moment: there is nothing to end.
      }
    }
  }

  #listen(): void {
    if (this.#started) return
    this.#started = true
    const { log, agent } = this.#options
    const where = `${agent.host}:${agent.port}`
    this.srf.on('connect', (error, hostports, version) => {
      if (error) this.#refused()
      else this.#connected(hostports ?? '', version)
    })
    this.srf.on('close', () => this.#lost())
    this.srf.on('error', (error) => {
      if (!this.#closed) log.warn({ agent: where, reason: error.message }, 'SIP agent: connection error')
    })
  }

  #connected(hostports: string, version: string | undefined): void {
    if (this.#closed) return
    const { log, agent } = this.#options
    this.#connection = { isAlive: true }
    this.#hostports = hostports.split(',').filter((entry) => entry !== '')
    log.info(
      { agent: `${agent.host}:${agent.port}`, listens: this.#hostports, version },
      'SIP agent: connected',
    )
    this.#opening?.resolve()
  }

  #refused(): void {
    this.#options.log.error({ code: 'control_lost' }, 'SIP agent: it refuses our secret')
    this.#opening?.reject(this.#failure('it refuses our secret'))
  }

  #lost(): void {
    const connection = this.#connection
    // A failed attempt to reconnect closes a socket, too.
    if (!connection || this.#closed) return
    const { clock, log, graceMs = 3_000 } = this.#options
    connection.isAlive = false
    this.#connection = undefined
    log.error({ code: 'control_lost', graceMs }, 'SIP agent: connection lost')
    const timer = clock.after(graceMs, () => {
      this.#grace.delete(timer)
      this.#onLost(connection)
    })
    this.#grace.add(timer)
  }

  #stopReconnecting(): void {
    const wire = this.srf.app?.client?.wp
    if (!wire) return
    wire.closing = true
    clearTimeout(wire.reconnectVars?.retryTimer ?? undefined)
  }

  #failure(why: string): TrunklineError {
    const { host, port } = this.#options.agent
    return new TrunklineError('control_lost', `No SIP agent at ${host}:${port}: ${why}.`, { host, port })
  }
}
