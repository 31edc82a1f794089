import { isIP } from 'node:net'
import { guard } from '../guard.ts'
import { masterBytes } from '../rtp/srtp-suites.ts'
import { isDigits } from '../rtp/telephone-event-sender.ts'
import type {
  AudioCodec,
  Detection,
  DetectRequest,
  FarEnd,
  IpFamily,
  MediaPort,
  NearEnd,
  Playback,
  PlayRequest,
  PortEvent,
  PortStats,
  Recording,
  RecordRequest,
  SrtpKeys,
  Tap,
  TapRequest,
  Volumes,
} from '../types.ts'
import { type Detections, noDetection } from './detections.ts'
import type { EdgeMixer } from './edge-mixer.ts'
import { EdgeError } from './errors.ts'
import { Playbacks } from './playbacks.ts'
import type { Command, Report } from './protocol.ts'
import { noRecording, type Recordings } from './recordings.ts'
import { noTap, type Taps } from './taps.ts'

/** Statistics of a port without any packet. */
const emptyStats: PortStats = {
  received: 0,
  sent: 0,
  octetsReceived: 0,
  octetsSent: 0,
  lost: 0,
  jitterMs: 0,
  refused: { source: 0, malformed: 0, 'payload-type': 0, ssrc: 0, srtp: 0, rate: 0 },
}

/** Options and collaborators of an {@link EdgePort}. */
export interface EdgePortOptions {
  readonly number: number
  readonly group: string
  /** Addresses for the SDP, one per bound IP family, at least one. */
  readonly addresses: readonly string[]
  readonly port: number
  readonly rtcpPort: number
  readonly ssrc: number
  /** Returns whether packets to that far end would reach a port of the same call. */
  readonly isOwn: (far: FarEnd) => boolean
  /** Sends a command to the port's thread. */
  readonly command: (command: Command) => void
  /** Recordings of the port's thread. */
  readonly recordings: Recordings
  /** Taps of the port's thread. */
  readonly taps: Taps
  /** Detections of the port's thread. */
  readonly detections: Detections
  /** Called once, when the sockets are closed. */
  readonly onClosed: (port: EdgePort) => void
}

/** Main-thread handle of a port: turns method calls into commands, and the thread's reports into events. */
export class EdgePort implements MediaPort {
  readonly id: string
  readonly number: number
  readonly group: string
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  readonly ssrc: number
  /** Mixer that the port is in; set by the mixer. */
  mixer: EdgeMixer | undefined
  #options: EdgePortOptions
  #playbacks: Playbacks
  #codec: AudioCodec | undefined
  #listener: ((event: PortEvent) => void) | undefined
  #requests = 0
  #digits = new Map<number, (sent: boolean) => void>()
  #stats = new Map<number, (stats: PortStats) => void>()
  #last = emptyStats
  #closing: Promise<PortStats> | undefined
  #isGone = false

  constructor(options: EdgePortOptions) {
    this.#options = options
    this.#playbacks = new Playbacks(options.number, options.command)
    this.number = options.number
    this.id = `port-${options.number}`
    this.group = options.group
    this.address = options.addresses[0]!
    this.port = options.port
    this.rtcpPort = options.rtcpPort
    this.ssrc = options.ssrc
  }

  get codec(): AudioCodec | undefined {
    return this.#codec
  }

  /** Whether the port accepts no more commands. */
  get isClosed(): boolean {
    return this.#closing !== undefined || this.#isGone
  }

  addressFor(family: IpFamily): string | undefined {
    return this.#options.addresses.find((address) => isIP(address) === family)
  }

  setFar(near: NearEnd, far: FarEnd): void {
    const { addresses, isOwn } = this.#options
    checkFar(far, addresses)
    if (isOwn(far)) throw new EdgeError('bad_far', 'address: the far end is a port of the same call')
    if (this.isClosed) return
    this.#codec = far.codec
    this.#options.command({ op: 'setFar', port: this.number, near, far })
  }

  setVolumes(volumes: Volumes): void {
    if (!this.isClosed) this.#options.command({ op: 'setVolumes', port: this.number, volumes })
  }

  play(request: PlayRequest): Playback {
    return this.#playbacks.play(request)
  }

  record(request: RecordRequest): Recording {
    return this.isClosed ? noRecording() : this.#options.recordings.start(this.number, request)
  }

