import type {
  Client,
  ClientError,
  Clock,
  ConnectionState,
  DecryptedPush,
  ErrorCode,
  Invite,
  Timer,
} from '@trunkline/client'
import { Controls } from './controls.ts'
import type { Devices } from './devices.ts'
import { type Line, Lines, type Party } from './lines.ts'
import { type CallMemory, type CallResult, type RecentCalls, resultOf } from './memory.ts'
import { connectionMessage, dialMessage, endMessage, isFailure, missedMessage } from './messages.ts'
import type { RoomRejection, RoomRemoval, RoomWait, WaitingRoom } from './room-wait.ts'
import { texts } from './texts/language.ts'

/** Part of the {@link Client} that the phone uses. */
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

/** Collaborators of a {@link Phone}. */
export interface PhoneDeps {
  readonly client: PhoneClient
  readonly clock: Clock
  readonly recents: RecentCalls
  readonly memory: CallMemory
  readonly devices: Devices
  /** Runs after every change of the getters' values. */
  readonly changed: () => void
}

/** Message for the user. */
export interface Notice {
  readonly tone: 'plain' | 'warning'
  /** Text in the present language of the page. */
  readonly text: string
  /** Party of a call that failed, to call again. */
  readonly again?: Party
}

/** Longest time in which a call may ring, in milliseconds. A gateway that was restarted reports no end. */
export const maxRingMs = 180_000

/** Incoming call that waits for an answer. */
export interface Incoming extends Party {
  readonly id: string
  /** Whether the caller offers video. */
  readonly video: boolean
  readonly answering: boolean
}

interface Waiting extends Incoming {
  readonly invite: Invite
  readonly limit: Timer
}

/**
 * Softphone without its views: running and incoming calls. Its methods never reject: failures become the
 * notice.
 */
export class Phone {
  readonly controls: Controls
  readonly #deps: PhoneDeps
  readonly #lines: Lines
  #waiting: readonly Waiting[] = []
  #dialling = false
  #switching = false
  #notice: Notice | undefined
  #rooms: RoomWait | undefined

