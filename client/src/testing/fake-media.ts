/** A track of a microphone, a camera, a screen or the far side. */
export class FakeTrack extends EventTarget {
  readonly kind: string
  readonly deviceId: string
  enabled = true
  stopped = false
  muted = false
  applied: MediaTrackConstraints = {}

  constructor(kind: string, deviceId = `${kind}-1`) {
    super()
    this.kind = kind
    this.deviceId = deviceId
  }

  get label(): string {
    return `The ${this.deviceId}`
  }

  get readyState(): string {
    return this.stopped ? 'ended' : 'live'
  }

  getSettings(): MediaTrackSettings {
    return { deviceId: this.deviceId }
  }

  getConstraints(): MediaTrackConstraints {
    return { ...this.applied }
  }

  async applyConstraints(constraints: MediaTrackConstraints): Promise<void> {
    this.applied = constraints
  }

  stop(): void {
    this.stopped = true
  }

  /** Simulates that the device is unplugged, or that the user ends it in the browser's own bar. */
  end(): void {
    this.stopped = true
    this.dispatchEvent(new Event('ended'))
  }

  /** Simulates that packets stop, or arrive. */
  mute(muted: boolean): void {
    this.muted = muted
    this.dispatchEvent(new Event(muted ? 'mute' : 'unmute'))
  }
}

/** A stream of fake tracks. */
export class FakeStream {
  tracks: FakeTrack[]

  constructor(tracks: FakeTrack[] = []) {
    this.tracks = tracks
  }

  addTrack(track: FakeTrack): void {
    if (!this.tracks.includes(track)) this.tracks.push(track)
  }

  removeTrack(track: FakeTrack): void {
    this.tracks = this.tracks.filter((other) => other !== track)
  }

  getTracks(): FakeTrack[] {
    return [...this.tracks]
  }

  getAudioTracks(): FakeTrack[] {
    return this.tracks.filter(({ kind }) => kind === 'audio')
  }

  getVideoTracks(): FakeTrack[] {
    return this.tracks.filter(({ kind }) => kind === 'video')
  }
}

/** A player, or any element that plays a stream. */
export class FakePlayer {
  readonly kind: string
  srcObject: unknown = null
  removed = false
  hidden = false
  sink: string | undefined

  constructor(kind: string) {
    this.kind = kind
  }

  async play(): Promise<void> {}

  async setSinkId(deviceId: string): Promise<void> {
    if (deviceId === 'unplugged') throw new DOMException('gone', 'NotFoundError')
    this.sink = deviceId
  }

  remove(): void {
    this.removed = true
  }
}
