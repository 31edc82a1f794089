/** A sound that cannot be prepared. `message` says what is wrong with it. */
export class SoundError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'SoundError'
  }
}

/** Too much is waiting to be made, most of it for this customer. It says nothing of the sound. */
export class SoundBusy extends SoundError {
  readonly code = 'sound_busy'
}

/** A text that an engine will not speak. It says nothing of the engine. */
export class TextRefused extends SoundError {}