  constructor(deps: PhoneDeps) {
    this.#deps = deps
    const warn = (text: () => string) => this.warn(text)
    const changed = () => this.#changed()
    this.#lines = new Lines({
      changed,
      warn,
      now: () => deps.clock.now(),
      ended: (line, reason) => this.#ended(line, reason),
    })
    this.controls = new Controls(this.#lines, deps.devices, { changed, warn })
    deps.client.on('connection', changed)
  }

  get connection(): ConnectionState {
    return this.#deps.client.connectionState
  }

  get isOnline(): boolean {
    return this.#deps.client.isOnline
  }

  /** Whether a change to online or offline is in progress. */
  get isSwitching(): boolean {
    return this.#switching
  }

  get incoming(): readonly Incoming[] {
    return this.#waiting
  }

  /** Running calls, the current one first. */
  get lines(): readonly Line[] {
    return this.#lines.list
  }

  get current(): Line | undefined {
    return this.#lines.current
  }

  /** Wait for a room that rejected the user; undefined before the first such room. */
  get rooms(): RoomWait | undefined {
    return this.#rooms
  }

  /** Whether the user waits for a room. The current call, if any, is then another attempt to join. */
  get isWaiting(): boolean {
    const { current } = this.#lines
    const rooms = this.#rooms
    if (!rooms?.room) return false
    return current === undefined || (rooms.isAttempt(current.to) && !current.call.active)
  }

  /** Whether a call is being placed or answered, during which no other one can be. */
  get isBusy(): boolean {
    return this.#dialling || this.#waiting.some(({ answering }) => answering)
  }

  get notice(): Notice | undefined {
    return this.#notice
  }

  /**
   * Shows a warning, or a plain notice. `text` is called for each display, so that it follows the language of
   * the page.
   */
  warn(text: () => string, tone: Notice['tone'] = 'warning'): void {
    this.#say(tone, text)
  }

  /** Removes the notice. */
  dismiss(): void {
    this.#notice = undefined
    this.#changed()
  }

  /** Goes online or offline. */
  async setOnline(online: boolean): Promise<void> {
    if (this.#switching) return
    this.#switching = true
    this.#changed()
    try {
      if (online) await this.#deps.client.online({})
      else await this.#deps.client.offline()
      this.dismiss()
    } catch (error) {
      this.warn(() => connectionMessage(error))
    }
    this.#switching = false
    this.#changed()
  }

  /**
   * Calls an address, number or SIP URI, and puts the running call on hold. `video`: with the camera, default
   * false. `watches`: receives the picture of a room without the camera. `name`: name that is shown, default
   * `to`.
   */
  async dial(to: string, { video = false, watches = false, name = to } = {}): Promise<void> {
    if (this.isBusy) return
    const isAgain = this.#rooms?.isAttempt(to) ?? false
    if (!isAgain) this.#rooms?.stop()
    this.#dialling = true
    this.dismiss()
    const { client, devices, recents, clock } = this.#deps
    try {
      await this.controls.holdCurrent()
      // While the user waits for a room, each try would open the devices in vain.
      const later = isAgain && { devicesAfterAnswer: true }
      const call = await client.dial({ to, ...devices.options({ video, watches }), ...later })
      this.#take(call, { name, number: to }, undefined, video)
      if (!isAgain) recents.add({ to, name, direction: 'outbound', at: clock.now() })
      this.#limitRinging(call)
      // The call's events report its end.
      void call.start().catch(() => {})
    } catch (error) {
      this.#rooms?.stop()
      this.warn(() => dialMessage(error))
    }
    this.#dialling = false
    this.#changed()
  }

  /** Shows an incoming call of the client. */
  ring(invite: Invite): void {
    const { callID, caller_id_name, caller_id_number, sdp } = invite.details
    const number = caller_id_number || texts.value.unknownNumber
    const party = { id: callID, name: caller_id_name || number, number }
    const limit = this.#deps.clock.after(maxRingMs, () => this.#giveUp(callID))
    const waiting: Waiting = { ...party, invite, limit, video: offersVideo(sdp), answering: false }
    this.#waiting = [...this.#waiting, waiting]
    this.dismiss()
    void invite.canceled.then((reason) => this.#missed(waiting, reason))
  }

  /** Answers an incoming call, with the camera if `video`, and puts the running call on hold. */
  async accept(id: string, { video = false } = {}): Promise<void> {
    const waiting = this.#find(id)
    if (!waiting || this.isBusy) return
    this.#update(id, { answering: true })
    this.#rooms?.stop()
    this.dismiss()
    try {
      await this.controls.holdCurrent()
      const call = await waiting.invite.accept(this.#deps.devices.options({ video }))
      this.#remove(id)
      this.#take(call, waiting)
      this.#remember(waiting, 'inbound')
    } catch (error) {
      // After a failure of the microphone the call still waits and can be accepted again.
      const pending = waiting.invite.isPending
      // If the call was declined meanwhile, this was already reported.
      if (this.#find(id)) this.warn(() => endMessage(error))
      if (pending) this.#update(id, { answering: false })
      else this.#remove(id)
    }
    this.#changed()
  }

  /** Declines an incoming call. */
  reject(id: string): void {
    const waiting = this.#find(id)
    if (!waiting) return
    this.#remove(id)
    this.#remember(waiting, 'missed', 'declined')
    this.#say('plain', () => texts.value.declinedFrom(waiting.name))
    void waiting.invite.reject().catch(() => {})
  }

  /** Takes the call of a push notification. The call is answered at once if `answer`, otherwise it rings. */
  async pushed(push: DecryptedPush, answer: boolean): Promise<void> {
    try {
      const { resultObject: call } = await this.#deps.client.handlePushNotification(push)
      if (!this.#find(call.id) && !this.#lines.list.some((line) => line.call.id === call.id))
        this.#say('plain', () =>
          missedMessage(call.reason, push.incoming_caller_name || texts.value.unknownCaller),
        )
      else if (answer) await this.accept(call.id)
    } catch (error) {
      this.warn(() => connectionMessage(error))
    }
  }

  /** Returns to the call that the page had before it was reloaded, if any. */
  async reattach(): Promise<void> {
    const { client, devices, memory } = this.#deps
    const kept = memory.call
    if (!kept) return
    try {
      const call = await client.reattach(devices.options(kept))
      this.#take(call, kept, kept.answeredAt)
      void call.start().catch(() => {})
    } catch {
      // The call has ended.
      memory.keep(undefined)
    }
    this.#changed()
  }

  /**
   * Handles the end of the page: hangs up all calls that a reloaded page could not restore.
   * Returns true if one call is kept.
   */
  leave(): boolean {
    const { current } = this.#lines
    for (const line of this.#lines.list) if (line !== current || !line.call.active) this.controls.hangup(line)
    return current?.call.active ?? false
  }

  #missed(waiting: Waiting, reason: ClientError): void {
    // Declined here while the far side cancelled.
    if (!this.#find(waiting.id)) return
    this.#remove(waiting.id)
    if (reason.code !== 'answered_elsewhere') this.#remember(waiting, 'missed', 'missed')
    this.#say('plain', () => missedMessage(reason, waiting.name))
  }

  #take(call: Line['call'], { name, number }: Party, answeredAt?: number, video = false): void {
    this.#lines.take(call, { name, number }, answeredAt, video)
    const speaker = this.#deps.devices.chosen('speaker')
    if (speaker) void call.updateSpeaker({ deviceId: speaker }).catch(() => {})
    // The browser reports the names of its devices by now.
    void this.#deps.devices.refresh()
  }

  // A held call stays on hold until the user resumes it.
  #ended({ call, name, to, answeredAt, video = false }: Line, reason: ClientError | undefined): void {
    const { memory, recents, clock } = this.#deps
    memory.keep(undefined)
    const duration = answeredAt && clock.now() - answeredAt
    recents.finish(to, resultOf(reason, Boolean(answeredAt)), duration)
    const code = reason?.code
    if (!answeredAt && mayPass(code)) {
      void this.#waitFor({ name, number: to, code, video })
      return
    }
    if (this.#rooms?.isAttempt(to)) this.#rooms.stop()
    if (answeredAt && isRemoval(code)) {
      void loadRooms().then(
        ({ sayRemoval }) => sayRemoval(this, code),
        () => this.warn(() => texts.value.ended, 'plain'),
      )
      return
    }
    const noMedia = code === 'media_lost' && !call.hasMedia
    const text = () => (noMedia ? texts.value.endNoMedia : endMessage(reason))
    const isHopeless = code === 'unknown_address' || code === 'not_permitted'
    if (!isFailure(reason)) this.#say('plain', text)
    else this.#say('warning', text, isHopeless ? undefined : { name, number: to })
  }

  async #waitFor(room: WaitingRoom): Promise<void> {
    const { clock } = this.#deps
    try {
      const { RoomWait, rejectionText } = await loadRooms()
      // A user with another call does not wait.
      if (this.#lines.list.length > 0) {
        this.#say('warning', () => rejectionText(room.code), room)
        return
      }
      this.#rooms ??= new RoomWait({
        clock,
        dial: ({ number, name, video }) => void this.dial(number, { name, video, watches: !video }),
        changed: () => this.#changed(),
      })
      this.#rooms.rejected(room)
    } catch {
      this.#say('warning', () => texts.value.endNotCompleted, room)
    }
  }

  #limitRinging(call: Line['call']): void {
    this.#deps.clock.after(maxRingMs, () => {
      if (!call.active && call.state !== 'ended') void call.hangup()
    })
  }

  #giveUp(id: string): void {
    const waiting = this.#find(id)
    if (!waiting || waiting.answering) return
    this.#remove(id)
    this.#remember(waiting, 'missed', 'missed')
    this.#say('plain', () => texts.value.missedFrom(waiting.name))
  }

  #remember({ name, number }: Party, direction: 'inbound' | 'missed', result?: CallResult): void {
    const at = this.#deps.clock.now()
    this.#deps.recents.add({ to: number, name, direction, at, ...(result && { result }) })
  }

  #find(id: string): Waiting | undefined {
    return this.#waiting.find((other) => other.id === id)
  }

  #update(id: string, change: Partial<Waiting>): void {
    this.#waiting = this.#waiting.map((other) => (other.id === id ? { ...other, ...change } : other))
    this.#changed()
  }

  #remove(id: string): void {
    this.#find(id)?.limit.cancel()
    this.#waiting = this.#waiting.filter((other) => other.id !== id)
    this.#changed()
  }

  #say(tone: Notice['tone'], write: () => string, again?: Party): void {
    this.#notice = {
      tone,
      get text() {
        return write()
      },
      ...(again && { again }),
    }
    this.#changed()
  }

  #changed(): void {
    const { current } = this.#lines
    if (current?.call.active && current.answeredAt !== undefined) {
      const { call, name, number, answeredAt } = current
      const watches = call.room !== undefined
      if (this.#rooms?.isAttempt(current.to)) this.#rooms.stop()
      this.#deps.memory.keep({ id: call.id, name, number, answeredAt, video: call.video.local, watches })
    }
    this.#deps.changed()
  }
}

/** Whether a room rejected the call for a reason that may pass by itself. */
const mayPass = (code: ErrorCode | undefined): code is RoomRejection =>
  /^room_(locked|not_open|full)$/.test(`${code}`)

const isRemoval = (code: ErrorCode | undefined): code is RoomRemoval =>
  /^room_(removed|ended|expired)$/.test(`${code}`)

const loadRooms = () => import('./room-wait.ts')

// A video section of the offer (RFC 8866) that is not rejected.
const offersVideo = (sdp: string): boolean => /^m=video [1-9]/m.test(sdp)
