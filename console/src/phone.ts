import type {
  Call,
  CallOptions,
  Client,
  ClientError,
  Clock,
  ConnectionState,
  Invite,
} from '@trunkline/client'
import type { RecentCalls } from './memory.ts'
import { connectionMessage, dialMessage, endMessage, isFailure, missedMessage } from './messages.ts'

/** The part of the {@link Client} that the phone uses. */
export type PhoneClient = Pick<
  Client,
  'online' | 'offline' | 'dial' | 'disconnect' | 'on' | 'connectionState' | 'isOnline'
>

/** A sentence for the person. */
export interface Notice {
  readonly tone: 'plain' | 'warning'
  readonly text: string
}

/** A call that waits for an answer. */
export interface Incoming {
  readonly id: string
  readonly name: string
  readonly number: string
  readonly answering: boolean
}

/** The one call that is going on. */
export interface Current {
  readonly call: Call
  readonly direction: 'inbound' | 'outbound'
  readonly name: string
  readonly number: string
  /** Milliseconds since the epoch; undefined until answered. */
  readonly answeredAt: number | undefined
  /** Keys that we pressed, and those that the far side pressed. */
  readonly pressed: string
  readonly received: string
}

interface Waiting extends Incoming {
  readonly invite: Invite
}

const LONGEST_KEYS = 32

/** The softphone without its face: one call at a time, and any number that wait. */
export class Phone {
  readonly #client: PhoneClient
  readonly #clock: Clock
  readonly #recents: RecentCalls
  readonly #changed: () => void
  #waiting: readonly Waiting[] = []
  #current: Current | undefined
  #dialling = false
  #switching = false
  #notice: Notice | undefined

  /** `changed` runs after every change of what the getters give. */
  constructor(client: PhoneClient, clock: Clock, recents: RecentCalls, changed: () => void) {
    this.#client = client
    this.#clock = clock
    this.#recents = recents
    this.#changed = changed
    client.on('connection', () => changed())
  }

  get connection(): ConnectionState {
    return this.#client.connectionState
  }

  get isOnline(): boolean {
    return this.#client.isOnline
  }

  /** True while going online or offline. */
  get isSwitching(): boolean {
    return this.#switching
  }

  get incoming(): readonly Incoming[] {
    return this.#waiting
  }

  get current(): Current | undefined {
    return this.#current
  }

  /** True while a call goes on or is being made or answered: another one can only be declined. */
  get isBusy(): boolean {
    return this.#current !== undefined || this.#dialling || this.#waiting.some(({ answering }) => answering)
  }

  get notice(): Notice | undefined {
    return this.#notice
  }

