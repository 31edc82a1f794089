import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { importPKCS8, SignJWT } from 'jose'
import type { DeviceRow } from '../directory/tables/devices.ts'
import { PushUnreachable } from './push-http.ts'
import { outcomeOf, type PushMessage, type PushOutcome, type PushTransport } from './push-transport.ts'

/** Options of {@link Apns}. */
export interface ApnsOptions {
  /** The signing key (`.p8`), PEM. */
  readonly key: string
  readonly keyId: string
  readonly teamId: string
  /** Bundle id of the application. */
  readonly topic: string
  /** Host of the service, with an optional port. */
  readonly host: string
  /** PEM of the certificate authority for the service; default: the system's authorities. */
  readonly ca?: string
  readonly now: () => number
}

/** Token that identifies the sender to Apple. */
interface ProviderToken {
  readonly text: Promise<string>
  readonly madeAt: number
}

type Key = Awaited<ReturnType<typeof importPKCS8>>

/**
 * Age of a token at its renewal, in ms. Apple accepts tokens up to 60 minutes old, and at most one new token
 * in 20 minutes.
 */
const tokenAgeMs = 40 * 60_000
const maxPayloadBytes = 4096
/** Idle time of the connection before TCP keep-alive probes, in ms. */
const keepAliveMs = 60_000

/**
 * Client of Apple's push service: token authentication over HTTP/2, VoIP notifications. A lost connection is
 * replaced at the next notification.
 */
export class Apns implements PushTransport {
  readonly name = 'apns'
  readonly #options: ApnsOptions
  readonly #key: Key
  #token: ProviderToken | undefined
  #session: ClientHttp2Session | undefined

  private constructor(options: ApnsOptions, key: Key) {
    this.#options = options
    this.#key = key
  }

  /** Rejects if the key cannot be used. */
  static async open(options: ApnsOptions): Promise<Apns> {
    return new Apns(options, await importPKCS8(options.key, 'ES256'))
  }

  takes({ token, type }: Pick<DeviceRow, 'token' | 'type'>): boolean {
    return type === 'iOS' && /^[0-9a-f]{64,200}$/i.test(token)
  }

  async send({ device, payload, expiresAt }: PushMessage, signal: AbortSignal): Promise<PushOutcome> {
    const token = this.#providerToken()
    const headers = {
      ':method': 'POST',
      ':path': `/3/device/${device.token.toLowerCase()}`,
      authorization: `bearer ${await token.text}`,
      'content-type': 'application/json',
      'apns-topic': `${this.#options.topic}.voip`,
      'apns-push-type': 'voip',
      'apns-priority': '10',
      'apns-expiration': String(Math.ceil(expiresAt / 1000)),
    }
    const session = this.#connection()
    try {
      const stream = session.request(headers, { signal })
      stream.end(JSON.stringify({ aps: {}, ...payload }))
      return this.#outcome(await answerOf(stream), token)
    } catch {
      // After a timeout, the connection may be dead without an error. After other failures it stays open for
      // the other requests.
      if (signal.aborted) session.destroy()
      throw new PushUnreachable(signal.aborted ? 'given-up' : 'connection')
    }
  }

  close(): void {
    this.#session?.destroy()
  }

  #outcome({ status, reason }: Answer, token: ProviderToken): PushOutcome {
    const facts = { reason: `status-${status}`, ...(reason && { detail: reason }) }
    if (status === 410 || reason === 'BadDeviceToken') return { kind: 'gone', ...facts }
    if (reason === 'ExpiredProviderToken') {
      if (this.#token === token) this.#token = undefined
      return { kind: 'later', ...facts }
    }
    return outcomeOf(status, reason)
  }

  /** Returns the token, shared by all notifications until its renewal. */
  #providerToken(): ProviderToken {
    const now = this.#options.now()
    if (this.#token && now - this.#token.madeAt < tokenAgeMs) return this.#token
    const { keyId, teamId } = this.#options
    const text = new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(now / 1000))
      .sign(this.#key)
    this.#token = { text, madeAt: now }
    return this.#token
  }

  #connection(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session
    const { host, ca } = this.#options
    const session = connect(`https://${host}`, ca === undefined ? {} : { ca })
    // Without keep-alive probes, a middlebox may drop an idle connection, and the next notification would be
    // lost without an error.
    session.on('connect', (_session, socket) => socket.setKeepAlive(true, keepAliveMs))
    // Requests on the session report their own failures.
    session.on('error', () => {})
    // Requests in progress still get responses; the session closes after them (RFC 9113 section 6.8).
    session.on('goaway', () => {
      if (this.#session === session) this.#session = undefined
    })
    this.#session = session
    return session
  }
}

interface Answer {
  readonly status: number
  /** Reason in Apple's response. */
  readonly reason: string | undefined
}

const answerOf = (stream: ClientHttp2Stream): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let status = 0
    let text = ''
    stream.on('response', (headers) => {
      status = Number(headers[':status'])
    })
    stream.setEncoding('utf8')
    stream.on('data', (part: string) => {
      if (text.length < maxPayloadBytes) text += part
    })
    stream.on('error', reject)
    // A broken connection ends its streams without a response.
    stream.on('end', () => status > 0 && resolve({ status, reason: reasonIn(text) }))
    stream.on('close', () => reject(new Error('the stream was closed')))
  })

const reasonIn = (text: string): string | undefined => /"reason"\s*:\s*"(\w{1,60})"/.exec(text)?.[1]
