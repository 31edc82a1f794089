import type { Call, ClientError } from '@trunkline/client'

/** Who is at the other end, as the page shows it. */
export interface Party {
  readonly name: string
  readonly number: string
}

/** A call that goes on. */
export interface Line extends Party {
  readonly call: Call
  readonly direction: 'inbound' | 'outbound'
  /** Milliseconds since the epoch; undefined until answered. */
  readonly answeredAt: number | undefined
  /** Keys that we pressed, and those that the far side pressed. */
  readonly pressed: string
  readonly received: string
  /** The path of sound and pictures broke, and a new one is sought. */
  readonly broken: boolean
}

/** What the lines tell, and where they take the time from. */
export interface LinesOwner {
  now(): number
  changed(): void
  ended(reason: ClientError | undefined): void
  /** Something of a line that the person should know. */
  warn(text: string): void
}

const LONGEST_KEYS = 32

/** The calls that go on: one in front, the others on hold behind it. */
export class Lines {
  readonly #owner: LinesOwner
  #list: readonly Line[] = []

  constructor(owner: LinesOwner) {
    this.#owner = owner
  }

  /** The one in front comes first. */
  get list(): readonly Line[] {
    return this.#list
  }

  get current(): Line | undefined {
    return this.#list[0]
  }

  /** Puts a call in front and follows it until its end. `answeredAt`: of a call that comes back after a reload. */
  take(call: Call, party: Party, answeredAt: number | undefined = undefined): void {
    const since = answeredAt ?? (call.active ? this.#owner.now() : undefined)
    const line = { call, ...party, direction: call.direction, answeredAt: since }
    this.#list = [{ ...line, pressed: '', received: '', broken: false }, ...this.#list]
    this.#follow(call)
    // It may have ended between the answer and this line.
    if (call.state === 'ended') this.#ended(call, call.reason)
    else this.#owner.changed()
  }

  /** Puts a call in front. */
  focus(call: Call): void {
    const line = this.#of(call)
    if (!line) return
    this.#list = [line, ...this.#list.filter((other) => other !== line)]
    this.#owner.changed()
  }

  /** Notes a key that was pressed here. */
  pressed(call: Call, key: string): void {
    this.#patch(call, ({ pressed }) => ({ pressed: (pressed + key).slice(-LONGEST_KEYS) }))
  }

  #follow(call: Call): void {
    const changed = () => this.#owner.changed()
    call.on('state', () => {
      this.#patch(call, ({ answeredAt }) => ({
        answeredAt: answeredAt ?? (call.active ? this.#owner.now() : undefined),
      }))
    })
    for (const name of ['mute', 'track', 'video', 'microphone.updated', 'camera.updated'] as const)
      call.on(name, changed)
    call.on('media.reconnecting', () => this.#patch(call, () => ({ broken: true })))
    call.on('media.connected', () => this.#patch(call, () => ({ broken: false })))
    call.on('microphone.disconnected', () =>
      this.#owner.warn('The microphone was unplugged. Choose another one.'),
    )
    call.on('camera.disconnected', () => this.#owner.warn('The camera was unplugged. Choose another one.'))
    call.on('display', ({ name, number }) =>
      this.#patch(call, (line) => ({ name: name || line.name, number: number || line.number })),
    )
    call.on('dtmf', ({ digits }) =>
      this.#patch(call, ({ received }) => ({ received: (received + digits).slice(-LONGEST_KEYS) })),
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
    this.#owner.ended(reason)
  }
}
