import type { Call, ClientError } from '@trunkline/client'
import { readableName } from './format.ts'
import { texts } from './texts/language.ts'
import { agentEvents, type Said, withEvent } from './transcript.ts'

/** Far end of a call, as the page shows it. */
export interface Party {
  readonly name: string
  readonly number: string
}

/** Running call. */
export interface Line extends Party {
  readonly call: Call
  /** Destination to call again; `number` may change during the call. */
  readonly to: string
  readonly direction: 'inbound' | 'outbound'
  /** Milliseconds since the epoch; undefined until answered. */
  readonly answeredAt: number | undefined
  /** Digits pressed here and by the far side. */
  readonly pressed: string
  readonly received: string
  /** Words of the user and of a voice agent so far. */
  readonly said: readonly Said[]
  /** Whether the media path failed and is being restored. */
  readonly broken: boolean
  /** Whether the user dialled with the camera. */
  readonly video?: boolean
  /** Name of the person who is being added to the call. */
  readonly adding?: string | undefined
}

/** Callbacks and clock of {@link Lines}. */
export interface LinesOwner {
  now(): number
  changed(): void
  ended(line: Line, reason: ClientError | undefined): void
  /** Reports a warning about a line to the user. */
  warn(text: () => string): void
}

const maxDigits = 32

/** Returns the name of the far side: of the room, or of all others in a call of several people. */
export const namesOf = ({ call, name }: Line): string => {
  if (call.room) return call.room.name
  const others = call.members.filter(
    ({ member_id, type }) => type !== 'screen' && member_id !== call.memberId,
  )
  const names = new Set(others.map((other) => readableName(other.name ?? '')))
  return names.size > 1 ? [...names].join(', ') : readableName(name)
}

/** Running calls: the current one, and others on hold. */
export class Lines {
  readonly #owner: LinesOwner
  #list: readonly Line[] = []

  constructor(owner: LinesOwner) {
    this.#owner = owner
  }

  /** Running calls, the current one first. */
  get list(): readonly Line[] {
    return this.#list
  }

  get current(): Line | undefined {
    return this.#list[0]
  }

  /**
   * Makes a call the current one and follows it until its end. `answeredAt` is for a call restored after a
   * reload. `video`: whether the user dialled with the camera.
   */
  take(call: Call, party: Party, answeredAt: number | undefined = undefined, video = false): void {
    const since = answeredAt ?? (call.active ? this.#owner.now() : undefined)
    const line = { call, ...party, to: party.number, direction: call.direction, answeredAt: since, video }
    this.#list = [{ ...line, pressed: '', received: '', said: [], broken: false }, ...this.#list]
    this.#follow(call)
    // The call may have ended between the answer and this point.
    if (call.state === 'ended') this.#ended(call, call.reason)
    else this.#owner.changed()
  }

  /** Makes a call current. */
  focus(call: Call): void {
    const line = this.#of(call)
    if (!line) return
    this.#list = [line, ...this.#list.filter((other) => other !== line)]
    this.#owner.changed()
  }

  /** Records a digit that was pressed here. */
  pressed(call: Call, key: string): void {
    this.#patch(call, ({ pressed }) => ({ pressed: (pressed + key).slice(-maxDigits) }))
  }

  /** Records the name of the person who is being added to the call; undefined: no longer. */
  adding(call: Call, adding: string | undefined): void {
    this.#patch(call, () => ({ adding }))
  }

  #follow(call: Call): void {
    const changed = () => this.#owner.changed()
    call.on('call.joined', () => call.room?.on('layouts', changed))
    call.on('state', () => {
      this.#patch(call, ({ answeredAt }) => ({
        answeredAt: answeredAt ?? (call.active ? this.#owner.now() : undefined),
      }))
    })
    for (const name of [
      'mute',
      'track',
      'video',
      'microphone.updated',
      'camera.updated',
      'quality',
      'memberList.updated',
      'member.talking',
      'layout.changed',
      'call.updated',
      'call.left',
    ] as const)
      call.on(name, changed)
    for (const name of agentEvents)
      call.on(name, (params) => this.#patch(call, ({ said }) => ({ said: withEvent(said, name, params) })))
    call.on('media.reconnecting', () => this.#patch(call, () => ({ broken: true })))
    call.on('media.connected', () => this.#patch(call, () => ({ broken: false })))
    call.on('microphone.disconnected', () => this.#owner.warn(() => texts.value.microphoneGone))
    call.on('camera.disconnected', () => this.#owner.warn(() => texts.value.cameraGone))
    call.on('display', ({ name, number }) =>
      this.#patch(call, (line) => ({ name: name || line.name, number: number || line.number })),
    )
    call.on('dtmf', ({ digits }) =>
      this.#patch(call, ({ received }) => ({ received: (received + digits).slice(-maxDigits) })),
    )
    call.on('destroy', ({ reason }) => this.#ended(call, reason))
  }

  #of(call: Call): Line | undefined {
    return this.#list.find((line) => line.call === call)
  }

  #patch(call: Call, change: (line: Line) => Partial<Line>): void {
    this.#list = this.#list.map((line) => (line.call === call ? { ...line, ...change(line) } : line))
    this.#owner.changed()
  }

  #ended(call: Call, reason: ClientError | undefined): void {
    const line = this.#of(call)
    if (!line) return
    this.#list = this.#list.filter((other) => other !== line)
    this.#owner.ended(line, reason)
  }
}
