import type { Clock, Timer } from '../core/clock.ts'
import { asRecord, RpcError, rpcCodes } from './frames.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from './rpc-session.ts'

/** The vocabularies that a new session can have. */
export interface Dialects {
  /** Of browsers, which sign in with an access token (`authentication.jwt_token`). */
  readonly subscriber: () => RpcHandler
  /**
   * Of applications, which sign in with a project and its API token (`authentication.project` and `.token`).
   */
  readonly application: () => RpcHandler
}

const connectAlone: ReadonlySet<string> = new Set(['signalwire.connect'])
/** Limits of the entrance. */
export interface SignInLimits {
  /** How long a new connection may stay without signing in, in milliseconds; default 10 s. */
  readonly signInMs?: number
  /** Requests of an application within a second; default 2,000. */
  readonly applicationRequestsPerSecond?: number
}

/** Wrong sign-ins of one connection: each is logged, and nobody is to fill the log. */
const maxWrong = 10

/**
 * A new session: `signalwire.connect` comes first, and what it signs in with says which dialect is spoken.
 */
export class SignInHandler implements RpcHandler {
  readonly #dialects: Dialects
  readonly #session: RpcSession
  readonly #limits: SignInLimits
  readonly #waiting: Timer
  #wrong = 0
  /** Undefined: as everybody. */
  #requestsPerSecond: number | undefined
  #dialect: RpcHandler | undefined

  constructor(dialects: Dialects, session: RpcSession, clock: Clock, limits: SignInLimits = {}) {
    this.#dialects = dialects
    this.#session = session
    this.#limits = limits
    const { signInMs = 10_000 } = limits
    this.#waiting = clock.after(signInMs, () => session.close(closeCodes.policy, 'nobody signed in'))
  }

  get methods(): ReadonlySet<string> {
    return this.#dialect?.methods ?? connectAlone
  }

  async handle(method: string, params: Readonly<Record<string, unknown>>): Promise<Reply> {
    try {
      return await this.#answer(method, params)
    } catch (error) {
      if (error instanceof RpcError && error.code === rpcCodes.auth.code) this.#wrong++
      if (this.#wrong >= maxWrong) this.#session.close(closeCodes.policy, 'too many wrong sign-ins')
      throw error
    }
  }

  closed(): void {
    this.#waiting.cancel()
    this.#dialect?.closed()
  }

  #begin(params: Readonly<Record<string, unknown>>): RpcHandler {
    if (!isApplication(params)) return this.#dialects.subscriber()
    this.#requestsPerSecond = this.#limits.applicationRequestsPerSecond ?? 2_000
    return this.#dialects.application()
  }

  async #answer(method: string, params: Readonly<Record<string, unknown>>): Promise<Reply> {
    if (method !== 'signalwire.connect') {
      if (this.#dialect) return this.#dialect.handle(method, params)
      throw new RpcError(rpcCodes.auth, 'signalwire.connect comes first')
    }
    this.#dialect ??= this.#begin(params)
    const reply = await this.#dialect.handle(method, params)
    this.#waiting.cancel()
    this.#session.signedIn(this.#requestsPerSecond)
    return reply
  }
}

const isApplication = (params: Readonly<Record<string, unknown>>): boolean => {
  const given = asRecord(params.authentication)
  return given?.jwt_token === undefined && given?.token !== undefined
}
