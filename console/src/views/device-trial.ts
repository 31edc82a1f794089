import { ClientError } from '@trunkline/client'
import type { Devices } from '../devices.ts'
import { button, element, setText, show } from '../dom.ts'
import { endMessage } from '../messages.ts'
import { Meter } from './meter.ts'

// Codes of the SDK for errors of getUserMedia.
const codes: Readonly<Record<string, 'microphone_refused' | 'microphone_missing'>> = {
  NotAllowedError: 'microphone_refused',
  NotFoundError: 'microphone_missing',
}

const open = async (constraints: MediaStreamConstraints): Promise<MediaStream> => {
  if (!navigator.mediaDevices) throw new ClientError('insecure_page', 'no TLS')
  try {
    return await navigator.mediaDevices.getUserMedia(constraints)
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : ''
    throw new ClientError(codes[name] ?? 'microphone_failed', name, { cause })
  }
}

/** Test of the microphone, by a level meter, and of the camera. */
export class DeviceTrial {
  readonly element: HTMLElement
  readonly #devices: Devices
  readonly #meter: Meter
  readonly #picture = element('video', {
    class: 'trial-picture',
    autoplay: true,
    playsinline: true,
    'aria-label': 'Your camera',
  })
  readonly #fault = element('p', { class: 'fault', role: 'alert' })
  readonly #try: HTMLButtonElement
  #stream: MediaStream | undefined

  constructor(devices: Devices, audio: () => AudioContext) {
    this.#devices = devices
    this.#meter = new Meter('Microphone level', 'trial-level', audio)
    this.#picture.muted = true
    this.#try = button(
      { class: 'plain', 'data-testid': 'try-devices' },
      () => void this.toggle(),
      'Test devices',
    )
    this.element = element(
      'div',
      { class: 'trial' },
      this.#picture,
      this.#meter.element,
      this.#fault,
      this.#try,
    )
    this.#show()
  }

  get isOpen(): boolean {
    return this.#stream !== undefined
  }

  draw(): void {
    this.#meter.draw()
  }

  /** Opens the chosen devices, or closes them. */
  async toggle(): Promise<void> {
    if (this.#stream) return this.close()
    show(this.#fault, false)
    this.#try.disabled = true
    try {
      this.#stream = await this.#open()
      await this.#devices.refresh()
    } catch (error) {
      setText(this.#fault, endMessage(error))
      show(this.#fault, true)
    }
    this.#try.disabled = false
    this.#show()
  }

  /** Reopens the devices after another one was chosen. */
  async again(): Promise<void> {
    if (!this.#stream) return
    this.close()
    await this.toggle()
  }

  /** Releases microphone and camera. Idempotent. */
  close(): void {
    for (const track of this.#stream?.getTracks() ?? []) track.stop()
    this.#stream = undefined
    this.#show()
  }

  // The computer may have no camera.
  async #open(): Promise<MediaStream> {
    const { audio = true, video = true } = this.#devices.options({ video: true })
    try {
      return await open({ audio, video })
    } catch (error) {
      if (error instanceof ClientError && error.code === 'microphone_missing') return open({ audio })
      throw error
    }
  }

  #show(): void {
    const stream = this.#stream
    this.#meter.follow(stream)
    this.#picture.srcObject = stream ?? null
    show(this.#picture, (stream?.getVideoTracks().length ?? 0) > 0)
    show(this.#meter.element, stream !== undefined)
    if (!stream && this.#fault.textContent === '') show(this.#fault, false)
    setText(this.#try, stream ? 'Stop test' : 'Test devices')
  }
}
