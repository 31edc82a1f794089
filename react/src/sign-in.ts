import { type Client, ClientError, type ClientOptions, type ConnectionState } from '@trunkline/client'

/** Options of {@link useSignalWire}: those of the client, with an optional token. */
export interface SignalWireOptions extends Omit<ClientOptions, 'token'> {
  /** Subscriber access token; null or undefined while signed out. */
  readonly token: string | null | undefined
}

/** Result of {@link useSignalWire}. The client is present while `connected` or `reconnecting`. */
export type SignalWireConnection = {
  /**
   * Reason for which the connection, or the renewal of the token, failed; `disconnected` after the
   * application's own `client.disconnect()`.
   * Undefined again as soon as the next attempt succeeds.
   */
  readonly error: ClientError | undefined
  /** Retries after a failure. Does nothing while connected or connecting. */
  readonly connect: () => void
} & (
  | { readonly state: Extract<ConnectionState, 'connected' | 'reconnecting'>; readonly client: Client }
  | { readonly state: Extract<ConnectionState, 'connecting' | 'disconnected'>; readonly client: undefined }
)

/** Creates a client that is not connected yet. Throws `bad_argument` or `bad_host`. */
export type MakeClient = (options: ClientOptions) => Client

/**
 * Returns the options that identify a client: the server receives them on connecting, so a change needs a new
 * client.
 */
export const identityOf = ({ host, project, topics, contexts }: SignalWireOptions): string =>
  JSON.stringify([host, project, topics ?? contexts])

/**
 * Connection of one component, outside React: it lives as long as an effect {@link hold}s it. Effects that
 * end and restart at once (strict mode, a fast refresh, another token) keep the client. The client is
 * disconnected in a microtask, unless an effect holds it again by then.
 */
export class SignIn {
  /** State without a connection. */
  readonly idle: SignalWireConnection
  /** State before the first effect, with a token. */
  readonly pending: SignalWireConnection
  /** Options of the last render. */
  options: SignalWireOptions = { token: undefined }
  readonly #make: MakeClient
  readonly #listeners = new Set<() => void>()
  #view: SignalWireConnection
  #client: Client | undefined
  #held = false
  #identity: string | undefined
  #given: string | undefined
  // Last result of onRefreshToken. If the page passes the same token, it is not a new one.
  #fetched: string | undefined

  constructor(make: MakeClient) {
    this.#make = make
    const nothing = { client: undefined, error: undefined, connect: () => this.#again() }
    this.idle = { ...nothing, state: 'disconnected' }
    this.pending = { ...nothing, state: 'connecting' }
    this.#view = this.idle
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly view = (): SignalWireConnection => this.#view

  /** Holds a client of this identity and token; the returned function releases it. */
  hold(identity: string, token: string | null | undefined): () => void {
    this.#held = true
    const given = token || undefined
    const renewed = given !== this.#given && given !== this.#fetched
    const other = identity !== this.#identity
    this.#identity = identity
    this.#given = given
    if (!given) this.#close()
    else if (other || !this.#client) this.#open(given)
    else if (renewed) this.#renew(given)
    return () => {
      this.#held = false
      queueMicrotask(() => {
        if (!this.#held) this.#close()
      })
    }
  }

  #again(): void {
    if (this.#held && this.#given && this.#view.state === 'disconnected') this.#open(this.#given)
  }

  #open(token: string): void {
    this.#leave()
    this.#show(this.pending)
    try {
      const client = this.#make(this.#clientOptions(token))
      this.#client = client
      this.#listen(client)
      // The event `closed` reports a failure.
      client.connect().catch(() => {})
    } catch (error) {
      this.#failed(error)
    }
  }

  // Functions are looked up when called, so that those of the last render apply.
  #clientOptions(token: string): ClientOptions {
    const latest = () => this.options
    return {
      ...latest(),
      token,
      incomingCallHandlers: {
        get all() {
          return latest().incomingCallHandlers?.all
        },
        get websocket() {
          return latest().incomingCallHandlers?.websocket
        },
        get pushNotification() {
          return latest().incomingCallHandlers?.pushNotification
        },
      },
      onRefreshToken: () => this.#fetch(),
    }
  }

  // The client treats an empty token as a missing one.
  async #fetch(): Promise<string> {
    this.#fetched = await this.options.onRefreshToken?.()
    if (this.#fetched && this.#view.client) this.#show({ ...this.#view, error: undefined })
    return this.#fetched ?? ''
  }

  #listen(client: Client): void {
    const ifOurs =
      <Payload>(run: (payload: Payload) => void) =>
      (payload: Payload) => {
        if (client === this.#client) run(payload)
      }
    const { connect } = this.idle
    client.on(
      'connection',
      ifOurs(({ state }) => {
        if (state === 'connected') this.#show({ state, client, error: undefined, connect })
        else if (state === 'reconnecting') this.#show({ state, client, error: this.#view.error, connect })
      }),
    )
    client.on(
      'tokenFailed',
      ifOurs(({ error }) => this.#show({ ...this.#view, error: asClientError(error) })),
    )
    client.on(
      'closed',
      ifOurs(({ reason }) => this.#failed(reason)),
    )
  }

  // Before its first connection a client has no calls to lose and no pending requests.
  async #renew(token: string): Promise<void> {
    const { client } = this.#view
    if (!client) return this.#open(token)
    try {
      await client.updateToken(token)
      if (this.#view.client === client) this.#show({ ...this.#view, error: undefined })
    } catch (error) {
      const ours = client === this.#client && token === this.#given
      if (ours && this.#view.client) this.#show({ ...this.#view, error: asClientError(error) })
      // The old token was rejected while the new one waited for a connection.
      else if (ours && this.#view.error?.code === 'auth') this.#open(token)
    }
  }

  #failed(error: unknown): void {
    this.#show({ ...this.idle, error: asClientError(error) })
  }

  #close(): void {
    this.#leave()
    this.#show(this.idle)
  }

  #leave(): void {
    const client = this.#client
    this.#client = undefined
    this.#fetched = undefined
    client?.disconnect()
  }

  #show(view: SignalWireConnection): void {
    this.#view = view
    for (const listener of [...this.#listeners]) listener()
  }
}

const asClientError = (cause: unknown): ClientError => {
  if (cause instanceof ClientError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  return new ClientError('auth', `onRefreshToken failed: ${text}`, { cause })
}
