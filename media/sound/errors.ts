/** A sound that cannot be prepared. `message` says what is wrong with it. */
export class SoundError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'SoundError'
  }
}
