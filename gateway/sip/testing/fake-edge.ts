import type {
  AudioCodec,
  DetectRequest,
  Edge,
  FarEnd,
  IpFamily,
  MediaPort,
  NearEnd,
  PlayRequest,
  PortEvent,
  PortOptions,
  PortStats,
  RecordRequest,
  TapRequest,
  Volumes,
} from '../../../media/types.ts'
import { FakePort } from '../../calls/testing/fake-legs.ts'

/** Media port that records its far ends. */
export class TestPort implements MediaPort {
  readonly farUpdates: { near: NearEnd; far: FarEnd }[] = []
  readonly digits: string[] = []
  readonly group: string
  readonly address = '127.0.0.1'
  readonly port: number
  readonly rtcpPort: number
  readonly ssrc = 1
  /** Packets that came from the far side. */
  received = 0
  /** Whether the far side supports telephone-event. */
  takesEvents = true
  codec: AudioCodec | undefined
  #inner: FakePort
  #onClose: () => void

  constructor(group: string, port = 20_000, onClose: () => void = () => {}) {
    this.group = group
    this.port = port
    this.rtcpPort = port + 1
    this.#inner = new FakePort(group)
    this.#onClose = onClose
  }

  get id(): string {
    return this.#inner.id
  }

  get closed(): boolean {
    return this.#inner.closed
  }

  /** Last far end of the port. */
  get far(): FarEnd | undefined {
    return this.farUpdates.at(-1)?.far
  }

  addressFor(family: IpFamily): string | undefined {
    return this.#inner.addressFor(family)
  }

  /** Binds both IP families, or one. */
  set families(families: readonly IpFamily[]) {
    this.#inner.families = families
  }

  setFar(near: NearEnd, far: FarEnd): void {
    if (this.addressFor(far.address.includes(':') ? 6 : 4) === undefined)
      throw Object.assign(new Error('not of the family'), { code: 'bad_far' })
    if (far.address === '192.0.2.255') throw Object.assign(new Error('not there'), { code: 'bad_far' })
    this.farUpdates.push({ near, far })
    this.codec = far.codec
  }

  setVolumes(volumes: Volumes): void {
    this.#inner.setVolumes(volumes)
  }

  play(request: PlayRequest) {
    return this.#inner.play(request)
  }

  record(request: RecordRequest) {
    return this.#inner.record(request)
  }

  tap(request: TapRequest) {
    return this.#inner.tap(request)
  }

  detect(request: DetectRequest) {
    return this.#inner.detect(request)
  }

  async sendDigits(digits: string): Promise<boolean> {
    if (this.takesEvents) this.digits.push(digits)
    return this.takesEvents
  }

  onEvent(listener: (event: PortEvent) => void): void {
    this.#inner.onEvent(listener)
  }

  report(event: PortEvent): void {
    this.#inner.report(event)
  }

  async stats(): Promise<PortStats> {
    return { ...(await this.#inner.stats()), received: this.received }
  }

  close(): Promise<PortStats> {
    if (!this.closed) this.#onClose()
    return this.#inner.close()
  }
}

/** Edge with a given number of test ports. */
export class TestEdge implements Pick<Edge, 'open' | 'usage'> {
  readonly ports: TestPort[] = []
  /** IP families that ports bind. */
  families: readonly IpFamily[] = [4]
  total = 100
  used = 0
  /** Whether opening fails although {@link usage} shows a free port, as if it was taken meanwhile. */
  exhausted = false

  async open(options: PortOptions): Promise<MediaPort> {
    if (this.exhausted) throw Object.assign(new Error('none free'), { code: 'no_ports' })
    this.used++
    const port = new TestPort(options.group, 20_000 + 2 * this.ports.length, () => this.used--)
    port.families = this.families
    this.ports.push(port)
    return port
  }

  usage() {
    return { used: this.used, total: this.total, quarantined: 0, reused: 0 }
  }
}
