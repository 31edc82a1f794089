/** Stand-ins for the tests of the calls: a media port, a far side, and the makers of outbound legs. */
import type {
  AudioCodec,
  BrowserVideo,
  DetectRequest,
  IpFamily,
  MediaPort,
  Playback,
  PlayRequest,
  PortEvent,
  PortStats,
  RecordRequest,
  TapRequest,
  Volumes,
  WebRtc,
} from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Party, Target } from '../../model.ts'
import { newLegId } from '../call/ids.ts'
import { Leg, type LegSignalling } from '../leg/leg.ts'
import type { PlayState } from '../leg/leg-signalling.ts'
import type { OutboundRequest } from '../leg/outbound-request.ts'
import { FakeDetection, FakeRecording, FakeTap } from './fake-listeners.ts'

const noStats: PortStats = {
  received: 0,
  sent: 0,
  octetsReceived: 0,
  octetsSent: 0,
  lost: 0,
  jitterMs: 0,
  refused: { source: 0, malformed: 0, 'payload-type': 0, ssrc: 0, srtp: 0, rate: 0 },
}

/** A media port that plays nothing; the test ends its playbacks. */
export class FakePort implements MediaPort {
  readonly id = newLegId()
  readonly group: string
  readonly address = '127.0.0.1'
  readonly port = 20_000
  readonly rtcpPort = 20_001
  readonly ssrc = 1
  readonly codec: AudioCodec = 'PCMU'
  /** IP families that are bound. */
  families: readonly IpFamily[] = [4]
  closed = false
  playing:
    | {
        request: PlayRequest
        finish: (how: 'finished' | 'stopped') => void
        paused: boolean
        volumeDb: number
      }
    | undefined
  volumes: Volumes = { inDb: 0, outDb: 0 }
  readonly recordings: FakeRecording[] = []
  readonly taps: FakeTap[] = []
  readonly detections: FakeDetection[] = []
  #listener: (event: PortEvent) => void = () => {}

  constructor(group: string) {
    this.group = group
  }

  addressFor(family: IpFamily): string | undefined {
    if (!this.families.includes(family)) return undefined
    return family === 4 ? this.address : '::1'
  }

  setFar(): void {}

  setVolumes(volumes: Volumes): void {
    this.volumes = volumes
  }

  play(request: PlayRequest): Playback {
    this.playing?.finish('stopped')
    const { promise, resolve } = Promise.withResolvers<'finished' | 'stopped'>()
    const finish = (how: 'finished' | 'stopped') => {
      if (this.playing === mine) this.playing = undefined
      resolve(how)
    }
    const mine = { request, finish, paused: false, volumeDb: request.volumeDb ?? 0 }
    this.playing = mine
    return {
      done: promise,
      stop: () => finish('stopped'),
      pause: () => {
        mine.paused = true
      },
      resume: () => {
        mine.paused = false
      },
      setVolume: (db) => {
        mine.volumeDb = db
      },
    }
  }

  record(request: RecordRequest): FakeRecording {
    const recording = new FakeRecording(request, this)
    this.recordings.push(recording)
    if (this.closed) recording.stop()
    return recording
  }

  tap(request: TapRequest): FakeTap {
    const tap = new FakeTap(request, this)
    this.taps.push(tap)
    if (this.closed) tap.end()
    return tap
  }

  detect(request: DetectRequest): FakeDetection {
    const detection = new FakeDetection(request)
    this.detections.push(detection)
    return detection
  }

  async sendDigits(): Promise<boolean> {
    return true
  }

  onEvent(listener: (event: PortEvent) => void): void {
    this.#listener = listener
  }

  /** Lets the port report something. */
  report(event: PortEvent): void {
    this.#listener(event)
  }

  async stats(): Promise<PortStats> {
    return noStats
  }

  async close(): Promise<PortStats> {
    this.closed = true
    this.playing?.finish('stopped')
    for (const recording of this.recordings) if (recording.port === this) recording.stop()
    for (const tap of this.taps) if (tap.port === this) tap.end()
    for (const detection of this.detections) detection.end()
    return noStats
  }
}

/** Far side that records what it receives. */
export class FakeFarSide implements LegSignalling {
  readonly requests: string[] = []
  /** Partners that were reported to it. */
  readonly partners: string[] = []
  readonly sounds: PlayState[] = []
  /** Other participants of its conference, as the far side sees them. */
  conference: readonly Leg[] = []
  readonly leg: Leg

  constructor(leg: Leg) {
    this.leg = leg
  }

  ring(): void {
    this.requests.push('ring')
  }

  async progress(): Promise<void> {
    this.requests.push('progress')
  }

  async answer(codecs: readonly AudioCodec[] = []): Promise<void> {
    this.requests.push(['answer', ...codecs].join(' '))
    this.leg.answered()
  }

  end(cause: Cause): void {
    this.requests.push(`end ${cause.code}`)
  }

  calling({ to }: Leg): void {
    this.partners.push(`calls ${to.uri}`)
  }

  paired(partner: Leg | undefined): void {
    this.partners.push(
      partner ? `with ${partner.direction === 'inbound' ? partner.from.uri : partner.to.uri}` : 'alone',
    )
  }

  gathered(others: readonly Leg[]): void {
    this.conference = others
  }

  plays(_id: string, state: PlayState): void {
    this.sounds.push(state)
  }

  async sendDigits(digits: string): Promise<void> {
    this.requests.push(`digits ${digits}`)
  }
}

/** Video of a browser, which the test switches on and off. */
export class FakeVideo implements BrowserVideo {
  isSending = false
  isReceiving = false
  readonly #listeners = new Set<() => void>()

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Lets the browser show, and be shown, something from now on, or nothing. */
  change(both: boolean): void {
    this.isSending = both
    this.isReceiving = both
    for (const listener of this.#listeners) listener()
  }
}

/** Joins no video; those that are joined now can be looked at. */
export class FakeVideos implements Pick<WebRtc, 'joinVideo'> {
  readonly joined = new Set<readonly [BrowserVideo, BrowserVideo]>()

  joinVideo(a: BrowserVideo, b: BrowserVideo): { close(): void } {
    const pair = [a, b] as const
    this.joined.add(pair)
    return { close: () => void this.joined.delete(pair) }
  }
}

/** A leg with a fake far side and a fake port. */
export interface FakeLeg {
  readonly leg: Leg
  readonly far: FakeFarSide
  readonly port: FakePort
}

const party = (uri: string): Party => ({ uri, user: uri, name: '' })

/** Makes one. */
export const fakeLeg = (
  clock: Clock,
  callId: string,
  options: { kind?: 'sip' | 'browser'; direction?: 'inbound' | 'outbound'; to?: string } = {},
): FakeLeg => {
  const leg = new Leg({
    id: newLegId(),
    kind: options.kind ?? 'sip',
    direction: options.direction ?? 'inbound',
    from: party('sip:caller@carrier.example'),
    to: party(options.to ?? 'sip:callee@demo.example'),
    now: () => clock.now(),
  })
  const far = new FakeFarSide(leg)
  leg.attach(far)
  const port = new FakePort(callId)
  leg.setPort(port)
  return { leg, far, port }
}

/** Makes outbound legs that the test answers or ends. */
export class FakeOutbound {
  readonly dialled: (FakeLeg & { readonly target: Target; readonly request: OutboundRequest })[] = []
  #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  dial(target: Target, request: OutboundRequest): Leg {
    const made = fakeLeg(this.#clock, request.callId, { direction: 'outbound', to: request.destination.to })
    this.dialled.push({ ...made, target, request })
    return made.leg
  }
}
