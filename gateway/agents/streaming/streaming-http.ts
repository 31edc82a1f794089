import { Agent, type Dispatcher, request } from 'undici'
import { kindOfStatus } from '../engines/session/failures.ts'
import { EngineError, engineErrorOf } from './engine-error.ts'

/** Request to an engine's server. */
export interface StreamingRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** Successful response, whose body is read as it arrives. */
export interface StreamingResponse {
  readonly contentType: string
  /** Body in pieces. Throws an {@link EngineError}. Leaving the loop closes the connection. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Response with a status other than 2xx. */
export class HttpRejection extends EngineError {
  readonly status: number
  /** Beginning of the body. May contain text of the conversation: never logged. */
  readonly body: string

  constructor(status: number, body: string, retryAfterMs: number | undefined) {
    super(kindOfStatus(status), `the server answered ${status}`, retryAfterMs)
    this.status = status
    this.body = body
  }
}

/** Maximum number of bytes of a rejection's body that are read. */
const maxRejectionBytes = 16_384
/** Time for which an idle connection is kept, in ms. A pause between turns is shorter. */
const keepAliveMs = 60_000

/**
 * Client for servers of engines, whose answers are streams. Like `OperatorHttp`, it also reaches private
 * addresses and follows no redirects: the operator configures the URLs, and requests contain keys.
 * Connections are kept between requests. Time-outs are the caller's, by the signal of the request.
 */
export class StreamingHttp {
  readonly #userAgent: string
  readonly #agent = new Agent({
    connect: { timeout: 2000 },
    allowH2: false,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
  })

  /** `userAgent`: value of the User-Agent header; empty: no header. */
  constructor(userAgent = '') {
    this.#userAgent = userAgent
  }

  /**
   * Sends a POST request. Resolves when the header of the response was received. Rejects with an
   * {@link EngineError}: the signal's reason if that is one, or an {@link HttpRejection}.
   */
  async post({ url, headers, body }: StreamingRequest, signal: AbortSignal): Promise<StreamingResponse> {
    try {
      const response = await request(url, {
        method: 'POST',
        dispatcher: this.#agent,
        signal,
        headers: { ...(this.#userAgent && { 'user-agent': this.#userAgent }), ...headers },
        body,
      })
      const { statusCode } = response
      if (statusCode < 200 || statusCode >= 300) throw await rejectionOf(response)
      return { contentType: headerOf(response, 'content-type'), body: piecesOf(response.body, signal) }
    } catch (error) {
      throw engineErrorOf(error, signal)
    }
  }

  /** Aborts every request and closes all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

/** Returns the whole body. Throws an {@link EngineError} if it is longer than `maxBytes`. */
export const readAll = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > maxBytes) throw new EngineError('protocol', `the answer is longer than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function* piecesOf(
  body: Dispatcher.ResponseData['body'],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece as Uint8Array
  } catch (error) {
    throw engineErrorOf(error, signal)
  }
}

const headerOf = (response: Dispatcher.ResponseData, name: string): string => {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

const rejectionOf = async (response: Dispatcher.ResponseData): Promise<HttpRejection> => {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body) {
    pieces.push(piece as Uint8Array)
    length += (piece as Uint8Array).length
    if (length >= maxRejectionBytes) break
  }
  const body = Buffer.concat(pieces).subarray(0, maxRejectionBytes).toString('utf8')
  return new HttpRejection(response.statusCode, body, retryAfterMs(headerOf(response, 'retry-after')))
}

/** Returns the wait in a Retry-After header (RFC 9110 section 10.2.3) in seconds; dates are not read. */
const retryAfterMs = (value: string): number | undefined =>
  /^\d{1,6}(\.\d{1,3})?$/.test(value) ? Number(value) * 1000 : undefined
