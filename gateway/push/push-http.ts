import type { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { Agent, buildConnector, request } from 'undici'
import { asUnreachable, headerOf, readBeginning } from '../callbacks/answers.ts'
import { guardedLookup, literalOf } from '../callbacks/guarded-lookup.ts'

/** Request to a push service. */
export interface PushRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** Response of a push service, with at most 16 KiB of the body. */
export interface PushAnswer {
  readonly status: number
  readonly text: string
  /** Value of `Retry-After`, in ms; only if the header is in seconds. */
  readonly retryAfterMs?: number
}

/** Options of {@link PushHttp}. */
export interface PushHttpOptions {
  /** Guard that checks addresses; absent if the URLs come from the operator's configuration. */
  readonly guard?: Pick<AddressGuard, 'permits'>
  /** PEM of the certificate authority for the service; default: the system's authorities. */
  readonly ca?: string
}

const maxAnswerBytes = 16_384

/**
 * Sends requests to push services, over TLS only, and follows no redirect. Errors do not contain the URL,
 * which may be a secret.
 */
export class PushHttp {
  readonly #agent: Agent
  readonly #guard: PushHttpOptions['guard']

  constructor({ guard, ca }: PushHttpOptions = {}) {
    const connect = buildConnector({
      allowH2: false,
      timeout: 5000,
      ...(ca && { ca }),
      ...(guard && { lookup: guardedLookup(guard) }),
    })
    this.#guard = guard
    this.#agent = new Agent({ connect, allowH2: false, maxHeaderSize: 16_384, connections: 64 })
  }

  /** Sends a request. Rejects with {@link PushUnreachable} if no response arrives. */
  async post({ url, headers, body }: PushRequest, signal: AbortSignal): Promise<PushAnswer> {
    const target = URL.parse(url)
    if (target?.protocol !== 'https:') throw new PushUnreachable('no-https')
    const literal = literalOf(target)
    // An IP address is not resolved, so it is checked here.
    if (literal !== undefined && this.#guard && !this.#guard.permits(literal))
      throw new PushUnreachable('address-refused')
    try {
      const response = await request(target, {
        method: 'POST',
        dispatcher: this.#agent,
        signal,
        body,
        headers: { ...headers, 'user-agent': 'Trunkline' },
      })
      const text = Buffer.from(await readBeginning(response, maxAnswerBytes)).toString()
      const seconds = /^\d{1,6}$/.exec(headerOf(response, 'retry-after'))?.[0]
      return {
        status: response.statusCode,
        text,
        ...(seconds !== undefined && { retryAfterMs: Number(seconds) * 1000 }),
      }
    } catch (error) {
      throw new PushUnreachable(String(asUnreachable(error, url).facts.reason))
    }
  }

  /** Aborts every request and closes all connections. */
  close(): void {
    void this.#agent.destroy()
  }
}

/** Failure of a request without a response. `reason` is a metric label. */
export class PushUnreachable extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(`a push service cannot be reached: ${reason}`)
    this.reason = reason
  }
}
