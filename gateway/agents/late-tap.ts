import type {
  BackgroundSound,
  ItemPosition,
  MediaPort,
  ReflexRequest,
  Tap,
  TapEvent,
  TapFrame,
  TapRequest,
} from '../../media/types.ts'

/** Command that waits for the tap. `isSpeech`: it concerns speech, which a cut drops. */
interface Waiting {
  readonly isSpeech: boolean
  run(tap: Tap): void
  /** The speech is dropped, or the tap is closed without a port. */
  drop?(): void
}

/**
 * Tap whose port comes later, for an agent that prepares its first words before the call is answered. Until
 * {@link moveTo}, commands and speech wait in order. Nothing is heard meanwhile.
 */
export class LateTap implements Tap {
  readonly #request: TapRequest
  #tap: Tap | undefined
  #waiting: Waiting[] = []
  #isClosed = false
  #onQueued: () => void = () => {}

  constructor(request: TapRequest) {
    this.#request = request
  }

  /** Sets the listener for speech that waits for the port. */
  onQueued(listener: () => void): void {
    this.#onQueued = listener
  }

  /** Opens the tap on its first port, or continues with another one. */
  moveTo(port: MediaPort): void {
    if (this.#isClosed) return
    if (this.#tap) {
      this.#tap.moveTo(port)
      return
    }
    const tap = port.tap(this.#request)
    this.#tap = tap
    for (const { run } of this.#waiting.splice(0)) run(tap)
  }

  onFrame(listener: (frame: TapFrame) => void): void {
    this.#do((tap) => tap.onFrame(listener))
  }

  onEvent(listener: (event: TapEvent) => void): void {
    this.#do((tap) => tap.onEvent(listener))
  }

  onClosed(listener: () => void): void {
    this.#do((tap) => tap.onClosed(listener))
  }

  speak(samples: Int16Array, item?: number): void {
    if (this.#tap) {
      this.#tap.speak(samples, item)
      return
    }
    // The samples may be a view of a larger buffer that the caller still owns.
    const copy = samples.slice()
    this.#wait({ isSpeech: true, run: (tap) => tap.speak(copy, item) })
    this.#onQueued()
  }

  finish(item: number): void {
    this.#do((tap) => tap.finish(item), true)
  }

  pause(fadeMs?: number): void {
    this.#do((tap) => tap.pause(fadeMs))
  }

  resume(fadeMs?: number): void {
    this.#do((tap) => tap.resume(fadeMs))
  }

  cut(): Promise<readonly ItemPosition[]> {
    if (this.#tap) return this.#tap.cut()
    this.clear()
    // A cut ends a pause.
    this.#do((tap) => tap.resume())
    return Promise.resolve([])
  }

  setReflex(reflex: ReflexRequest | undefined): void {
    this.#do((tap) => tap.setReflex(reflex))
  }

  allowFade(isAllowed: boolean): void {
    this.#do((tap) => tap.allowFade(isAllowed))
  }

  background(sound: BackgroundSound | undefined): void {
    this.#do((tap) => tap.background(sound))
  }

  clear(): void {
    if (this.#tap) {
      this.#tap.clear()
      return
    }
    const speech = this.#waiting.filter(({ isSpeech }) => isSpeech)
    this.#waiting = this.#waiting.filter(({ isSpeech }) => !isSpeech)
    for (const { drop } of speech) drop?.()
  }

  spoken(): Promise<void> {
    if (this.#tap) return this.#tap.spoken()
    if (!this.#waiting.some(({ isSpeech }) => isSpeech)) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wait({ isSpeech: true, run: (tap) => void tap.spoken().then(resolve), drop: resolve })
    return promise
  }

  close(): void {
    if (!this.#isClosed) this.clear()
    this.#isClosed = true
    this.#waiting = []
    this.#tap?.close()
  }

  #do(run: (tap: Tap) => void, isSpeech = false): void {
    if (this.#tap) run(this.#tap)
    else this.#wait({ isSpeech, run })
  }

  #wait(waiting: Waiting): void {
    if (!this.#isClosed) this.#waiting.push(waiting)
  }
}
