import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import type { DeviceName } from './media-types.ts'
import type { Member } from './member-types.ts'
import { stopTracks } from './stop-tracks.ts'

/** Kind of media. */
export type MediaKind = 'audio' | 'video'

/** Constraints of a kind, or whether it is wanted at all. */
export type Wanted = boolean | MediaTrackConstraints

const refusals: Readonly<Record<string, 'microphone_refused' | 'microphone_missing'>> = {
  NotAllowedError: 'microphone_refused',
  SecurityError: 'microphone_refused',
  NotFoundError: 'microphone_missing',
  OverconstrainedError: 'microphone_missing',
}

const texts = {
  microphone_refused: 'The browser was not allowed to use the microphone or camera.',
  microphone_missing: 'No microphone or camera was found that fits.',
  microphone_failed: 'The microphone or camera could not be opened.',
} as const

const microphoneError = (error: unknown): ClientError => {
  if (error instanceof ClientError) return error
  const name = error instanceof Error ? error.name : ''
  const code = refusals[name] ?? 'microphone_failed'
  return new ClientError(code, texts[code], { cause: error })
}

/** Returns the device of a track. */
export const deviceOf = (track: MediaStreamTrack): DeviceName => ({
  deviceId: track.getSettings().deviceId ?? '',
  label: track.label,
})

/** Returns the microphone settings that the gateway changed; empty if none. */
export const audioFlagsOf = (member: Member, updated: readonly string[]): MediaTrackConstraints => ({
  ...(updated.includes('echo_cancellation') && { echoCancellation: member.echo_cancellation }),
  ...(updated.includes('auto_gain') && { autoGainControl: member.auto_gain }),
  ...(updated.includes('noise_suppression') && { noiseSuppression: member.noise_suppression }),
})

/** Microphone and camera of one call: opens devices, and closes each that it opened. */
export class LocalMedia {
  readonly #environment: Environment
  readonly #gone: (kind: MediaKind, device: DeviceName) => void
  readonly #allowed: Record<MediaKind, boolean> = { audio: true, video: true }
  #stream: MediaStream | undefined
  /** Rejects when closed. */
  readonly #over = Promise.withResolvers<never>()
  #closed = false

  /** `gone` is called when a device is unplugged or withdrawn. */
  constructor(environment: Environment, gone: (kind: MediaKind, device: DeviceName) => void) {
    this.#environment = environment
    this.#gone = gone
    this.#over.promise.catch(() => {})
  }

  /** All tracks. The object stays the same while tracks change; undefined until the first. */
  get stream(): MediaStream | undefined {
    return this.#stream
  }

  track(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#stream && tracksOf(this.#stream, kind)[0]
  }

  /**
   * Opens the devices with which the call starts.
   * Rejects with a `microphone_…` code, `insecure_page`, or `canceled` if closed meanwhile.
   */
  async open(wanted: Readonly<Record<MediaKind, Wanted>>): Promise<void> {
    if (this.#stream || (!wanted.audio && !wanted.video)) return
    const stream = await this.#request({ audio: wanted.audio, video: wanted.video })
    for (const track of stream.getTracks()) this.put(track)
  }

  /**
   * Opens a device without sending it: pass the track to {@link put}, or stop it. Rejects like {@link open}.
   */
  async request(kind: MediaKind, constraints: Wanted): Promise<MediaStreamTrack> {
    const [track] = (await this.#request({ [kind]: constraints })).getTracks()
    if (!track) throw new ClientError('microphone_missing', texts.microphone_missing)
    return track
  }

  /**
   * Opens another device of a kind, like {@link request}.
   * Some cameras can be opened only once, and some phones open only one camera: the old one is closed first.
   * `restore` opens it again if the new one fails.
   */
  async another(
    kind: MediaKind,
    constraints: Wanted,
    restore: (track: MediaStreamTrack) => Promise<void>,
  ): Promise<MediaStreamTrack> {
    try {
      return await this.request(kind, constraints)
    } catch (error) {
      const old = this.track(kind)
      if (!old || !(error instanceof ClientError) || error.code !== 'microphone_failed') throw error
      const before = old.getConstraints()
      old.stop()
      try {
        return await this.request(kind, constraints)
      } catch (failure) {
        const again = await this.request(kind, before).catch(() => undefined)
        if (again) await restore(again)
        throw failure
      }
    }
  }

  /**
   * Replaces the track of the same kind and stops the old one. After {@link close} it stops the given track.
   */
  put(track: MediaStreamTrack): void {
    if (this.#closed) {
      track.stop()
      return
    }
    const kind = track.kind === 'video' ? 'video' : 'audio'
    this.drop(kind)
    this.#stream ??= this.#environment.createStream()
    this.#stream.addTrack(track)
    track.enabled = this.#allowed[kind]
    // The event does not fire for tracks that this page stops itself.
    track.addEventListener('ended', () => {
      if (this.track(kind) === track) this.#gone(kind, deviceOf(track))
    })
  }

  /** Stops the tracks of a kind. */
  drop(kind: MediaKind): void {
    if (!this.#stream) return
    for (const track of tracksOf(this.#stream, kind)) {
      track.stop()
      this.#stream.removeTrack(track)
    }
  }

  /** Sends the present and later tracks of a kind if `on`, otherwise silence or black frames. */
  allow(kind: MediaKind, on: boolean): void {
    this.#allowed[kind] = on
    const track = this.track(kind)
    if (track) track.enabled = on
  }

  /** Stops everything. Idempotent. */
  close(): void {
    this.#closed = true
    this.#over.reject(new ClientError('canceled', 'The call ended before the microphone was open.'))
    // The stream keeps its tracks, so that a page that shows it sees that they have ended.
    stopTracks(this.#stream)
  }

  // The browser's permission prompt may stay open for any time.
  #request(constraints: MediaStreamConstraints): Promise<MediaStream> {
    return this.#closed ? this.#over.promise : Promise.race([this.#over.promise, this.#ask(constraints)])
  }

  async #ask(constraints: MediaStreamConstraints): Promise<MediaStream> {
    let stream: MediaStream
    try {
      stream = await this.#environment.getUserMedia(constraints)
    } catch (error) {
      throw microphoneError(error)
    }
    if (this.#closed) stopTracks(stream)
    return stream
  }
}

const tracksOf = (stream: MediaStream, kind: MediaKind): MediaStreamTrack[] =>
  kind === 'audio' ? stream.getAudioTracks() : stream.getVideoTracks()
