import { importPKCS8, SignJWT } from 'jose'
import type { DeviceRow } from '../directory/tables/devices.ts'
import type { PushHttp } from './push-http.ts'
import { outcomeOf, type PushMessage, type PushOutcome, type PushTransport } from './push-transport.ts'

/** Content of a service account's file. */
export interface ServiceAccount {
  readonly project_id: string
  readonly client_email: string
  /** Private key of the account, PEM. */
  readonly private_key: string
  readonly token_uri: string
}

/**
 * Reads a service account's file. Throws an Error that gives the reason but no content of the file.
 */
export const serviceAccountOf = (text: string): ServiceAccount => {
  let read: Partial<Record<keyof ServiceAccount, unknown>>
  try {
    read = JSON.parse(text) ?? {}
  } catch {
    throw new Error('it is no JSON')
  }
  const field = (name: keyof ServiceAccount): string => {
    const value = read[name]
    if (typeof value !== 'string' || value === '') throw new Error(`${name} must be a text`)
    return value
  }
  const token_uri = field('token_uri')
  if (URL.parse(token_uri)?.protocol !== 'https:') throw new Error('token_uri must be an https URL')
  return {
    project_id: field('project_id'),
    client_email: field('client_email'),
    private_key: field('private_key'),
    token_uri,
  }
}

/** Options of {@link Fcm}. */
export interface FcmOptions {
  readonly account: ServiceAccount
  /** Host of the service, with an optional port. */
  readonly host: string
  readonly http: PushHttp
  readonly now: () => number
}

type Key = Awaited<ReturnType<typeof importPKCS8>>

const scope = 'https://www.googleapis.com/auth/firebase.messaging'
const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Time before the expiry at which an access token is renewed, in ms. */
const marginMs = 60_000

/** Firebase Cloud Messaging, HTTP v1: data messages, signed in with a service account's key (RFC 7523). */
export class Fcm implements PushTransport {
  readonly name = 'fcm'
  readonly #options: FcmOptions
  readonly #key: Key
  #access: { readonly token: string; readonly until: number } | undefined
  #asking: Promise<string | PushOutcome> | undefined

  private constructor(options: FcmOptions, key: Key) {
    this.#options = options
    this.#key = key
  }

  /** Rejects if the key cannot be used. */
  static async open(options: FcmOptions): Promise<Fcm> {
    return new Fcm(options, await importPKCS8(options.account.private_key, 'RS256'))
  }

  takes({ token, type }: Pick<DeviceRow, 'token' | 'type'>): boolean {
    return type !== 'iOS' && /^[\w:-]{20,4096}$/.test(token)
  }

  async send(message: PushMessage, signal: AbortSignal): Promise<PushOutcome> {
    const access = await this.#accessToken(signal)
    if (typeof access !== 'string') return access
    const { host, account, http } = this.#options
    const { status, text, retryAfterMs } = await http.post(
      {
        url: `https://${host}/v1/projects/${encodeURIComponent(account.project_id)}/messages:send`,
        headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: this.#messageOf(message) }),
      },
      signal,
    )
    if (status === 200) return { kind: 'sent' }
    const detail = errorCodeIn(text)
    const facts = { reason: `status-${status}`, ...(detail && { detail }) }
    if (detail === 'UNREGISTERED' || (status === 400 && blamesToken(text))) return { kind: 'gone', ...facts }
    if (status !== 401) return outcomeOf(status, detail, retryAfterMs)
    this.#access = undefined
    return { kind: 'later', ...facts }
  }

  close(): void {
    this.#options.http.close()
  }

  #messageOf({ device, payload, expiresAt }: PushMessage): object {
    const seconds = Math.max(0, Math.ceil((expiresAt - this.#options.now()) / 1000))
    return {
      token: device.token,
      data: payload,
      // High priority delivers at once and wakes the device.
      ...(device.type === 'Android'
        ? { android: { priority: 'HIGH', ttl: `${seconds}s` } }
        : { webpush: { headers: { TTL: String(seconds), Urgency: 'high' } } }),
    }
  }

  /** Returns the access token; all waiting notifications share one request for it. */
  async #accessToken(signal: AbortSignal): Promise<string | PushOutcome> {
    if (this.#access && this.#access.until > this.#options.now()) return this.#access.token
    this.#asking ??= this.#ask(signal).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(signal: AbortSignal): Promise<string | PushOutcome> {
    const { account, http, now } = this.#options
    const at = now()
    const assertion = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri)
      .setIssuedAt(Math.floor(at / 1000))
      .setExpirationTime(Math.floor(at / 1000) + 3600)
      .sign(this.#key)
    const { status, text } = await http.post(
      {
        url: account.token_uri,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ grant_type: grant, assertion }).toString(),
      },
      signal,
    )
    const { access_token: token, expires_in: seconds } = status === 200 ? fieldsOf(text) : {}
    if (typeof token === 'string' && typeof seconds === 'number') {
      this.#access = { token, until: at + seconds * 1000 - marginMs }
      return token
    }
    const refused = status >= 400 && status < 500 && status !== 429
    return { kind: refused ? 'refused' : 'later', reason: 'sign-in', detail: `status ${status}` }
  }
}

const fieldsOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === 'object' && read !== null ? { ...read } : {}
  } catch {
    return {}
  }
}

/** Returns Google's error code, such as UNREGISTERED. */
const errorCodeIn = (text: string): string | undefined => /"errorCode"\s*:\s*"([A-Z_]{1,60})"/.exec(text)?.[1]

/**
 * Whether INVALID_ARGUMENT concerns the device: only if the error names the token's field.
 */
const blamesToken = (text: string): boolean => /"field"\s*:\s*"message\.token"/.test(text)
