import { ClientError } from './errors.ts'
import { type Frame, type Json, record, text } from './frames.ts'
import type { SessionOwner } from './session-owner.ts'

const reauthFailed = '-32002'
const unknownSession = 'Requester validation failed'

/** Outcome of a handshake. */
export type HandshakeOutcome =
  /** `fresh`: the server knows no earlier connection. `lost`: the client had one. */
  | {
      readonly kind: 'welcome'
      readonly fresh: boolean
      readonly lost: boolean
      readonly expiresAt: number | undefined
    }
  /** The server has dropped the session: the next handshake must start a new one. */
  | { readonly kind: 'forgotten' }
  /** The token was rejected; `again`: for the second time in a row. */
  | { readonly kind: 'token'; readonly error: ClientError; readonly again: boolean }
  /** The token is valid for another project. */
  | { readonly kind: 'wrong-project'; readonly error: ClientError }
  | { readonly kind: 'refused'; readonly error: ClientError }

/** Handshake of a session with the server. It outlives connections. */
export class Handshake {
  readonly #owner: Pick<SessionOwner, 'project' | 'contexts' | 'token'>
  #pending: { readonly id: string; readonly protocol: string | undefined } | undefined
  #protocol: string | undefined
  #authorizationState: string | undefined
  #project: string | undefined
  #iceServers: readonly RTCIceServer[] = []
  #renewed = false
  #forgotten = false

  constructor(owner: Pick<SessionOwner, 'project' | 'contexts' | 'token'>) {
    this.#owner = owner
  }

  /** Name that the server gave the session; undefined before the first connection. */
  get protocol(): string | undefined {
    return this.#protocol
  }

  /** Project of the token; undefined before the first connection. */
  get project(): string | undefined {
    return this.#project
  }

  get iceServers(): readonly RTCIceServer[] {
    return this.#iceServers
  }

  /** Continues the session of an earlier page. */
  resume(protocol: string): void {
    this.#protocol = protocol
  }

  /** Returns the first request of the handshake. */
  greeting(id: string): Json {
    this.#pending = { id, protocol: this.#protocol }
    const { contexts } = this.#owner
    const params = {
      version: { major: 4, minor: 0, revision: 0 },
      event_acks: true,
      agent: '@trunkline/client/0.1.0',
      authentication: { jwt_token: this.#owner.token() },
      ...(contexts && { contexts }),
      ...(this.#protocol && { protocol: this.#protocol }),
      ...(this.#protocol && this.#authorizationState && { authorization_state: this.#authorizationState }),
    }
    return { jsonrpc: '2.0', id, method: 'signalwire.connect', params }
  }

  /** Returns whether an id belongs to the first request. */
  isReply(id: string | number): boolean {
    return id === this.#pending?.id
  }

  /** Handles the loss of the connection during the handshake. */
  abandon(): void {
    this.#pending = undefined
  }

  /** Handles the reply. */
  take(frame: Exclude<Frame, { kind: 'request' }>): HandshakeOutcome {
    const presented = this.#pending?.protocol
    this.#pending = undefined
    if (frame.kind === 'failure') return this.#refused(frame.error, presented)
    const { project, protocol, iceServers, expiresAt } = welcomeOf(record(frame.result))
    const { project: wanted } = this.#owner
    if (wanted !== undefined && project !== wanted) {
      const message = `project: the token is of another project than ${wanted}.`
      return { kind: 'wrong-project', error: new ClientError('auth', message) }
    }
    const fresh = this.#forgotten || presented === undefined || protocol !== presented
    const lost = fresh && (this.#protocol !== undefined || this.#forgotten)
    this.#protocol = protocol
    this.#project = project
    this.#iceServers = iceServers ?? []
    this.#renewed = this.#forgotten = false
    return { kind: 'welcome', fresh, lost, expiresAt }
  }

  /** Stores the state to present in the next handshake. */
  authorized(state: string | undefined): void {
    this.#authorizationState = state
  }

  /** Handles the reply to a new token; returns the token's expiry. */
  reauthenticated(result: Json): number | undefined {
    const { iceServers, expiresAt } = welcomeOf(result)
    this.#iceServers = iceServers ?? this.#iceServers
    return expiresAt
  }

  /** Forgets the session: the next handshake starts a new one. */
  reset(): void {
    this.#pending = this.#protocol = this.#authorizationState = undefined
    this.#renewed = this.#forgotten = false
  }

  #refused(error: ClientError, presented: string | undefined): HandshakeOutcome {
    if (presented !== undefined && error.message === unknownSession) {
      this.#protocol = this.#authorizationState = undefined
      this.#forgotten = true
      return { kind: 'forgotten' }
    }
    if (error.serverCode !== reauthFailed) return { kind: 'refused', error }
    const again = this.#renewed
    this.#renewed = true
    const refused = new ClientError('auth', error.message, { serverCode: error.serverCode, cause: error })
    return { kind: 'token', error: refused, again }
  }
}

const welcomeOf = (result: Json) => {
  const authorization = record(result.authorization)
  const { ice_servers: servers } = result
  const seconds = record(authorization.fabric_subscriber).expires_at
  return {
    project: text(authorization.project_id),
    protocol: text(result.protocol),
    iceServers: Array.isArray(servers) ? (servers as RTCIceServer[]) : undefined,
    expiresAt: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
  }
}
