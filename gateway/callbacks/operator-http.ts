import { Agent, request } from 'undici'
import type { SendRequest } from '../../media/sound/http-voice.ts'
import type { Clock } from '../core/clock.ts'
import { readBody } from './answers.ts'

/**
 * Client for servers in the operator's configuration, such as a speech service. Unlike {@link CustomerHttp},
 * it also reaches private addresses: no document chooses the destination. It follows no redirects, which
 * would carry the request's key elsewhere. Errors contain neither the URL's path nor headers or the body.
 */
export class OperatorHttp {
  readonly #clock: Clock
  readonly #userAgent: string
  readonly #agent = new Agent({ connect: { timeout: 2000 }, allowH2: false, maxHeaderSize: 16_384 })

  /** `userAgent`: value of the User-Agent header; empty: no header. */
  constructor(clock: Clock, userAgent: string) {
    this.#clock = clock
    this.#userAgent = userAgent
  }

  readonly send: SendRequest = async ({ method, url, headers, body }, { timeoutMs, maxBytes, signal }) => {
    const controller = new AbortController()
    let late = false
    const timer = this.#clock.after(timeoutMs, () => {
      late = true
      controller.abort()
    })
    try {
      const response = await request(url, {
        method,
        dispatcher: this.#agent,
        signal: signal ? AbortSignal.any([controller.signal, signal]) : controller.signal,
        headers: { accept: '*/*', ...(this.#userAgent && { 'user-agent': this.#userAgent }), ...headers },
        ...(body !== undefined && { body }),
      })
      const bytes = await readBody(response, maxBytes)
      if (!bytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
      return { status: response.statusCode, bytes }
    } catch (error) {
      if (late) throw new Error(`it took longer than ${timeoutMs} ms`)
      if (signal?.aborted) throw new Error('the request was aborted')
      const { code, message } = error as NodeJS.ErrnoException
      throw new Error(code === undefined ? message : `the connection failed: ${code}`, { cause: error })
    } finally {
      timer.cancel()
    }
  }

  /** Aborts every request and closes all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}
