import { type Call, ClientError } from '@trunkline/client'
import type { DeviceKind, Devices } from './devices.ts'
import type { Line, Lines } from './lines.ts'
import { mediaMessage } from './messages.ts'
import { texts } from './texts/language.ts'

/** Commands on the running calls. They never reject: failures are reported to `warn`. */
export class Controls {
  readonly #lines: Lines
  readonly #devices: Devices
  readonly #changed: () => void
  readonly #warn: (text: () => string) => void

  constructor(lines: Lines, devices: Devices, tell: { changed(): void; warn(text: () => string): void }) {
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
    // The microphone is off whatever the server answers, so a failure is not reported.
    void done.catch(() => {})
    this.#changed()
  }

  /** Puts the current call on hold, or resumes it. */
  async toggleHold(): Promise<void> {
    const call = this.#lines.current?.call
    if (!call?.active) return
    await this.#try(call, () => (call.state === 'held' ? call.unhold() : call.hold()))
  }

  /** Puts the current call on hold if possible, so that another one can start. */
  async holdCurrent(): Promise<void> {
    const call = this.#lines.current?.call
    if (call?.state === 'active') await this.#try(call, () => call.hold())
  }

  /** Puts the current call on hold and makes this one current. */
  async swap({ call }: Line): Promise<void> {
    await this.holdCurrent()
    this.#lines.focus(call)
    if (call.state === 'held') await this.#try(call, () => call.unhold())
  }

  /** Sends one digit. */
  async press(key: string): Promise<void> {
    const call = this.#lines.current?.call
    if (!call || (!call.active && call.state !== 'early')) return
    this.#lines.pressed(call, key)
    await this.#try(
      call,
      () => call.sendDigits(key),
      () => texts.value.keyFailed(key),
    )
  }

  /** Starts or stops sending the camera; video of the far side continues. */
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

  /** Shares a screen that the user chooses, or stops sharing. */
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

  /** Transfers a call to a destination (blind). If that fails, the call continues. */
  async transfer({ call }: Line, to: string): Promise<void> {
    await this.#try(
      call,
      () => call.transfer(to),
      () => texts.value.transferFailed,
    )
  }

  /** Adds a person to a call. If the person does not answer, the call continues as before. */
  async add({ call, adding }: Line, to: string, name: string): Promise<void> {
    if (!adding) this.#lines.adding(call, name)
    await this.#try(
      call,
      () => call.add(to),
      () => texts.value.addFailed,
    )
    if (!adding) this.#lines.adding(call, undefined)
  }

  /** Connects the other party of a held call with that of the current call (attended transfer). */
  async connect(held: Line): Promise<void> {
    const call = this.#lines.current?.call
    if (!call?.active) return
    await this.#try(
      call,
      () => call.transfer(held.call),
      () => texts.value.transferFailed,
    )
  }

  /** Stores a choice of device and uses it in the running calls; undefined: the browser's choice. */
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

  async #try(call: Call, run: () => Promise<unknown>, otherwise?: () => string): Promise<void> {
    try {
      await run()
    } catch (error) {
      // Closing the browser's chooser is not reported.
      const chosen = error instanceof ClientError && error.code === 'screen_refused'
      if (call.active && !chosen) this.#warn(otherwise ?? (() => mediaMessage(error)))
    }
    this.#changed()
  }
}