  /** Goes online or offline. Never rejects: a failure becomes the notice. */
  async setOnline(online: boolean): Promise<void> {
    if (this.#switching) return
    this.#switching = true
    this.#changed()
    try {
      if (online)
        await this.#client.online({ incomingCallHandlers: { all: ({ invite }) => this.#ring(invite) } })
      else await this.#client.offline()
      this.#say(undefined)
    } catch (error) {
      this.#say({ tone: 'warning', text: connectionMessage(error) })
    }
    this.#switching = false
    this.#changed()
  }

  /** Calls an address or SIP URI. Never rejects. */
  async dial(to: string): Promise<void> {
    if (this.isBusy) return
    this.#dialling = true
    this.#say(undefined)
    try {
      const call = await this.#client.dial({ to })
      this.#take(call, to, to)
      this.#recents.add({ to, name: to, direction: 'outbound', at: this.#clock.now() })
      // How it ends is told by the call itself.
      void call.start().catch(() => {})
    } catch (error) {
      this.#say({ tone: 'warning', text: dialMessage(error) })
    }
    this.#dialling = false
    this.#changed()
  }

  /** Answers a waiting call, unless another one goes on. Never rejects. */
  async accept(id: string, options: CallOptions = {}): Promise<void> {
    const waiting = this.#waiting.find((other) => other.id === id)
    if (!waiting || this.isBusy) return
    this.#update(id, { answering: true })
    this.#say(undefined)
    try {
      const call = await waiting.invite.accept(options)
      this.#remove(id)
      this.#take(call, waiting.name, waiting.number)
      this.#remember(waiting, 'inbound')
    } catch (error) {
      // After a failure of the microphone the call still waits, and can be tried again.
      if (waiting.invite.isPending) this.#update(id, { answering: false })
      else this.#remove(id)
      this.#say({ tone: 'warning', text: endMessage(error) })
    }
    this.#changed()
  }

  /** Declines a waiting call. */
  reject(id: string): void {
    const waiting = this.#waiting.find((other) => other.id === id)
    if (!waiting) return
    this.#remove(id)
    this.#remember(waiting, 'missed')
    this.#say({ tone: 'plain', text: `Declined the call from ${waiting.name}.` })
    void waiting.invite.reject().catch(() => {})
  }

  hangup(): void {
    void this.#current?.call.hangup()
  }

  toggleMute(): void {
    const call = this.#current?.call
    if (!call) return
    const done = call.muted.audio ? call.audioUnmute() : call.audioMute()
    // The microphone is off whatever the server says; nothing is to be told.
    void done.catch(() => {})
    this.#changed()
  }

  /** Holds the call or takes it back. Never rejects. */
  async toggleHold(): Promise<void> {
    const call = this.#current?.call
    if (!call?.active) return
    try {
      await (call.state === 'held' ? call.unhold() : call.hold())
    } catch {
      if (call.active) this.#say({ tone: 'warning', text: 'The server did not take that. Please try again.' })
    }
    this.#changed()
  }

  /** Sends one key. Never rejects. */
  async press(key: string): Promise<void> {
    const current = this.#current
    if (!current || (!current.call.active && current.call.state !== 'early')) return
    this.#current = { ...current, pressed: (current.pressed + key).slice(-LONGEST_KEYS) }
    this.#changed()
    try {
      await current.call.sendDigits(key)
    } catch {
      if (current.call.active) this.#say({ tone: 'warning', text: `The key ${key} could not be sent.` })
    }
  }

  #ring(invite: Invite): void {
    const { callID, caller_id_name, caller_id_number } = invite.details
    const number = caller_id_number || 'Unknown number'
    const waiting: Waiting = { id: callID, invite, name: caller_id_name || number, number, answering: false }
    this.#waiting = [...this.#waiting, waiting]
    this.#say(undefined)
    void invite.canceled.then((reason) => this.#missed(waiting, reason))
  }

  #missed(waiting: Waiting, reason: ClientError): void {
    this.#remove(waiting.id)
    if (reason.code !== 'answered_elsewhere') this.#remember(waiting, 'missed')
    this.#say({ tone: 'plain', text: missedMessage(reason, waiting.name) })
  }

  #take(call: Call, name: string, number: string): void {
    const answeredAt = call.active ? this.#clock.now() : undefined
    this.#current = { call, direction: call.direction, name, number, answeredAt, pressed: '', received: '' }
    call.on('state', () => this.#advanced(call))
    call.on('mute', () => this.#changed())
    call.on('track', () => this.#changed())
    call.on('dtmf', ({ digits }) => this.#heard(call, digits))
    call.on('destroy', ({ reason }) => this.#ended(call, reason))
    // It may have ended between the answer and this line.
    if (call.state === 'ended') this.#ended(call, call.reason)
    this.#changed()
  }

  #advanced(call: Call): void {
    const current = this.#current
    if (current?.call !== call) return
    if (call.active && current.answeredAt === undefined)
      this.#current = { ...current, answeredAt: this.#clock.now() }
    this.#changed()
  }

  #heard(call: Call, digits: string): void {
    const current = this.#current
    if (current?.call !== call) return
    this.#current = { ...current, received: (current.received + digits).slice(-LONGEST_KEYS) }
    this.#changed()
  }

  #ended(call: Call, reason: ClientError | undefined): void {
    if (this.#current?.call !== call) return
    this.#current = undefined
    this.#say({ tone: isFailure(reason) ? 'warning' : 'plain', text: endMessage(reason) })
  }

  #remember({ name, number }: Waiting, direction: 'inbound' | 'missed'): void {
    this.#recents.add({ to: number, name, direction, at: this.#clock.now() })
  }

  #update(id: string, change: Partial<Waiting>): void {
    this.#waiting = this.#waiting.map((other) => (other.id === id ? { ...other, ...change } : other))
    this.#changed()
  }

  #remove(id: string): void {
    this.#waiting = this.#waiting.filter((other) => other.id !== id)
    this.#changed()
  }

  #say(notice: Notice | undefined): void {
    this.#notice = notice
    this.#changed()
  }
}
