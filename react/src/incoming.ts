import type { Client, ClientError, ClientEvents, IncomingCallNotification, Invite } from '@trunkline/client'

/** Result of {@link useIncomingCalls}. */
export interface IncomingCalls {
  /** Pending invites, the oldest first. */
  readonly invites: readonly Invite[]
  /** Whether incoming calls are received. */
  readonly online: boolean
  /** Error of `client.online()`, if it failed. */
  readonly error: ClientError | undefined
}

/** Used part of a client. */
export type OnlineClient = Pick<Client, 'online' | 'offline' | 'on' | 'off'>

const nothing: IncomingCalls = { invites: [], online: false, error: undefined }

/**
 * Incoming calls of one component, outside React: online as long as an effect {@link hold}s it.
 * Requests run one at a time. An effect that ends and restarts at once causes no request.
 */
export class Incoming {
  readonly #client: OnlineClient | undefined
  readonly #listeners = new Set<() => void>()
  #view = nothing
  #wanted = false
  #busy = false
  /** Whether the connection was restored during a request. */
  #reconnected = false

  /** Without a client no calls are received. */
  constructor(client: OnlineClient | undefined) {
    this.#client = client
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly view = (): IncomingCalls => this.#view

  /** Goes online; the returned function goes offline. */
  hold(): () => void {
    this.#wanted = true
    queueMicrotask(() => void this.#settle())
    this.#client?.on('closed', this.#closed)
    this.#client?.on('connection', this.#connection)
    return () => {
      this.#wanted = false
      queueMicrotask(() => void this.#settle())
      this.#client?.off('closed', this.#closed)
      this.#client?.off('connection', this.#connection)
    }
  }

  readonly #closed = (): void => this.#show({ online: false })

  // A request that failed over the previous connection may succeed over this one.
  readonly #connection = ({ state }: ClientEvents['connection']): void => {
    if (state !== 'connected') return
    this.#reconnected = true
    void this.#settle()
  }

  async #settle(): Promise<void> {
    const client = this.#client
    if (!client || this.#busy) return
    this.#busy = true
    while (this.#wanted !== this.#view.online) {
      const wanted = this.#wanted
      this.#reconnected = false
      try {
        await (wanted ? client.online({ incomingCallHandlers: { all: this.#rings } }) : client.offline())
        this.#show({ online: wanted, error: undefined })
      } catch (error) {
        // If the request cannot be sent, the client has no connection and therefore receives no calls.
        this.#show({ online: false, error: wanted ? (error as ClientError) : undefined })
        if (wanted && this.#wanted && !this.#reconnected) break
      }
    }
    this.#busy = false
  }

  readonly #rings = ({ invite }: IncomingCallNotification): void => {
    this.#show({ invites: [...this.#view.invites, invite] })
    void invite.settled.then(() =>
      this.#show({ invites: this.#view.invites.filter((other) => other !== invite) }),
    )
  }

  #show(changed: Partial<IncomingCalls>): void {
    this.#view = { ...this.#view, ...changed }
    for (const listener of [...this.#listeners]) listener()
  }
}
