import type { Client, ClientError, Clock, ConnectionState, DecryptedPush, Invite } from '@trunkline/client'
import { Controls } from './controls.ts'
import type { Devices } from './devices.ts'
import { type Line, Lines, type Party } from './lines.ts'
import type { CallMemory, RecentCalls } from './memory.ts'
import { connectionMessage, dialMessage, endMessage, isFailure, missedMessage } from './messages.ts'

/** The part of the {@link Client} that the phone uses. */
export type PhoneClient = Pick<
  Client,
  | 'online'
  | 'offline'
  | 'dial'
  | 'reattach'
  | 'handlePushNotification'
  | 'disconnect'
  | 'on'
  | 'connectionState'
  | 'isOnline'
>

/** What a {@link Phone} is made of. */
export interface PhoneParts {
  readonly client: PhoneClient
  readonly clock: Clock
  readonly recents: RecentCalls
  readonly memory: CallMemory
  readonly devices: Devices
  /** Runs after every change of what the getters give. */
  readonly changed: () => void
}

/** A sentence for the person. */
export interface Notice {
  readonly tone: 'plain' | 'warning'
  readonly text: string
}

/** A call that waits for an answer. */
export interface Incoming extends Party {
  readonly id: string
  /** The caller would like to be seen. */
  readonly video: boolean
  readonly answering: boolean
}

interface Waiting extends Incoming {
  readonly invite: Invite
}

/** The softphone without its face: the calls that go on, and those that wait. Nothing of it rejects: what fails becomes the notice. */
export class Phone {
  readonly controls: Controls
  readonly #parts: PhoneParts
  readonly #lines: Lines
  #waiting: readonly Waiting[] = []
  #dialling = false
  #switching = false
  #notice: Notice | undefined

