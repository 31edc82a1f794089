import type { Clock, Timer } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import { createSrf, type SrfLike } from './srf.ts'

/** Address and secret of the SIP agent. */
export interface AgentAddress {
  readonly host: string
  readonly port: number
  readonly secret: string
  /** The agent is the embedded one, not a drachtio-server. */
  readonly isEmbedded: boolean
}

/** Differences between the two kinds of agents. */
export interface Capabilities {
  /**
   * Provisional responses may have `Require: 100rel`. A drachtio-server can crash if the caller then sends no
   * PRACK.
   */
  readonly hasReliableProvisionals: boolean
  /**
   * Owner of session timers (RFC 4028). The embedded `agent` leaves them to the gateway and its clock. A
   * drachtio-`server` runs its own as soon as it sees Session-Expires, so the gateway's timers stay off.
   */
  readonly sessionTimers: 'agent' | 'server'
  /**
   * The agent also delivers a 100. A drachtio-server does not, so a slow peer cannot be distinguished from a
   * silent one.
   */
  readonly reportsTrying: boolean
  /**
   * The agent understands the gateway's private headers and removes them from messages. A drachtio-server
   * would send them to the network.
   */
  readonly hasPrivateHeaders: boolean
  /**
   * The agent answers a CANCEL after a 200 with 200, and the call goes on (RFC 3261 section 9.2). A
   * drachtio-server answers 481. A caller that then gives up without ACK and BYE is hung up 32 s later.
   */
  readonly handlesLateCancel: boolean
  /** Maximum size of a message to the agent, in bytes, including the leading line of its frame. */
  readonly maxFrameBytes: number
}

/** Returns the capabilities of one of the two kinds of agents. */
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

/** One connection to the agent. A leg belongs to the connection on which it was made, and ends with it. */
export interface Connection {
  /** Becomes false, and stays so, when the connection is lost. */
  readonly isAlive: boolean
}

/** Options of {@link AgentLink}. */
export interface AgentLinkOptions {
  readonly agent: AgentAddress
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Time in ms from the loss of a connection to the end of its legs; default 3 s. */
  readonly graceMs?: number
  /** Default drachtio-srf. */
  readonly srf?: SrfLike
}

/**
 * Connection to the SIP agent. drachtio-srf reconnects by itself, but never settles requests that were
 * pending on a lost connection. So {@link onLost} reports each lost connection, and its legs must be ended
 * then.
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
  #isStarted = false
  #isClosed = false

  constructor(options: AgentLinkOptions) {
    this.#options = options
    this.srf = options.srf ?? createSrf()
    this.capabilities = capabilitiesOf(options.agent)
  }

  /** Whether the agent is the embedded one, not a drachtio-server. */
  get isEmbedded(): boolean {
    return this.#options.agent.isEmbedded
  }

  /** Current connection; undefined while disconnected. */
  get connection(): Connection | undefined {
    return this.#connection
  }

  /** Sockets that the agent listens on, each `transport/address:port`; empty before the first connection. */
  get hostports(): readonly string[] {
    return this.#hostports
  }

  /**
   * Sets the one listener for a lost connection, which is called {@link AgentLinkOptions.graceMs} after the
   * loss.
   */
  onLost(listener: (connection: Connection) => void): void {
    this.#onLost = listener
  }

  /**
   * Connects. Rejects with `control_lost` when the secret is wrong, or when no agent accepts the connection
   * within `timeoutMs` (default 10 s).
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
    if (this.#isClosed) return
    this.#isClosed = true
    for (const timer of this.#grace) timer.cancel()
    this.#grace.clear()
    this.#stopReconnecting()
    if (this.#connection) {
      this.#connection.isAlive = false
      this.#connection = undefined
      try {
        this.srf.disconnect()
      } catch {
        // The connection was lost at this moment: there is nothing to close.
      }
    }
  }

  #listen(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const { log, agent } = this.#options
    const where = `${agent.host}:${agent.port}`
    this.srf.on('connect', (error, hostports, version) => {
      if (error) this.#refused()
      else this.#connected(hostports ?? '', version)
    })
    this.srf.on('close', () => this.#lost())
    this.srf.on('error', (error) => {
      if (!this.#isClosed)
        log.warn(
          { event: 'sip-agent.connection-failed', agent: where, reason: error.message },
          'SIP agent: connection error',
        )
    })
  }

  #connected(hostports: string, version: string | undefined): void {
    if (this.#isClosed) return
    const { log, agent } = this.#options
    this.#connection = { isAlive: true }
    this.#hostports = hostports.split(',').filter((entry) => entry !== '')
    log.info(
      {
        event: 'sip-agent.connected',
        agent: `${agent.host}:${agent.port}`,
        listens: this.#hostports,
        version,
      },
      'SIP agent: connected',
    )
    this.#opening?.resolve()
  }

  #refused(): void {
    this.#options.log.error(
      { event: 'sip-agent.secret-rejected', code: 'control_lost' },
      'SIP agent: secret rejected',
    )
    this.#opening?.reject(this.#failure('it rejects the secret'))
  }

  #lost(): void {
    const connection = this.#connection
    // A failed attempt to reconnect also closes a socket.
    if (!connection || this.#isClosed) return
    const { clock, log, graceMs = 3_000 } = this.#options
    connection.isAlive = false
    this.#connection = undefined
    log.error(
      { event: 'sip-agent.connection-lost', code: 'control_lost', graceMs },
      'SIP agent: connection lost',
    )
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
