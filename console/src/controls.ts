import { type Call, ClientError } from '@trunkline/client'
import type { DeviceKind, Devices } from './devices.ts'
import type { Line, Lines } from './lines.ts'
import { mediaMessage } from './messages.ts'

/** What can be done to the calls that go on. Nothing here rejects: what fails is told to `warn`. */
export class Controls {
  readonly #lines: Lines
  readonly #devices: Devices
  readonly #changed: () => void
  readonly #warn: (text: string) => void

  constructor(lines: Lines, devices: Devices, tell: { changed(): void; warn(text: string): void }) {
    this.#lines = lines
    this.#devices = devices
    this.#changed = tell.changed
    this.#warn = tell.warn
  }

  hangup(line: Line | undefined = this.#lines.current): void {
    void line?.call.hangup()
  }

  toggleMute(): void {
    const call = this.#lines.current?.call
    if (!call) return
    const done = call.muted.audio ? call.audioUnmute() : call.audioMute()
    // The microphone is off whatever the server says; nothing is to be told.
    void done.catch(() => {})
    this.#changed()
  }

  /** Holds the call in front or takes it back. */
  async toggleHold(): Promise<void> {
    const call = this.#lines.current?.call
    if (!call?.active) return
    await this.#try(call, () => (call.state === 'held' ? call.unhold() : call.hold()))
  }

  /** Holds the call in front where it can be held, so that another one may begin. */
  async holdCurrent(): Promise<void> {
    const call = this.#lines.current?.call
    if (call?.state === 'active') await this.#try(call, () => call.hold())
  }

  /** Holds the call in front, and takes this one in its place. */
  async swap({ call }: Line): Promise<void> {
    await this.holdCurrent()
    this.#lines.focus(call)
    if (call.state === 'held') await this.#try(call, () => call.unhold())
  }

  /** Sends one key. */
  async press(key: string): Promise<void> {
    const call = this.#lines.current?.call
    if (!call || (!call.active && call.state !== 'early')) return
    this.#lines.pressed(call, key)
    await this.#try(call, () => call.sendDigits(key), `The key ${key} could not be sent.`)
  }

  /** Sends the camera or stops it; the pictures of the far side stay. */
  async toggleCamera(): Promise<void> {
    const call = this.#lines.current?.call
    if (!call?.active) return
    const constraints = this.#devices.constraints('camera')
    const video = call.video.local
      ? ({ direction: 'recvonly' } as const)
      : ({ direction: 'sendrecv', ...(constraints && { constraints }) } as const)
    await this.#try(call, () => call.updateMedia({ video }))
    void this.#devices.refresh()
  }

  /** Shares a screen that the person chooses, or stops sharing. */
  async toggleShare(): Promise<void> {
    const call = this.#lines.current?.call
    if (!call?.active) return
    const shared = call.screenShareList.find(({ state }) => state !== 'ended')
    await this.#try(call, async () => {
      if (shared) return shared.leave()
      const share = await call.startScreenShare()
      share.on('destroy', () => this.#changed())
    })
  }

  /** Remembers a device and uses it in the calls that go on; undefined: the browser's own choice. */
  async choose(kind: DeviceKind, id: string | undefined): Promise<void> {
    this.#devices.choose(kind, id)
    const deviceId = id ?? 'default'
    for (const { call } of this.#lines.list)
      await this.#try(call, async () => {
        if (kind === 'speaker') return call.updateSpeaker({ deviceId: id ?? '' })
        if (kind === 'microphone') return call.updateMicrophone({ deviceId })
        if (call.video.local) return call.updateCamera({ deviceId })
      })
  }

  async #try(call: Call, run: () => Promise<unknown>, otherwise?: string): Promise<void> {
    try {
      await run()
    } catch (error) {
      // Who closes the chooser of the browser knows it.
      const chosen = error instanceof ClientError && error.code === 'screen_refused'
      if (call.active && !chosen) this.#warn(otherwise ?? mediaMessage(error))
    }
    this.#changed()
  }
}