  constructor(parts: PhoneParts) {
    this.#parts = parts
    const warn = (text: string) => this.#say({ tone: 'warning', text })
    const changed = () => this.#changed()
    this.#lines = new Lines({
      changed,
      warn,
      now: () => parts.clock.now(),
      ended: (reason) => this.#ended(reason),
    })
    this.controls = new Controls(this.#lines, parts.devices, { changed, warn })
    parts.client.on('connection', changed)
  }

  get connection(): ConnectionState {
    return this.#parts.client.connectionState
  }

  get isOnline(): boolean {
    return this.#parts.client.isOnline
  }

  /** True while going online or offline. */
  get isSwitching(): boolean {
    return this.#switching
  }

  get incoming(): readonly Incoming[] {
    return this.#waiting
  }

  /** The calls that go on, the one in front first. */
  get lines(): readonly Line[] {
    return this.#lines.list
  }

  get current(): Line | undefined {
    return this.#lines.current
  }

  /** True while a call is being made or answered: no other one can be meanwhile. */
  get isBusy(): boolean {
    return this.#dialling || this.#waiting.some(({ answering }) => answering)
  }

  get notice(): Notice | undefined {
    return this.#notice
  }

  /** Takes the notice away. */
  dismiss(): void {
    this.#say(undefined)
  }

  /** Goes online or offline. */
  async setOnline(online: boolean): Promise<void> {
    if (this.#switching) return
    this.#switching = true
    this.#changed()
    try {
      if (online) await this.#parts.client.online({})
      else await this.#parts.client.offline()
      this.#say(undefined)
    } catch (error) {
      this.#say({ tone: 'warning', text: connectionMessage(error) })
    }
    this.#switching = false
    this.#changed()
  }

  /** Calls an address, number or SIP URI; a call that goes on is held meanwhile. `name`: what is shown, default `to`. */
  async dial(to: string, { video = false, name = to } = {}): Promise<void> {
    if (this.isBusy) return
    this.#dialling = true
    this.#say(undefined)
    const { client, devices, recents, clock } = this.#parts
    try {
      await this.controls.holdCurrent()
      const call = await client.dial({ to, ...devices.options({ video }) })
      this.#take(call, { name, number: to })
      recents.add({ to, name, direction: 'outbound', at: clock.now() })
      // How it ends is told by the call itself.
      void call.start().catch(() => {})
    } catch (error) {
      this.#say({ tone: 'warning', text: dialMessage(error) })
    }
    this.#dialling = false
    this.#changed()
  }

  /** Takes an incoming call of the client: it rings. */
  ring(invite: Invite): void {
    const { callID, caller_id_name, caller_id_number, sdp } = invite.details
    const number = caller_id_number || 'Unknown number'
    const party = { id: callID, name: caller_id_name || number, number }
    const waiting: Waiting = { ...party, invite, video: offersVideo(sdp), answering: false }
    this.#waiting = [...this.#waiting, waiting]
    this.#say(undefined)
    void invite.canceled.then((reason) => this.#missed(waiting, reason))
  }

  /** Answers a waiting call; one that goes on is held meanwhile. */
  async accept(id: string, { video = false } = {}): Promise<void> {
    const waiting = this.#find(id)
    if (!waiting || this.isBusy) return
    this.#update(id, { answering: true })
    this.#say(undefined)
    try {
      await this.controls.holdCurrent()
      const call = await waiting.invite.accept(this.#parts.devices.options({ video }))
      this.#remove(id)
      this.#take(call, waiting)
      this.#remember(waiting, 'inbound')
    } catch (error) {
      // After a failure of the microphone the call still waits, and can be tried again.
      const pending = waiting.invite.isPending
      // Declined meanwhile: that was told.
      if (this.#find(id)) this.#say({ tone: 'warning', text: endMessage(error) })
      if (pending) this.#update(id, { answering: false })
      else this.#remove(id)
    }
    this.#changed()
  }

  /** Declines a waiting call. */
  reject(id: string): void {
    const waiting = this.#find(id)
    if (!waiting) return
    this.#remove(id)
    this.#remember(waiting, 'missed')
    this.#say({ tone: 'plain', text: `Declined the call from ${waiting.name}.` })
    void waiting.invite.reject().catch(() => {})
  }

  /** Takes a call that a push notification told of: it rings, or is answered at once. */
  async pushed(push: DecryptedPush, answer: boolean): Promise<void> {
    try {
      const { resultObject: call } = await this.#parts.client.handlePushNotification(push)
      if (!this.#find(call.id) && !this.#lines.list.some((line) => line.call.id === call.id))
        this.#say({
          tone: 'plain',
          text: missedMessage(call.reason, push.incoming_caller_name || 'somebody'),
        })
      else if (answer) await this.accept(call.id)
    } catch (error) {
      this.#say({ tone: 'warning', text: connectionMessage(error) })
    }
  }

  /** Comes back to the call that the page had before it was loaded anew, if there is one. */
  async reattach(): Promise<void> {
    const { client, devices, memory } = this.#parts
    const kept = memory.call
    if (!kept) return
    try {
      const call = await client.reattach(devices.options({ video: kept.video }))
      this.#take(call, kept, kept.answeredAt)
      void call.start().catch(() => {})
    } catch {
      // It is over: there is nothing to come back to.
      memory.keep(undefined)
    }
    this.#changed()
  }

  /** The page goes: hangs up whatever a page that is loaded in its place could not come back to. True: one call is to be kept. */
  leave(): boolean {
    const { current } = this.#lines
    for (const line of this.#lines.list) if (line !== current || !line.call.active) this.controls.hangup(line)
    return current?.call.active ?? false
  }

  #missed(waiting: Waiting, reason: ClientError): void {
    // Declined here, while the far side gave up.
    if (!this.#find(waiting.id)) return
    this.#remove(waiting.id)
    if (reason.code !== 'answered_elsewhere') this.#remember(waiting, 'missed')
    this.#say({ tone: 'plain', text: missedMessage(reason, waiting.name) })
  }

  #take(call: Line['call'], { name, number }: Party, answeredAt?: number): void {
    this.#lines.take(call, { name, number }, answeredAt)
    const speaker = this.#parts.devices.chosen('speaker')
    if (speaker) void call.updateSpeaker({ deviceId: speaker }).catch(() => {})
    // The browser has told the names of its devices by now.
    void this.#parts.devices.refresh()
  }

  // A call behind the one that is over stays on hold until the person takes it back.
  #ended(reason: ClientError | undefined): void {
    this.#parts.memory.keep(undefined)
    this.#say({ tone: isFailure(reason) ? 'warning' : 'plain', text: endMessage(reason) })
  }

  #remember({ name, number }: Party, direction: 'inbound' | 'missed'): void {
    this.#parts.recents.add({ to: number, name, direction, at: this.#parts.clock.now() })
  }

  #find(id: string): Waiting | undefined {
    return this.#waiting.find((other) => other.id === id)
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

  #changed(): void {
    const { current } = this.#lines
    if (current?.call.active && current.answeredAt !== undefined) {
      const { call, name, number, answeredAt } = current
      this.#parts.memory.keep({ id: call.id, name, number, answeredAt, video: call.video.local })
    }
    this.#parts.changed()
  }
}

// Of the media that are offered (RFC 8866), a video section that was not refused.
const offersVideo = (sdp: string): boolean => /^m=video [1-9]/m.test(sdp)
