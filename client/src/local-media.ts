import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import type { DeviceName } from './media-types.ts'
import type { Member } from './member-types.ts'

/** A kind of media, and what of ours is sent of it. */
export type MediaKind = 'audio' | 'video'

/** Constraints, or whether there shall be any of a kind at all. */
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

/** What a track is taken from. */
export const deviceOf = (track: MediaStreamTrack): DeviceName => ({
  deviceId: track.getSettings().deviceId ?? '',
  label: track.label,
})

/** What changed of how the gateway wants our microphone to be treated; empty when nothing did. */
export const audioFlagsOf = (member: Member, updated: readonly string[]): MediaTrackConstraints => ({
  ...(updated.includes('echo_cancellation') && { echoCancellation: member.echo_cancellation }),
  ...(updated.includes('auto_gain') && { autoGainControl: member.auto_gain }),
  ...(updated.includes('noise_suppression') && { noiseSuppression: member.noise_suppression }),
})

/** The microphone and camera of one call: opens them, and closes each that it opened. */
export class LocalMedia {
  readonly #environment: Environment
  readonly #gone: (kind: MediaKind, device: DeviceName) => void
  readonly #allowed: Record<MediaKind, boolean> = { audio: true, video: true }
  #stream: MediaStream | undefined
  /** Rejects when closed. */
  readonly #over = Promise.withResolvers<never>()
  #closed = false

  /** `gone` is told when a device is unplugged or taken away. */
  constructor(environment: Environment, gone: (kind: MediaKind, device: DeviceName) => void) {
    this.#environment = environment
    this.#gone = gone
    this.#over.promise.catch(() => {})
  }

  /** All tracks. They come and go; the object stays. Undefined until the first. */
  get stream(): MediaStream | undefined {
    return this.#stream
  }

  track(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#stream && tracksOf(this.#stream, kind)[0]
  }

  /** Opens what the call starts with. Rejects with a `microphone_…` code, `insecure_page`, or `canceled` when closed meanwhile. */
  async open(wanted: Readonly<Record<MediaKind, Wanted>>): Promise<void> {
    if (this.#stream || (!wanted.audio && !wanted.video)) return
    const stream = await this.#request({ audio: wanted.audio, video: wanted.video })
    for (const track of stream.getTracks()) this.put(track)
  }

  /** Opens one device, and sends nothing of it yet: {@link put} it, or stop it. Rejects as {@link open}. */
  async request(kind: MediaKind, constraints: Wanted): Promise<MediaStreamTrack> {
    const [track] = (await this.#request({ [kind]: constraints })).getTracks()
    if (!track) throw new ClientError('microphone_missing', texts.microphone_missing)
    return track
  }

  /**
   * Opens another device of a kind, as {@link request}. Some cameras can be opened but once, and some phones open but one: the old one makes way,
   * and `restore` takes it back when the new one fails.
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

  /** Takes a track in place of the one of its kind, which is stopped. Once closed it stops the track itself. */
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
    // Not told of a track that we stop ourselves.
    track.addEventListener('ended', () => {
      if (this.track(kind) === track) this.#gone(kind, deviceOf(track))
    })
  }

  /** Stops what there is of a kind. */
  drop(kind: MediaKind): void {
    if (!this.#stream) return
    for (const track of tracksOf(this.#stream, kind)) {
      track.stop()
      this.#stream.removeTrack(track)
    }
  }

  /** Lets tracks of a kind through, later ones too, or sends silence (black) in their place. */
  allow(kind: MediaKind, on: boolean): void {
    this.#allowed[kind] = on
    const track = this.track(kind)
    if (track) track.enabled = on
  }

  /** Stops everything. Idempotent. */
  close(): void {
    this.#closed = true
    this.#over.reject(new ClientError('canceled', 'The call ended before the microphone was open.'))
    // The stream keeps its tracks: whoever shows it sees that they have ended.
    for (const track of this.#stream?.getTracks() ?? []) track.stop()
  }

  // A person may leave the browser's question open for as long as they like.
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
    if (this.#closed) for (const track of stream.getTracks()) track.stop()
    return stream
  }
}

const tracksOf = (stream: MediaStream, kind: MediaKind): MediaStreamTrack[] =>
  kind === 'audio' ? stream.getAudioTracks() : stream.getVideoTracks()
