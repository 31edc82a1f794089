/** Failure to prepare a sound; `message` describes the reason. */
export class SoundError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'SoundError'
  }
}

/** Rejection because too many jobs wait, most of them of this customer. Independent of the sound. */
export class SoundBusy extends SoundError {
  readonly code = 'sound_busy'
}

/** Rejection of a text by an engine. Not a failure of the engine. */
export class TextRejected extends SoundError {}
