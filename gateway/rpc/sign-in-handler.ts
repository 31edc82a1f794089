import type { Clock, Timer } from '../core/clock.ts'
import { asRecord, RpcError, rpcCodes } from './frames.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from './rpc-session.ts'

/** Handlers of a new session, by dialect. */
export interface Dialects {
  /** Dialect of browsers, which sign in with an access token (`authentication.jwt_token`). */
  readonly subscriber: () => RpcHandler
  /**
   * Dialect of applications, which sign in with a project and its API token (`authentication.project` and
   * `.token`).
   */
  readonly application: () => RpcHandler
}

const connectAlone: ReadonlySet<string> = new Set(['signalwire.connect'])
/** Limits of {@link SignInHandler}. */
export interface SignInLimits {
  /** Time limit for the sign-in, in milliseconds; default 10 s. */
  readonly signInMs?: number
  /** Maximum requests per second of an application; default 2,000. */
  readonly applicationRequestsPerSecond?: number
}

/**
 * Maximum number of failed sign-ins of one connection. Each failure is logged, so this also limits the log.
 */
const maxWrong = 10

/**
 * Handler of a new session: requires `signalwire.connect` first, and selects the dialect by its credentials.
 */
export class SignInHandler implements RpcHandler {
  readonly #dialects: Dialects
  readonly #session: RpcSession
  readonly #limits: SignInLimits
  readonly #waiting: Timer
  #wrong = 0
  /** Requests per second after the sign-in; undefined for the default rate. */
  #requestsPerSecond: number | undefined
  #dialect: RpcHandler | undefined

  constructor(dialects: Dialects, session: RpcSession, clock: Clock, limits: SignInLimits = {}) {
    this.#dialects = dialects
    this.#session = session
    this.#limits = limits
    const { signInMs = 10_000 } = limits
    this.#waiting = clock.after(signInMs, () => session.close(closeCodes.policy, 'sign-in timed out'))
  }

  get methods(): ReadonlySet<string> {
    return this.#dialect?.methods ?? connectAlone
  }

  async handle(method: string, params: Readonly<Record<string, unknown>>): Promise<Reply> {
    try {
      return await this.#answer(method, params)
    } catch (error) {
      if (error instanceof RpcError && error.code === rpcCodes.auth.code) this.#wrong++
      if (this.#wrong >= maxWrong) this.#session.close(closeCodes.policy, 'too many failed sign-ins')
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
      throw new RpcError(rpcCodes.auth, 'send signalwire.connect first')
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