  tap(request: TapRequest): Tap {
    return this.isClosed ? noTap() : this.#options.taps.open(this.number, request)
  }

  detect(request: DetectRequest): Detection {
    return this.isClosed ? noDetection() : this.#options.detections.start(this.number, request)
  }

  async sendDigits(digits: string): Promise<boolean> {
    if (!isDigits(digits)) throw new EdgeError('bad_digits', `not digits to send: ${JSON.stringify(digits)}`)
    if (this.isClosed) return false
    return this.#request(this.#digits, (request) => ({ op: 'digits', port: this.number, request, digits }))
  }

  onEvent(listener: (event: PortEvent) => void): void {
    this.#listener = guard(listener)
  }

  async stats(): Promise<PortStats> {
    if (this.isClosed) return this.#closing ?? this.#last
    return this.#request(this.#stats, (request) => ({ op: 'stats', port: this.number, request }))
  }

  close(): Promise<PortStats> {
    if (this.#closing) return this.#closing
    if (this.#isGone) return Promise.resolve(this.#last)
    this.#closing = this.#request(this.#stats, (request) => ({
      op: 'close',
      port: this.number,
      request,
    })).then((stats) => {
      this.#leave(stats)
      return stats
    })
    this.#playbacks.close()
    return this.#closing
  }

  /** Settles everything pending after the death of the thread. */
  die(): void {
    for (const settle of this.#stats.values()) settle(this.#last)
    this.#stats.clear()
    this.#leave(this.#last)
  }

  /** Processes a report about this port. */
  report(report: Report): void {
    switch (report.op) {
      case 'event':
        if (!this.isClosed) this.#listener?.(report.event)
        break
      case 'played':
        this.#playbacks.played(report.play)
        break
      case 'digits':
        this.#digits.get(report.request)?.(report.sent)
        this.#digits.delete(report.request)
        break
      case 'stats':
        this.#last = report.stats
        this.#stats.get(report.request)?.(report.stats)
        this.#stats.delete(report.request)
        break
    }
  }

  #request<T>(waiting: Map<number, (value: T) => void>, command: (request: number) => Command): Promise<T> {
    const request = ++this.#requests
    const { promise, resolve } = Promise.withResolvers<T>()
    waiting.set(request, resolve)
    this.#options.command(command(request))
    return promise
  }

  #leave(stats: PortStats): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#last = stats
    this.#listener = undefined
    this.#playbacks.close()
    for (const settle of this.#digits.values()) settle(false)
    this.#digits.clear()
    this.#options.onClosed(this)
  }
}

function checkFar(far: FarEnd, addresses: readonly string[]): void {
  const family = isIP(far.address)
  const families = addresses.map((address) => isIP(address))
  if (!families.includes(family)) {
    const expected = families.map((each) => `IPv${each}`).join(' or ')
    throw new EdgeError(
      'bad_far',
      `address: expected an ${expected} address, got ${JSON.stringify(far.address)}`,
    )
  }
  checkNumber('port', far.port, 1, 65535)
  // A packet to an invalid port would throw in the media thread and end all of its calls.
  if (far.rtcpPort === undefined && !far.rtcpMux)
    checkNumber('port (RTCP goes to the next one)', far.port, 1, 65534)
  if (far.rtcpPort !== undefined) checkNumber('rtcpPort', far.rtcpPort, 1, 65535)
  checkNumber('payloadType', far.payloadType, 0, 127)
  if (far.telephoneEvent !== undefined) checkNumber('telephoneEvent', far.telephoneEvent, 0, 127)
  if (far.comfortNoise !== undefined) checkNumber('comfortNoise', far.comfortNoise, 0, 127)
  if (far.rtcpAddress !== undefined && isIP(far.rtcpAddress) !== family)
    throw new EdgeError('bad_far', `rtcpAddress: expected an IPv${family} address`)
  if (far.srtp) checkKeys(far.srtp)
}

function checkKeys({ suite, sendKey, receiveKey }: SrtpKeys): void {
  const bytes = masterBytes(suite)
  for (const key of [sendKey, receiveKey])
    checkNumber('bytes of an SRTP key with its salt', key.length, bytes, bytes)
}

function checkNumber(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new EdgeError('bad_far', `${name}: expected ${least} to ${most}, got ${value}`)
}
