import type {
  AddressPresence,
  Call,
  CallEvents,
  CallRecord,
  CallState,
  Client,
  ClientError,
  ClientEvents,
  ClientOptions,
  ConnectionState,
  IncomingCallHandlers,
  Invite,
  Member,
  Paged,
  PresenceState,
  Room,
  RoomEvents,
  RoomMember,
  RoomTrack,
  Subscription,
} from '@trunkline/client'

/** Listeners by name, as in the client. */
class Listeners<Events extends object> {
  readonly #all = new Map<keyof Events, Set<(payload: never) => void>>()

  readonly on = (name: keyof Events, listener: (payload: never) => void): void => {
    this.#all.set(name, (this.#all.get(name) ?? new Set()).add(listener))
  }

  readonly off = (name: keyof Events, listener: (payload: never) => void): void => {
    this.#all.get(name)?.delete(listener)
  }

  /** Number of listeners. */
  get size(): number {
    return [...this.#all.values()].reduce((sum, { size }) => sum + size, 0)
  }

  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    for (const listener of this.#all.get(name) ?? []) (listener as (payload: Events[Name]) => void)(payload)
  }
}

/** Call history whose pages are the test's. */
export class FakeHistory {
  readonly requests: object[] = []
  readonly listeners = new Set<() => void>()
  /** Pages, the newest first. */
  pages: readonly (readonly CallRecord[])[] = [[]]
  /** Fails the next requests, if set. */
  fault: ClientError | undefined

  async getCalls(options: object): Promise<Paged<CallRecord>> {
    this.requests.push(options)
    return this.#page(0)
  }

  subscribe(listener: () => void): Subscription {
    this.listeners.add(listener)
    return { unsubscribe: () => void this.listeners.delete(listener) }
  }

  async #page(at: number): Promise<Paged<CallRecord>> {
    if (this.fault) throw this.fault
    const nextPage = () => this.#page(at + 1)
    const page = { data: this.pages[at] ?? [], hasNext: at + 1 < this.pages.length, nextPage }
    return page as Paged<CallRecord>
  }
}

/** Presence whose states are the test's. */
export class FakePresence {
  /** Lists that were watched, in order. */
  readonly lists: (readonly string[])[] = []
  readonly states = new Map<string, PresenceState>()
  readonly listeners = new Set<(presence: AddressPresence) => void>()

  async watch(ids: readonly string[]): Promise<void> {
    this.lists.push(ids)
  }

  of(id: string): PresenceState | undefined {
    return this.lists.at(-1)?.includes(id) ? this.states.get(id) : undefined
  }

  subscribe(listener: (presence: AddressPresence) => void): Subscription {
    this.listeners.add(listener)
    return { unsubscribe: () => void this.listeners.delete(listener) }
  }

  becomes(address_id: string, state: PresenceState): void {
    this.states.set(address_id, state)
    for (const listener of this.listeners) listener({ address_id, state })
  }
}

/** Client whose server is the test. */
export class FakeClient {
  readonly options: ClientOptions
  readonly events = new Listeners<ClientEvents>()
  readonly on = this.events.on
  readonly off = this.events.off
  readonly history = new FakeHistory()
  readonly presence = new FakePresence()
  /** Requests, in order. */
  readonly asked: string[] = []
  handlers: IncomingCallHandlers | undefined
  /** Result of the next request, set by the test. */
  update: () => Promise<void> = async () => {}
  goOnline: () => Promise<void> = async () => {}
  #over = false

  constructor(options: ClientOptions) {
    this.options = options
  }

  /** The fake, typed as a client. */
  get client(): Client {
    return this as unknown as Client
  }

  async connect(): Promise<void> {
    this.asked.push('connect')
  }

  disconnect(): void {
    if (!this.#over) this.asked.push('disconnect')
    this.#over = true
  }

  async updateToken(token: string): Promise<void> {
    this.asked.push(`token ${token}`)
    await this.update()
  }

  async online({ incomingCallHandlers }: { incomingCallHandlers?: IncomingCallHandlers }): Promise<void> {
    this.asked.push('online')
    this.handlers = incomingCallHandlers
    await this.goOnline()
  }

  async offline(): Promise<void> {
    this.asked.push('offline')
  }

  becomes(state: ConnectionState): void {
    this.events.emit('connection', { state })
  }

  /** Ends the client, with the client's event. */
  ends(reason: ClientError): void {
    this.#over = true
    this.becomes('disconnected')
    this.events.emit('closed', { reason })
  }
}

/** Room whose course the test decides. */
export class FakeRoom {
  readonly events = new Listeners<RoomEvents>()
  readonly on = this.events.on
  readonly off = this.events.off
  readonly id = 'r1'
  readonly name = 'Lounge'
  readonly members: readonly RoomMember[] = []
  readonly self = undefined
  readonly layout: Room['layout'] = undefined
  readonly rights = { lock: true, setLayout: true, muteOthers: true, remove: true, end: true }
  isLocked = false
  layouts: readonly string[] = []
}

/** Call whose course the test decides. */
export class FakeCall {
  readonly events = new Listeners<CallEvents>()
  readonly on = this.events.on
  readonly off = this.events.off
  readonly remoteStream = {} as MediaStream
  readonly localStream = undefined
  state: CallState = 'new'
  muted = { audio: false, video: false }
  members: readonly Member[] = []
  readonly video = { local: false, remote: false }
  readonly selfMember = undefined
  readonly capabilities = undefined
  readonly currentLayout = undefined
  room: FakeRoom | undefined
  readonly tracks = { all: new Map<string, RoomTrack>() }
  reason: ClientError | undefined

  /** The fake, typed as a call. */
  get call(): Call {
    return this as unknown as Call
  }

  get active(): boolean {
    return this.state === 'active'
  }

  becomes(state: CallState): void {
    const previous = this.state
    this.state = state
    this.events.emit('state', { state, previous })
  }

  enters(room: FakeRoom): void {
    this.room = room
    this.events.emit('call.joined', {} as CallEvents['call.joined'])
  }

  joins(...members: Member[]): void {
    this.members = [...this.members, ...members]
    this.events.emit('memberList.updated', { members: this.members })
  }

  assigns(...tracks: RoomTrack[]): void {
    this.tracks.all = new Map(tracks.map((track) => [track.memberId, track]))
    this.events.emit('tracks', this.tracks.all)
  }

  mutes(audio: boolean): void {
    this.muted = { ...this.muted, audio }
    this.events.emit('mute', this.muted)
  }
}

/** Returns an invite that waits until the test settles it. */
export const invitation = (): { readonly invite: Invite; readonly settle: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { invite: { settled: promise } as Invite, settle: resolve }
}
