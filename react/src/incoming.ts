import type { Client, ClientError, ClientEvents, IncomingCallNotification, Invite } from '@trunkline/client'

/** What {@link useIncomingCalls} gives. */
export interface IncomingCalls {
  /** The calls that wait for a decision, the oldest first. */
  readonly invites: readonly Invite[]
  /** The gateway sends calls here. */
  readonly online: boolean
  /** Why it does not: what `client.online()` was refused with. */
  readonly error: ClientError | undefined
}

/** The part of a client that is used. */
export type OnlineClient = Pick<Client, 'online' | 'offline' | 'on' | 'off'>

const nothing: IncomingCalls = { invites: [], online: false, error: undefined }

/**
 * The calls that one component waits for, outside React: online as long as an effect {@link hold}s it. One request is under way at a time, and
 * effects that end and begin again at once ask for none.
 */
export class Incoming {
  readonly #client: OnlineClient | undefined
  readonly #listeners = new Set<() => void>()
  #view = nothing
  #wanted = false
  #busy = false
  /** Another connection came up while a request was under way. */
  #reconnected = false

  /** Without a client nothing rings. */
  constructor(client: OnlineClient | undefined) {
    this.#client = client
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly view = (): IncomingCalls => this.#view

  /** Goes online; the function that it gives goes offline. */
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

  // What was refused over the connection before may be granted over this one.
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
        // Whoever cannot say goodbye has no connection, and is not called either.
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
